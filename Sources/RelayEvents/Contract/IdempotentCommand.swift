/// A command that can be sent again without running twice: a key, chosen by the caller, identifies it.
///
/// After an error whose `mayHaveRun` is true, only the service knows whether the command ran. Send the same command
/// with the same key again: the service's journal answers with the first reply, or runs it now.
///
/// ```swift
/// struct PrintJob: IdempotentCommand {
///     typealias Interface = Printing1
///     let title: String, pages: Int32
///     let idempotencyKey: String?
/// }
/// ```
///
/// The key is a field like any other, so any D-Bus tool can give one, or leave it out. A field of another name or type
/// serves as well: `var idempotencyKey: String? { orderID }`.
///
/// A repetition must have the same arguments; the order within a dictionary or a `Set` does not matter. A type with an
/// `encode(to:)` of its own must write equal values in the same order in every process. Otherwise the repetition is
/// refused with `.keyReused`.
///
/// The service handles such commands with `handle(_:in:_:onRefusal:)` of RelayJournal, or answers them with
/// `EventJournal.answer(_:from:_:onRefusal:)`. Otherwise the key has no effect.
public protocol IdempotentCommand<Interface>: Command {
    /// The key: at most 255 bytes that the caller chooses for one command, such as a UUID or an order's number. nil or
    /// empty: none.
    ///
    /// Keys of different commands, interfaces or users are independent of each other.
    var idempotencyKey: String? { get }
}

extension RelayError.Code {
    /// An idempotency key was used again with other arguments. Nothing was done.
    public static let keyReused = Self(rawValue: "KeyReused")
}
