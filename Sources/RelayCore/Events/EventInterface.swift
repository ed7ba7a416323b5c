/// A D-Bus interface declared in Swift: the contract, the order, the durability and the permission of its events.
public protocol EventInterface: SendableMetatype {
    /// `Durable` (journal; loss is refilled) or `Volatile` (no journal; loss is reported).
    associatedtype Durability: InterfaceDurability = Durable
    /// The D-Bus interface name, with its version: `org.eventrelay.Relocation1`.
    static var name: String { get }
    /// Everything this interface carries: event and command types, one a line.
    @ContractBuilder<Self> static var contract: Contract<Self> { get }
    /// Defaults to `Durable()`. Give `Volatile()` to choose the other.
    static var durability: Durability { get }
    /// Who may call and subscribe. Defaults to `.sameUser`.
    static var requirement: PeerRequirement { get }
}

extension EventInterface {
    public static var requirement: PeerRequirement { .sameUser }
}

extension EventInterface where Durability == Durable {
    public static var durability: Durable { Durable() }
}

/// How long an interface's events live.
public protocol InterfaceDurability: Sendable {}

/// Events are kept in the journal: they survive everything, and replay fills gaps.
public struct Durable: InterfaceDurability {
    public var retention: Retention
    public init(retention: Retention = .standard) { self.retention = retention }
}

/// Events live as long as the process: a gap is reported with its range.
public struct Volatile: InterfaceDurability {
    public init() {}
}

/// What the journal keeps of an interface, whichever bound is met first.
public struct Retention: Sendable {
    public var age: Duration?
    public var count: Int?
    public var bytes: Int?
    public init(age: Duration? = nil, count: Int? = nil, bytes: Int? = nil) {
        (self.age, self.count, self.bytes) = (age, count, bytes)
    }
    public static let standard = Self(age: .seconds(30 * 86_400), bytes: 1 << 30)
}

/// One line of a contract. Holds what registration needs, made where the type was still concrete.
public struct ContractMember<Interface: EventInterface>: Sendable {
    package enum Kind: Sendable {
        case event(any DomainEvent<Interface>.Type)
        case command(any Command<Interface>.Type)
    }
    package let kind: Kind
}

/// What an interface carries.
public struct Contract<Interface: EventInterface>: Sendable {
    package let members: [ContractMember<Interface>]

    package var names: [String] { events.map { $0.name } + commands.map { $0.name } }

    /// The types of the events, in the order of declaration.
    public var events: [any DomainEvent<Interface>.Type] {
        members.compactMap { if case .event(let type) = $0.kind { type } else { nil } }
    }
    /// The types of the commands, in the order of declaration.
    public var commands: [any Command<Interface>.Type] {
        members.compactMap { if case .command(let type) = $0.kind { type } else { nil } }
    }
}

/// Lets a contract be a list of types; refuses, at compile time, one that belongs to another interface.
@resultBuilder public enum ContractBuilder<Interface: EventInterface> {
    public static func buildExpression<E: DomainEvent<Interface>>(_ type: E.Type) -> ContractMember<Interface> {
        ContractMember(kind: .event(type))
    }
    public static func buildExpression<C: Command<Interface>>(_ type: C.Type) -> ContractMember<Interface> {
        ContractMember(kind: .command(type))
    }
    @available(*, unavailable, message: "this type belongs to another interface, or is no event or command")
    public static func buildExpression<T>(_ type: T.Type) -> ContractMember<Interface> { fatalError() }

    public static func buildBlock(_ members: ContractMember<Interface>...) -> Contract<Interface> {
        Contract(members: members)
    }
}
