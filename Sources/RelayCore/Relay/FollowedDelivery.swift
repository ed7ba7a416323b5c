/// What a tool takes from a positioned subscription.
package enum FollowedDelivery: Sendable {
    case event(Envelope)
    case gap(Gap)
    /// Everything up to where the stream stood at the first answer of the service has been given: a history ends here.
    case caughtUp
}
