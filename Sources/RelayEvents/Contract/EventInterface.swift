/// A D-Bus interface declared in Swift: the contract, the order, the durability and the permission of its events.
public protocol EventInterface: SendableMetatype {
    /// `Durable` (journal; loss is refilled) or `Volatile` (no journal; loss is reported).
    associatedtype Durability: InterfaceDurability = Durable
    /// The D-Bus interface name, with its version: `org.eventrelay.Relocation1`.
    static var name: String { get }
    /// Everything this interface carries: event and command types, one a line.
    @ContractBuilder<Self> static var contract: Contract<Self> { get }
    /// Defaults to `Durable()`, for which `EventService` needs a journal.
    static var durability: Durability { get }
    /// Who may call and subscribe. Defaults to `.sameUser`.
    static var requirement: PeerRequirement { get }
    /// How many of the events the bus is given as signals. Defaults to `.standard`.
    static var signalBudget: SignalBudget { get }
    /// Bytes of the shared-memory ring that carries the events to relays: a power of two, from 64 KiB to 1 GiB; 0 for none.
    /// Defaults to 4 MiB. The memory is taken when the first relay asks for it.
    static var ringCapacity: Int { get }
}

extension EventInterface {
    public static var requirement: PeerRequirement { .sameUser }
    public static var signalBudget: SignalBudget { .standard }
    public static var ringCapacity: Int { 4 << 20 }
}

extension EventInterface where Durability == Durable {
    public static var durability: Durable { Durable() }
}

/// How many of an interface's events the bus is given as signals.
///
/// Past it signals pause, and `Head` announces every 100 ms how far the stream has come: relays on the ring or the journal notice
/// nothing, and a plain D-Bus client sees that something happens. They go on after a second below it. An event that goes to each
/// peer by itself, as a restricted interface's do, counts as so many signals.
///
/// Whatever the budget, they pause too while the bus holds too much that some subscriber does not read: 32 MiB, or less where it
/// has less room.
public struct SignalBudget: Hashable, Sendable {
    /// Signals a second; nil: without end.
    package let rate: Int?
    /// How many may come at once.
    package let burst: Int

    /// 2,000 a second, 4,000 at once.
    public static let standard = Self.perSecond(2_000, burst: 4_000)
    /// Every event is a signal, whatever that does to the bus.
    public static let unlimited = Self(rate: nil, burst: 0)
    /// - Parameters:
    ///   - rate: at least 1.
    ///   - burst: at least 1.
    public static func perSecond(_ rate: Int, burst: Int) -> Self { Self(rate: max(1, rate), burst: max(1, burst)) }
}

/// What the ring holds of an event. Signal and journal always hold the wire encoding.
public struct RingPayload: Hashable, Sendable {
    package enum Kind: Hashable { case wire, raw(Int) }
    package let kind: Kind

    /// The D-Bus wire encoding.
    public static let wire = Self(kind: .wire)
    /// The value's own bytes.
    public static func raw(size: Int) -> Self { Self(kind: .raw(size)) }
}
