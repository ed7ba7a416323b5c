import Synchronization

/// Receives what a follower delivers. All calls come on the loop's thread, in the stream's order; none may block.
package protocol SessionSink: AnyObject, Sendable {
    /// The fields that the service's events have. Before the first event of each run of the service.
    func schemas(_ schemas: StreamSchemas, of interface: String)
    /// A number of the sink's own for an event, with which `event` is then called. Asked for once for each owner;
    /// always the same.
    func token(for name: String, of interface: String) -> Int
    /// An event in its place: valid during the call.
    func event(_ token: Int, _ raw: RawEvent)
    /// Missing events in their place; of `name` only, where one is given.
    func gap(_ gap: Gap, in interface: String, of name: String?)
    /// What the present owner lacks: an interface, or its event `name`. Comes when it is found (`isNew`), and now and
    /// then afterwards, for subscribers that came meanwhile.
    func lasting(_ gap: Gap, in interface: String, of name: String?, isNew: Bool)
    /// The owner, or the bus, is gone. Of its interfaces nothing is known any more. Comes before the state that follows
    /// from it, and also where the state stays as it is.
    func ownerGone()
    func state(_ state: EventRelay.State)
    /// What keeps the relay from the bus, or from a direct way. Once for each outage.
    func connectionFailed(_ error: RelayError)
    /// How many events of an interface it could not decode, for metrics. From any thread.
    func unreadable(of interface: String) -> Int
    /// How many events its subscriptions had no room for, for metrics. From any thread.
    var overflowed: Int { get }
}

extension SessionSink {
    package func connectionFailed(_ error: RelayError) {}
    package func unreadable(of interface: String) -> Int { 0 }
    package var overflowed: Int { 0 }
}
