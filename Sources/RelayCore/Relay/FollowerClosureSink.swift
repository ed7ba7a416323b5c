/// Turns a follower's calls into values.
package final class FollowerClosureSink: FollowerSink {
    private let deliver: @Sendable (FollowerOutput) -> Void
    package init(_ deliver: @escaping @Sendable (FollowerOutput) -> Void) { self.deliver = deliver }

    package func schemas(_ schemas: [EventSchema], of interface: String) {}
    package func event(
        _ name: String, of interface: String, signature: String, body: UnsafeRawBufferPointer, stamp: Stamp
    ) {
        let envelope = Envelope(
            interface: interface, name: name, signature: signature, body: Array(body), stamp: stamp)
        deliver(.event(envelope))
    }
    package func gap(_ gap: Gap, in interface: String, of name: String?) { deliver(.gap(interface: interface, gap)) }
    package func state(_ state: EventRelay.State) { deliver(.state(state)) }
}
