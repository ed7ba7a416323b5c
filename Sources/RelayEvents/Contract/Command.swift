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

/// A refusal that a command declares: a D-Bus error `<interface>.Error.<name>` with a message.
public protocol CommandFailure: Error {
    var errorName: String { get }
    var message: String { get }
    init?(errorName: String, message: String)
}

extension CommandFailure {
    public var message: String { errorName }
}

extension CommandFailure where Self: RawRepresentable, RawValue == String {
    public var errorName: String { rawValue }
    public init?(errorName: String, message: String) { self.init(rawValue: errorName) }
}

extension Never: CommandFailure {
    public var errorName: String { switch self {} }
    public init?(errorName: String, message: String) { nil }
}

/// What a call throws: what the command declares, or what went wrong on the way.
public enum CommandError<Failure: CommandFailure>: Error {
    /// The handler refused; nothing was changed.
    case refused(Failure)
    /// The call did not get through, or its answer did not: see `mayHaveRun`.
    case relay(RelayError)
}
