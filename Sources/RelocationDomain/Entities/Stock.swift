/// Boxes and items as of one moment, all or a part of them.
public struct Stock: Hashable, Sendable {
    /// The last event before that moment.
    public let epoch, sequence: UInt64
    /// By rising id.
    public let boxes: [Box]
    /// By rising id.
    public let items: [Item]
    public init(epoch: UInt64, sequence: UInt64, boxes: [Box], items: [Item]) {
        (self.epoch, self.sequence, self.boxes, self.items) = (epoch, sequence, boxes, items)
    }
}
