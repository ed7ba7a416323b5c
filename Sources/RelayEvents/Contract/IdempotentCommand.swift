/// A command that may be sent again without being run again: a key that the caller chooses tells that it is the same one.
///
/// After a call of which `mayHaveRun` is true, nobody but the service knows whether it ran. Send the same command with
/// the same key again: the service's journal answers with the first reply, or runs it now.
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
/// The service handles such commands with `handle(_:in:_:onRefusal:)` of RelayJournal, or answers them with
/// `EventJournal.answer(_:from:_:onRefusal:)`. Without that the key has no effect.
public protocol IdempotentCommand<Interface>: Command {
    /// At most 255 bytes, chosen by the caller for one command: a UUID, an order's number. nil or empty: none.
    ///
    /// Keys of different commands, interfaces and users have nothing to do with each other.
    var idempotencyKey: String? { get }
}

extension RelayError.Code {
    /// An idempotency key came again with other arguments. Nothing was done.
    public static let keyReused = Self(rawValue: "KeyReused")
}
