/// Where the committed events of one interface leave.
package protocol CommittedEventSink: AnyObject, Sendable {
    /// Sends events, each in its place, in the order of their sequences. By the committing thread alone.
    func emit(_ events: [(event: LoggedEvent, stamp: Stamp)])
    /// The log never has these sequences, of whatever names: they follow the last that was emitted. By the committing
    /// thread, in its place among the events.
    func skipped(_ gap: ClosedRange<UInt64>)
    /// Tells that of these names everything up to these sequences was removed.
    func pruned(_ last: [String: UInt64])
}
extension CommittedEventSink {
    /// For one that does not announce where it stands.
    package func skipped(_ gap: ClosedRange<UInt64>) {}
}
