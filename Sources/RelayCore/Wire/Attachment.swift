/// What `Attach` answers: where the interface's run stands. The bus brings it after every event up to `head`.
package struct Attachment: Hashable, Sendable {
    package var epoch: UInt64
    /// The sequence from which the relay goes on: what it has, as far as this run knows it.
    package var from: UInt64
    /// The oldest sequence that can still be read of the names asked for. `UInt64.max`: nothing can, ever.
    package var oldest: UInt64
    /// The last sequence that was published.
    package var head: UInt64
    /// The last sequence of each name.
    package var last: [String: UInt64]

    package init(epoch: UInt64, from: UInt64, oldest: UInt64, head: UInt64, last: [String: UInt64]) {
        (self.epoch, self.from, self.oldest, self.head, self.last) = (epoch, from, oldest, head, last)
    }
}
