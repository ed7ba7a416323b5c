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
