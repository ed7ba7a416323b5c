/// Where the committed events of one interface leave.
package protocol CommittedEventSink: AnyObject, Sendable {
    /// Sends events, each in its place, in the order of their sequences. By the committing thread alone.
    func emit(_ events: [(event: LoggedEvent, stamp: Stamp)])
    /// Tells that of these names everything up to these sequences was removed.
    func pruned(_ last: [String: UInt64])
}
