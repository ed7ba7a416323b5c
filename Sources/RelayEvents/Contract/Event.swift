/// A value published within a process. Nothing is required but `Sendable`; enums with payloads are welcome.
public protocol Event: Sendable {}

/// An event that can also cross processes: a fact in the past tense, carried as a D-Bus signal of its interface.
public protocol DomainEvent<Interface>: Event, Codable {
    /// The interface whose order, durability and permissions this event shares.
    associatedtype Interface: EventInterface
    /// The signal's member name. Defaults to the type's own name.
    static var name: String { get }
    /// How the ring carries a value. A requirement, so that a refinement's default reaches generic code.
    static var ringPayload: RingPayload { get }
}

extension DomainEvent {
    public static var name: String { String(describing: Self.self) }
    public static var ringPayload: RingPayload { .wire }
}

/// An event for telemetry rates: its bytes are fit to be copied as they are.
///
/// In a volatile interface's ring it is these bytes, with no encoding; as a signal, and in a journal, it travels as any event does.
/// Its fields are numbers, structures of them, and `FixedArray`s of them. `BitwiseCopyable` is necessary, not sufficient: registration
/// refuses padding, pointers, Bool and enum fields, and values of more than 64 KiB.
public protocol FixedLayoutEvent: DomainEvent, BitwiseCopyable {}

extension FixedLayoutEvent {
    public static var ringPayload: RingPayload { .raw(size: MemoryLayout<Self>.size) }
}
