/// What `Attach` answers: where the interface's run stands. The bus brings it after every event up to `head`.
package struct Attachment: Hashable, Sendable {
    package var epoch: UInt64
    /// Up to here the subscriber's history and the service's are the same, for certain.
    package var from: UInt64
    /// The oldest sequence that can still be read of the names asked for. `UInt64.max`: nothing can, ever.
    package var oldest: UInt64
    /// The last sequence that was published.
    package var head: UInt64
    /// The last sequence of each name.
    package var last: [String: UInt64]
    package var details: AttachOptions

    package init(
        epoch: UInt64, from: UInt64, oldest: UInt64, head: UInt64, last: [String: UInt64],
        details: AttachOptions = AttachOptions()
    ) {
        (self.epoch, self.from, self.oldest, self.head, self.last) = (epoch, from, oldest, head, last)
        self.details = details
    }
    /// The last sequence before this run. A service that does not report its runs leaves it open: then nothing is left out.
    var base: UInt64 {
        guard let run = details.runs.last, run.epoch == epoch, run.first > 0 else { return min(from, head) }
        return min(run.first - 1, head)
    }
}
