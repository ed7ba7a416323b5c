/// A command of an older interface, without its types.
struct OlderCommand: Sendable {
    /// Of the command that runs in its place.
    let requirement: PeerRequirement
    let install: @Sendable (EventService) throws -> Void
}

/// Runs a command of a newer interface in place of one of an older interface.
struct MappedCommand<O: Command, N: Command>: Sendable {
    let map: @Sendable (O) throws -> N
    let reply: @Sendable (N.Reply) throws -> O.Reply
    let refusal: @Sendable (N.Refusal) -> O.Refusal?
    let progress: (@Sendable (N.Progress) -> O.Progress?)?

    func install(on service: EventService) throws {
        guard let target = service.commands[ObjectIdentifier(N.self)] as? ExportedCommand<N> else {
            throw RelayError(
                .invalidArgument,
                "\(O.Interface.name).\(O.name) is mapped to \(N.name), which is not in the contract of \(N.Interface.name)"
            )
        }
        service.setHandler(O.self) { command, context in
            try await answer(command, context, by: target)
        }
    }
    private func answer(_ old: O, _ context: CommandContext, by target: ExportedCommand<N>) async throws -> O.Reply {
        let command = try map(old)
        if Self.key(of: old) != nil && Self.key(of: command) == nil {
            throw RelayError(
                .internalFailure,
                "\(O.Interface.name).\(O.name) has an idempotency key, and is mapped to a \(N.name) without one: a retry would "
                    + "run again; give it the key")
        }
        let result: N.Reply
        do {
            result = try await target.run(command, derived(context, of: old))
        } catch let failure as N.Refusal {
            if let refusal = refusal(failure) { throw refusal }
            throw RelayError(
                .invalidArgument,
                "\(N.name) was refused as \(failure.errorName), which \(O.Interface.name).\(O.name) has no refusal for")
        }
        do { return try reply(result) } catch {
            throw RelayError(
                .internalFailure, "\(N.name) has run, and its reply is none of \(O.Interface.name).\(O.name): \(error)",
                cause: error, mayHaveRun: true)
        }
    }
    private func derived(_ context: CommandContext, of old: O) -> CommandContext {
        CommandContext(of: context.peer) { value in
            guard let value = value as? N.Progress, let mapped = progress?(value) else { return }
            context.report(mapped, of: old)
        }
    }
    private static func key<C: Command>(of command: C) -> String? {
        (command as? any IdempotentCommand)?.idempotencyKey.flatMap { $0.isEmpty ? nil : $0 }
    }
}
