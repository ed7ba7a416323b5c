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
