/// A request with one reply, or one refusal: a D-Bus method of its interface.
///
/// ```swift
/// struct PrintJob: Command {
///     typealias Interface = Printing1
///     let title: String, pages: Int32
///     struct Reply: Codable, Sendable { let jobID: Int64 }
///     enum Refusal: String, CommandRefusal, CaseIterable { case tooLong = "TooLong" }
/// }
/// ```
public protocol Command<Interface>: Codable, Sendable {
    /// The interface that the method belongs to.
    associatedtype Interface: EventInterface
    /// The fields of the reply are the method's out arguments. Leave it out for a command that only succeeds or fails.
    associatedtype Reply: Codable & Sendable = NoReply
    /// The refusals that the command declares. Leave it out if there are none.
    associatedtype Refusal: CommandRefusal = Never
    /// Not for refusals, which are declared as `Refusal`: a nested type of this name does not compile.
    associatedtype Failure = Never where Failure == Never
    /// A struct that the command reports while it runs. Leave it out if it reports nothing.
    associatedtype Progress: Codable & Sendable = Never
    /// The method's member name. Defaults to the type's name.
    static var name: String { get }
    /// Which peers may call. Defaults to the interface's requirement.
    static var requirement: PeerRequirement { get }
    /// Whether the handler's task is cancelled when the caller gives up. Defaults to false: the command runs to its
    /// end.
    static var isCancellable: Bool { get }
    /// What the command does, and what its fields mean, for people who use tools. Defaults to nothing.
    static var about: About { get }
}

extension Command {
    public static var about: About { .nothing }
    public static var isCancellable: Bool { false }
    public static var name: String { String(describing: Self.self) }
    public static var requirement: PeerRequirement { Interface.requirement }
}

/// The reply of a command without out arguments.
public struct NoReply: Codable, Hashable, Sendable {
    /// The reply.
    public init() {}
}

/// A refusal that a command declares: the D-Bus error `<interface>.Error.<errorName>` with a message.
///
/// An enum with `String` raw values needs no code for the conformance. If it is also `CaseIterable`, the introspection
/// data lists the refusals, and `relay-cli` shows them.
///
/// ```swift
/// enum Refusal: String, CommandRefusal, CaseIterable { case tooLong = "TooLong", noPaper = "NoPaper" }
/// ```
public protocol CommandRefusal: Error, Equatable {
    /// The last part of the D-Bus error's name.
    var errorName: String { get }
    /// Tells a person why the command refused, and what to do. Defaults to ``errorName``.
    var message: String { get }
    /// The refusal that arrived from a service, or nil for a name that the command does not declare.
    ///
    /// - Parameter errorName: the last part of the D-Bus error's name.
    /// - Parameter message: the service's text, which is untrusted.
    init?(errorName: String, message: String)
}

extension CommandRefusal {
    public var message: String { errorName }
}

extension CommandRefusal where Self: RawRepresentable, RawValue == String {
    public var errorName: String { rawValue }
    public init?(errorName: String, message: String) { self.init(rawValue: errorName) }
}

extension Never: CommandRefusal {
    public var errorName: String { switch self {} }
    public init?(errorName: String, message: String) { nil }
}
