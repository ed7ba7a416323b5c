package import RelayWire

/// A call with an idempotency key: what makes two calls the same one.
package struct KeyedCall: Sendable {
    package let interface, command, key: String
    package let user: UInt32
    package let arguments: ArgumentHash.Value

    /// nil without a key. Throws `InvalidArgument` for one that is too long, and `Unavailable` if it is not known whose
    /// it is.
    ///
    /// - Parameter hash: is called only with a key.
    package init?<C: Command>(
        _ command: C, from context: CommandContext, hash: () throws -> CommandHash<C>
    ) throws {
        guard let key = (command as? any IdempotentCommand)?.idempotencyKey, !key.isEmpty else { return nil }
        user = try context.user(ofKey: key, command: C.name)
        (interface, self.command, self.key) = (C.Interface.name, C.name, key)
        arguments = try hash().value(command)
    }
    /// The same key came before, with other arguments.
    package var reused: RelayError {
        RelayError(
            .keyReused,
            "\(command): its idempotency key came before, with other arguments; nothing was done: take a new key for a new "
                + "command")
    }
}

extension CommandContext {
    /// How long an idempotency key may be.
    package static var longestKey: Int { 255 }
    /// Whose a key is. Throws `InvalidArgument` for one that is too long, and `Unavailable` if that is not known.
    fileprivate func user(ofKey key: String, command: String) throws(RelayError) -> UInt32 {
        if key.utf8.count > Self.longestKey {
            throw RelayError(
                .invalidArgument,
                "\(command): an idempotency key of \(key.utf8.count) bytes; it has at most \(Self.longestKey)")
        }
        // Its next try would come as somebody else, and be run again; and all that are unknown would share their keys.
        guard let user = peer.userID else {
            throw RelayError(
                .unavailable,
                "\(command): the bus does not say whose the idempotency key of \(peer.uniqueName) is; nothing was done: stay "
                    + "connected until the reply, and try again")
        }
        return user
    }
}
