/// Events are kept in the journal: they survive everything, and replay fills gaps.
public struct Durable: InterfaceDurability {
    public var retention: Retention
    public init(retention: Retention = .standard) { self.retention = retention }
}
