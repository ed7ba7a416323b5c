/// What `Attach` asks: the place that a subscriber knows, and the events that it wants.
package struct AttachRequest: Hashable, Sendable {
    /// 0: no run is known.
    package var epoch: UInt64
    package var after: UInt64
    /// `Stream1.allNames` stands for all; none: nothing more is wanted.
    package var names: [String]
    package var options: AttachOptions

    package init(epoch: UInt64 = 0, after: UInt64 = 0, names: [String], options: AttachOptions = AttachOptions()) {
        (self.epoch, self.after, self.names, self.options) = (epoch, after, names, options)
    }
}
