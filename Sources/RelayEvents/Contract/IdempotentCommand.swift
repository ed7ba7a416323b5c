/// A command that can be sent again without running twice: a key, chosen by the caller, identifies it.
///
/// After an error whose `mayHaveRun` is true, only the service knows whether the command ran. Send the same command
/// again with the same key. If the command ran before, the service answers with the reply that its journal kept;
/// otherwise the command runs now.
///
/// ```swift
/// struct PrintJob: IdempotentCommand {
///     typealias Interface = Printing1
///     let title: String, pages: Int32
///     let idempotencyKey: String?
/// }
/// ```
///
/// The key is an ordinary field, so any D-Bus tool can set it or leave it out. The key can also come from a field of
/// another name or type: `var idempotencyKey: String? { orderID }`.
///
/// A repetition must have the same arguments; the order within a dictionary or a `Set` does not matter. A type with its
/// own `encode(to:)` must write equal values in the same order in every process. If the arguments differ, the
/// repetition is refused with `.keyReused`.
///
/// The key has an effect only if the service handles the command in a unit of work: by the `handle` of RelayJournal whose
/// handler takes one.
public protocol IdempotentCommand<Interface>: Command {
    /// The key: at most 255 bytes that the caller chooses for one command, such as a UUID or an order's number. If it
    /// is nil or empty, the command has no key.
    ///
    /// Keys of different commands, interfaces or users are independent of each other.
    var idempotencyKey: String? { get }
}

extension RelayError.Code {
    /// An idempotency key was used again with other arguments. Nothing was done.
    public static let keyReused = Self(rawValue: "KeyReused")
}
