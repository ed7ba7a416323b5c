import Synchronization

/// A document's next state, which another process has submitted and which is not set yet.
public struct Submission<Document: EditableDocument>: Sendable {
    /// The submitted state.
    public let state: Document
    /// The state that the submission is based on, which is the present one.
    public let present: Document
    /// The peer that submits.
    public let peer: Peer

    /// A submission for tests that call a handler as a function. Real ones come from the service.
    ///
    /// - Parameter state: the submitted state.
    /// - Parameter present: the state that the submission is based on.
    /// - Parameter peer: the peer that submits.
    public init(_ state: Document, basedOn present: Document, peer: Peer = Peer(userID: nil)) {
        (self.state, self.present, self.peer) = (state, present, peer)
    }
}

/// Answers the command that submits a document.
struct Submissions<Document: EditableDocument>: Sendable {
    typealias Handler = @Sendable (Submission<Document>) async throws -> Document
    let document: ExportedDocument<Document>
    let log: (any EventLogStorage)?
    let handler: Handler?
    /// Fails where the command cannot be registered either.
    private let hash: Result<CommandHash<SubmitDocument<Document>>, any Error>

    init(document: ExportedDocument<Document>, log: (any EventLogStorage)?, handler: Handler?) {
        (self.document, self.log, self.handler) = (document, log, handler)
        hash = Result { try CommandHash() }
    }

    /// Throws `SubmitFailure`, or why nothing was set.
    func answer(_ command: SubmitDocument<Document>, _ context: CommandContext) async throws -> DocumentVersion {
        if document.logIndex != nil {
            guard let log else { throw RelayError(.internalFailure, "\(Document.name) is durable, without a journal") }
            let isKnown = try await document.isInHistory(command.basis, log)
            let state = isKnown ? try await accepted(command, context) : nil
            return try await log.submit(command, from: context, to: document) { draft in
                guard let state, command.basis.sequence == draft.sequence else {
                    throw SubmitFailure<Document>.conflict
                }
                return state
            }
        }
        let operation = try operation(of: command, context)
        if let operation, let known = try repeated(operation) { return known }
        if command.epoch == document.version(0).epoch, let state = try await accepted(command, context) {
            let version = try document.set(state, basedOn: command.basis) { version in
                if let (operation, hash) = operation {
                    document.operations.withLock { $0.add(operation, hash, version) }
                }
            }
            if let version { return version }
        }
        // The same operation may have been done meanwhile, by another connection of the same user.
        if let operation, let known = try repeated(operation) { return known }
        // What is based on another run's was applied to nothing that there is now.
        let forgotten = document.operations.withLock { $0.forgotten }
        if operation != nil && command.epoch == document.version(0).epoch && forgotten > command.sequence {
            throw SubmitFailure<Document>.forgotten
        }
        throw SubmitFailure<Document>.conflict
    }
    /// What is to be set, of a submission that is based on a version of this history; nil if that is not the present
    /// one. The handler is not asked about such a one: it would judge by a state that its caller has not seen, and refuse
    /// a repetition of what it has accepted.
    private func accepted(
        _ command: SubmitDocument<Document>, _ context: CommandContext
    ) async throws -> Document? {
        let (present, sequence) = document.present
        guard command.basis.sequence == sequence else { return nil }
        guard let handler else { return command.state }
        do {
            return try await handler(Submission(command.state, basedOn: present, peer: context.peer))
        } catch let refusal as Document.Refusal {
            throw SubmitFailure<Document>.refused(refusal)
        }
    }

    // MARK: Repetitions

    /// What makes two submissions the same one; nil without an idempotency key.
    private func operation(
        of command: SubmitDocument<Document>, _ context: CommandContext
    ) throws -> (RecentOperations.Operation, hash: Int64)? {
        guard let id = command.idempotencyKey, !id.isEmpty else { return nil }
        let user = try context.user(ofKey: id, command: SubmitDocument<Document>.name)
        return (RecentOperations.Operation(user: user, id: id), try hash.get().value(command).present)
    }
    private func repeated(_ operation: (RecentOperations.Operation, hash: Int64)) throws -> DocumentVersion? {
        switch document.operations.withLock({ $0.answer(operation.0, operation.hash) }) {
        case .done(let version)?: return version
        case .reused?:
            throw RelayError(
                .keyReused,
                "\(Document.name): its idempotency key came before, with another state or version; nothing was done: take a "
                    + "new one for a new operation")
        case nil: return nil
        }
    }
}

extension CommandContext {
    /// How long an idempotency key may be.
    package static var longestKey: Int { 255 }
    /// Whose a key is. Throws `InvalidArgument` for one that is too long, and `Unavailable` if that is not known.
    package func user(ofKey key: String, command: String) throws(RelayError) -> UInt32 {
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
