/// What a follower tells, as a value: for tools that know no Swift types.
package enum FollowerOutput: Sendable {
    case event(Envelope)
    case gap(interface: String, Gap)
    case state(EventRelay.State)
}
