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
