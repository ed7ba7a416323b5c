/// A request with a reply: a D-Bus method of its interface.
public protocol Command<Interface>: Codable, Sendable {
    associatedtype Interface: EventInterface
    /// Its fields are the method's out arguments. Leave it out for a command that only succeeds or fails.
    associatedtype Reply: Codable & Sendable = NoReply
    /// What the handler may refuse with. Leave it out when there is nothing to refuse.
    associatedtype Failure: CommandFailure = Never
    /// The method's member name. Defaults to the type's own name.
    static var name: String { get }
    /// Who may call. Defaults to the interface's requirement.
    static var requirement: PeerRequirement { get }
}

extension Command {
    public static var name: String { String(describing: Self.self) }
    public static var requirement: PeerRequirement { Interface.requirement }
}

/// The reply of a command that has none: no out arguments.
public struct NoReply: Codable, Sendable { public init() {} }
