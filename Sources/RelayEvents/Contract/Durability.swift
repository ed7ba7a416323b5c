/// How long an interface's events live.
public protocol InterfaceDurability: Sendable {}

/// Events are kept in the journal: they survive everything, and replay fills gaps.
public struct Durable: InterfaceDurability {
    /// How long the journal keeps them.
    public var retention: Retention
    public init(retention: Retention = .standard) { self.retention = retention }
}

/// Events live as long as the process: a gap is reported with its range.
public struct Volatile: InterfaceDurability {
    public init() {}
}

/// What the journal keeps of an interface, whichever bound is met first.
public struct Retention: Sendable {
    /// How long an event is kept; nil: no bound.
    public var age: Duration?
    /// How many events are kept; nil: no bound.
    public var count: Int?
    /// How many bytes of events are kept; nil: no bound.
    public var bytes: Int?
    /// Without bounds where none is given.
    public init(age: Duration? = nil, count: Int? = nil, bytes: Int? = nil) {
        (self.age, self.count, self.bytes) = (age, count, bytes)
    }
    /// 30 days or 1 GiB.
    public static let standard = Self(age: .seconds(30 * 86_400), bytes: 1 << 30)
}
