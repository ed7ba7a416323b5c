/// What a follower tells its owner. All calls come on the loop's thread, in the stream's order; none may block.
package protocol FollowerSink: AnyObject, Sendable {
    /// The fields that the service's events have. Before the first event of each run of the service.
    func schemas(_ schemas: [EventSchema], of interface: String)
    /// An event in its place. The body is valid during the call.
    func event(
        _ name: String, of interface: String, signature: String, body: UnsafeRawBufferPointer, stamp: Stamp)
    /// Missing events in their place; of `name` only, where one is given.
    func gap(_ gap: Gap, in interface: String, of name: String?)
    func state(_ state: EventRelay.State)
}
