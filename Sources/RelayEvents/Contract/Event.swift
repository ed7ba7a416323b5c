/// A value that is published within a process.
///
/// `Sendable` is the only requirement. Enums with payloads are allowed. To cross processes, an event must be a
/// ``DomainEvent``.
///
/// ```swift
/// enum WindowEvent: Event { case opened(title: String), closed(title: String) }
/// ```
public protocol Event: Sendable {}

/// What a relay brings from a service: a type of ``DomainEvent``, or an ``EnumInterface`` with all its events.
///
/// Conform to one of those two; a type that only says `Subscribable` is refused by the relay.
public protocol Subscribable: Sendable {}

/// What has a place in an interface's stream: a ``DomainEvent``, or the state of a ``DomainDocument``.
///
/// Conform to one of those two.
public protocol StreamEntry<Interface>: Event, Codable {
    /// The interface whose order, durability and permissions this type shares.
    associatedtype Interface: EventInterface
    /// The member's name on the bus. Defaults to the type's name.
    static var name: String { get }
    /// What it means, and what the fields mean, for people who use tools. Defaults to nothing.
    static var about: About { get }
}

/// A fact that other processes learn about, carried as a D-Bus signal of its interface.
///
/// Name it in the past tense. Its stored properties are the signal's arguments, in order.
///
/// ```swift
/// struct JobPrinted: DomainEvent {
///     typealias Interface = Printing1
///     let jobID: Int64, title: String, pages: Int32
/// }
/// ```
public protocol DomainEvent<Interface>: StreamEntry, Subscribable {}

extension StreamEntry {
    public static var about: About { .nothing }
    public static var name: String { String(describing: Self.self) }
    /// Whether a ring holds the value's own bytes; else it holds the wire encoding.
    package static var isFixedLayout: Bool { Self.self is any FixedLayoutEvent.Type }
}

/// An event for telemetry rates: the ring of a volatile interface holds its bytes in memory order, without encoding.
///
/// As a signal and in a journal, it is an ordinary event. Its fields are numbers, structs of numbers, and
/// ``FixedArray``s. `BitwiseCopyable` alone is not enough: registration also refuses padding, pointers, `Bool` and enum
/// fields, and values of more than 64 KiB.
///
/// ```swift
/// struct LoadSampled: FixedLayoutEvent {
///     typealias Interface = Telemetry1
///     let uptime: UInt64, load: Double
/// }
/// ```
public protocol FixedLayoutEvent: DomainEvent, BitwiseCopyable {}
