/// What a follower tells its owner. All calls come on the loop's thread, in the stream's order; none may block.
package protocol FollowerSink: AnyObject, Sendable {
    /// The fields that the service's events have. Before the first event of each run of the service.
    func schemas(_ schemas: LaneSchemas, of interface: String)
    /// A number of the sink's own for an event: what `event` is then called with. Asked for once for each owner; always the same.
    func token(for name: String, of interface: String) -> Int
    /// An event in its place: valid during the call.
    func event(_ token: Int, _ raw: RawEvent, stamp: Stamp)
    /// Missing events in their place; of `name` only, where one is given.
    func gap(_ gap: Gap, in interface: String, of name: String?)
    /// What the present owner lacks: an interface, or its event `name`. Told when it is found (`isNew`), and now and then
    /// afterwards for those who subscribed meanwhile.
    func lasting(_ gap: Gap, in interface: String, of name: String?, isNew: Bool)
    func state(_ state: EventRelay.State)
}
