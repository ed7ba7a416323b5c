/// Where an interface stands in the log when a run of it begins.
package struct LoggedRun: Sendable {
    package typealias Run = StreamRun
    /// The last sequence that was committed.
    package let head: UInt64
    /// The last sequence of each name.
    package let last: [String: UInt64]
    /// The highest sequence of each name that was removed.
    package let pruned: [String: UInt64]
    /// All runs that the log knows, from the oldest to the one that begins.
    package let runs: [Run]
    /// Every schema that a row may have, by its number. Of several with one event name the highest is the present one.
    package let schemas: [UInt32: EventSchema]

    package init(
        head: UInt64, last: [String: UInt64], pruned: [String: UInt64], runs: [Run], schemas: [UInt32: EventSchema]
    ) {
        (self.head, self.last, self.pruned, self.runs, self.schemas) = (head, last, pruned, runs, schemas)
    }
}
