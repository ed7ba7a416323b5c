/// What the signals `Head` and `End` announce: how far an interface's run has come, in all and for each name.
package struct StreamHead: Hashable, Sendable {
    package var epoch: UInt64
    package var sequence: UInt64
    /// The last sequence of each name; names that never had an event are absent.
    package var last: [String: UInt64]

    package init(epoch: UInt64, sequence: UInt64, last: [String: UInt64]) {
        (self.epoch, self.sequence, self.last) = (epoch, sequence, last)
    }
}
