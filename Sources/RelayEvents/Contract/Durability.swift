/// How long an interface's events live: ``Durable`` or ``Volatile``. There is no other choice.
public class InterfaceDurability: @unchecked Sendable {  // Its two subclasses do not change.
    fileprivate init() {}
}

/// Events are kept in the journal. They survive restarts, and relays read missed events from the journal.
public final class Durable: InterfaceDurability, @unchecked Sendable {
    /// How long, how many and how many bytes of events the journal keeps.
    package let retention: Retention
    /// Durable, with ``Retention/standard`` unless given otherwise.
    ///
    /// - Parameter retention: what the journal keeps.
    public init(retention: Retention = .standard) { self.retention = retention }
}

/// Events are kept nowhere. A missed range is reported as a gap.
public final class Volatile: InterfaceDurability, @unchecked Sendable {
    /// Volatile. Publishing is synchronous, and needs no journal.
    public override init() {}
}

/// How much of an interface a journal keeps. The bound that is reached first applies.
public struct Retention: Sendable {
    /// The age at which an event is removed; nil for no bound. It is removed at most 1/128 of the age late.
    package var age: Duration?
    /// How many events are kept at most; nil for no bound.
    package var count: Int?
    /// How many bytes of events are kept at most; nil for no bound.
    package var bytes: Int?
    /// A retention with the bounds given.
    ///
    /// - Parameter age: the age at which an event is removed.
    /// - Parameter count: how many events are kept.
    /// - Parameter bytes: how many bytes of events are kept.
    public init(age: Duration? = nil, count: Int? = nil, bytes: Int? = nil) {
        (self.age, self.count, self.bytes) = (age, count, bytes)
    }
    /// 30 days, and at most 1 GiB.
    public static let standard = Self(age: .seconds(30 * 86_400), bytes: 1 << 30)
}
