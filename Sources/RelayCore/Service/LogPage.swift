/// A part of what a log keeps, as of one moment: of one run.
package struct LogPage: Sendable {
    package struct Event: Sendable {
        package let name: String
        package let schema: UInt32
        package let sequence: UInt64
        /// A signal's whole body.
        package let body: [UInt8]

        package init(name: String, schema: UInt32, sequence: UInt64, body: [UInt8]) {
            (self.name, self.schema, self.sequence, self.body) = (name, schema, sequence, body)
        }
    }
    /// The run of the events; without events, the run of `through`.
    package let epoch: UInt64
    /// By rising sequence.
    package let events: [Event]
    /// 1 + the highest sequence that was removed among the names asked for.
    package let oldest: UInt64
    /// Everything asked for from `after` up to here is in this page, or was removed.
    package let through: UInt64
    /// The last sequence that was committed.
    package let head: UInt64

    package init(epoch: UInt64, events: [Event], oldest: UInt64, through: UInt64, head: UInt64) {
        (self.epoch, self.events, self.oldest) = (epoch, events, oldest)
        (self.through, self.head) = (through, head)
    }
}
