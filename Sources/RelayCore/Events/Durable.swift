/// Events are kept in the journal: they survive everything, and replay fills gaps.
public struct Durable: InterfaceDurability {
    /// How long the journal keeps them.
    public var retention: Retention
    public init(retention: Retention = .standard) { self.retention = retention }
}
