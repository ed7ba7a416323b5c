/// A D-Bus interface declared in Swift: the contract, order, durability and permission of its events and commands.
///
/// ```swift
/// enum Printing1: EventInterface {
///     static let name = "org.example.Printing1"
///     static var contract: Contract<Self> {
///         JobPrinted.self
///         PrintJob.self
///     }
/// }
/// ```
public protocol EventInterface: SendableMetatype {
    /// ``Durable``: a journal keeps the events, and relays read missed events from it. ``Volatile``: missed events are
    /// a gap.
    associatedtype Durability: InterfaceDurability = Durable
    /// The D-Bus interface name, with its version: `org.eventrelay.Relocation1`.
    static var name: String { get }
    /// All events and commands of this interface, one type per line.
    @ContractBuilder<Self> static var contract: Contract<Self> { get }
    /// How long the events live. Defaults to `Durable()`, for which the service needs a journal.
    static var durability: Durability { get }
    /// Which peers may call and subscribe. Defaults to ``PeerRequirement/sameUser``.
    static var requirement: PeerRequirement { get }
    /// How many events are sent as signals. Defaults to ``SignalBudget/standard``.
    static var signalBudget: SignalBudget { get }
    /// The size in bytes of the ring that carries the events to relays. Defaults to 4 MiB.
    ///
    /// A power of two from 64 KiB to 1 GiB, or 0 for no ring. The memory is allocated when the first relay asks for it.
    static var ringCapacity: Int { get }
    /// The purpose of the interface, for people who use tools. Defaults to nothing.
    static var about: About { get }
}

extension EventInterface {
    public static var about: About { .nothing }
    public static var requirement: PeerRequirement { .sameUser }
    public static var signalBudget: SignalBudget { .standard }
    public static var ringCapacity: Int { 4 << 20 }
}

extension EventInterface where Durability == Durable {
    /// Durable, with ``Retention/standard``.
    public static var durability: Durable { Durable() }
}

/// How many of an interface's events are sent as signals.
///
/// Beyond the budget, signals pause, and the signal `Head` announces the stream's last sequence every 100 ms, or every
/// second while the ring serves every subscriber. Relays that read the ring or the journal miss nothing. A plain D-Bus
/// client learns only how many events it missed. Signals resume after one to two seconds within the budget.
///
/// An event of a restricted interface is sent to each peer separately, so it counts once for each peer.
///
/// Independently of the budget, signals pause while the backlog is too large: 32 MiB, or less if the bus has less room.
public struct SignalBudget: Hashable, Sendable {
    /// Signals a second; nil: without end.
    package let rate: Int?
    /// How many may come at once.
    package let burst: Int

    /// 2,000 signals a second, 4,000 at once.
    public static let standard = Self.perSecond(2_000, burst: 4_000)
    /// Every event is sent as a signal, unless the backlog is too large.
    public static let unlimited = Self(rate: nil, burst: 0)
    /// A budget of a given rate and burst.
    ///
    /// - Parameter rate: signals a second, at least 1.
    /// - Parameter burst: signals at once, at least 1.
    public static func perSecond(_ rate: Int, burst: Int) -> Self { Self(rate: max(1, rate), burst: max(1, burst)) }
}
