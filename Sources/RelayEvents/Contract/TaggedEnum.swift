/// An enum with payloads, as a field of an event, a command, a reply, a progress report or a document.
///
/// ```swift
/// enum JobState: TaggedEnum {
///     case idle
///     case printing(page: Int32, of: Int32?)
///     case failed(String)
/// }
/// ```
///
/// It needs nothing but Swift's own `Codable` conformance. Cases and the fields of payloads are matched by name, so
/// both can be reordered. A field without a label is named `_0`, `_1`, …
///
/// Adding a case is safe. A program that lacks the case cannot read that one value: an event with it becomes a gap with
/// the reason `.schemaMismatch`, and a reply with it fails after the command has run. To read it instead, make the enum
/// an ``OpenTaggedEnum``. Optional fields of payloads can be added, too. Removing or renaming a case is a breaking
/// change.
///
/// An enum of plain values without payloads can have raw values instead, and travels as those.
public protocol TaggedEnum: Codable, Sendable {}

/// An enum with payloads that can represent cases which only a newer program knows.
///
/// ```swift
/// enum JobState: OpenTaggedEnum {
///     case idle, printing(page: Int32)
///     case unknown(UnknownCase)
/// }
/// ```
///
/// The case `unknown` is part of this program only: it is never sent.
public protocol OpenTaggedEnum: TaggedEnum {
    /// Represents a case that this program does not know. A case `unknown(UnknownCase)` satisfies it.
    ///
    /// - Parameter value: the case, as the sender named it.
    /// - Returns: the value that the program sees in its place.
    static func unknown(_ value: UnknownCase) -> Self
}

/// A case of an ``OpenTaggedEnum`` that this program does not know.
///
/// It can be read and compared. It cannot be sent: encoding it throws `.invalidArgument`.
public struct UnknownCase: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The name of the case in the sender's program.
    public let name: String
    /// The payload as text, for logs and messages: `(3, "tray 2")`. Empty for a case without a payload.
    public let payload: String

    package init(name: String, payload: String) { (self.name, self.payload) = (name, payload) }

    /// The name, and the payload behind it.
    public var description: String { name + payload }

    /// Always throws: an unknown case comes from a newer sender only.
    ///
    /// - Parameter decoder: not used.
    /// - Throws: `.invalidArgument`.
    public init(from decoder: any Decoder) throws {
        throw RelayError(.invalidArgument, "a case for unknown cases is never received by its own name")
    }
    /// Always throws: this program does not know what the case means.
    ///
    /// - Parameter encoder: not used.
    /// - Throws: `.invalidArgument`.
    public func encode(to encoder: any Encoder) throws {
        throw RelayError(
            .invalidArgument,
            "the case '\(name)' is unknown to this program and cannot be sent: update the program, or send another case"
        )
    }
}
