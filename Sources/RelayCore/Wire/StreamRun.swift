/// One run of a service, in the history of one of its durable interfaces.
package struct StreamRun: Hashable, Sendable {
    /// How many runs one side of `Attach` reports, the newest last.
    package static let most = 16

    package let epoch: UInt64
    /// The sequence of its first event, whether there has been one or not.
    package let first: UInt64
    package init(epoch: UInt64, first: UInt64) { (self.epoch, self.first) = (epoch, first) }
}
