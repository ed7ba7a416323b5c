import Synchronization
import RelayWire

/// A document's next state, which another process has submitted and which is not set yet.
public struct Submission<Document: EditableDocument>: Sendable {
    /// The submitted state.
    public let state: Document
    /// The state that the submission is based on, which is the present one.
    public let present: Document
    /// The peer that submits.
    public let peer: Peer

    package init(of state: Document, over present: Document, by peer: Peer) {
        (self.state, self.present, self.peer) = (state, present, peer)
    }
}

/// What a service sets of a submission.
package enum SubmissionRule<Document: EditableDocument>: Sendable {
    /// What was submitted.
    case anything
    /// What a handler returns.
    case handler(@Sendable (Submission<Document>) async throws -> Document)
    /// The same, in the transaction that sets it.
    case unit(@Sendable (Submission<Document>, any LogUnit) throws -> Document)
}

/// Who decides about submissions, by the types of documents. The service holds it, and no document does: a handler may
/// well keep the service and its journal.
final class SubmissionRules: Sendable {
    /// nil: the service has ended.
    private let rules = Mutex<[ObjectIdentifier: any Sendable]?>([:])

    /// nil: nobody decides any more.
    func rule<D: EditableDocument>(of type: D.Type) -> SubmissionRule<D>? {
        rules.withLock { $0.map { $0[ObjectIdentifier(type)] as? SubmissionRule<D> ?? .anything } }
    }
    func set<D: EditableDocument>(_ rule: SubmissionRule<D>) { replace { $0?[ObjectIdentifier(D.self)] = rule } }
    func end() { replace { $0 = nil } }
    private func replace(_ change: (inout [ObjectIdentifier: any Sendable]?) -> Void) {
        // Released outside the lock: what they keep is anybody's.
        let old = rules.withLock { rules in
            let old = rules
            change(&rules)
            return old
        }
        withExtendedLifetime(old) {}
    }
}

/// Answers the command that submits a document: as any command with an idempotency key, by a transaction that keeps the
/// reply.
///
/// `Target` is what is set: the same document, or the newer one that an older document follows.
struct Submissions<Submitted: EditableDocument, Target: EditableDocument>: Sendable {
    let submitted: ExportedDocument<Submitted>
    let target: ExportedDocument<Target>
    let log: (any EventLogStorage)?
    let rules: SubmissionRules
    /// What to set, of a submitted state and the present one.
    let forward: @Sendable (Submitted, Target) throws -> Target
    let refusal: @Sendable (Target.Refusal) -> Submitted.Refusal?
    /// Fails where the command cannot be registered either.
    private let hash: Result<CommandHash<SubmitDocument<Submitted>>, any Error>

    init(
        _ submitted: ExportedDocument<Submitted>, setting target: ExportedDocument<Target>,
        of service: EventService, _ forward: @escaping @Sendable (Submitted, Target) throws -> Target,
        refusal: @escaping @Sendable (Target.Refusal) -> Submitted.Refusal?
    ) {
        (self.submitted, self.target, self.forward, self.refusal) = (submitted, target, forward, refusal)
        (log, rules) = (service.storage, service.rules)
        hash = Result { try CommandHash() }
    }
    private typealias Command = SubmitDocument<Submitted>

    /// What is to be set, as far as that is decided before the transaction.
    private enum Proposal: Sendable {
        /// If the target's last entry is still that one.
        case state(Target, after: UInt64)
        case rule(@Sendable (Submission<Target>, any LogUnit) throws -> Target)
    }
    /// The target was changed meanwhile: the proposal is made again. A submission of another document need not be a
    /// conflict then.
    private struct Changed: Error {}

    /// Throws `SubmitRefusal`, or why nothing was set.
    func answer(_ command: SubmitDocument<Submitted>, _ context: CommandContext) async throws -> DocumentVersion {
        let call = try KeyedCall(command, from: context) { try hash.get() }
        while true {
            do {
                let proposal = try await proposal(for: command, context)
                guard submitted.logIndex != nil else { return try set(proposal, command, call) }
                guard let log else {
                    throw RelayError(.internalFailure, "\(Submitted.name) is durable, without a journal")
                }
                return try await log.answer(Command.self, call) { unit in
                    guard try submitted.isPresent(command.basis, in: unit), let proposal else {
                        throw conflict(command, try unit.forgotten(Command.name, of: Command.Interface.name))
                    }
                    let draft = target.draft(in: unit)
                    switch proposal {
                    case .state(let state, let sequence):
                        if draft.sequence != sequence { throw Changed() }
                        _ = try target.set(state, in: unit)
                    case .rule(let rule):
                        _ = try target.set(
                            decided { try rule(submission(command, draft.state, context), unit) }, in: unit)
                    }
                    return submitted.version(submitted.draft(in: unit).sequence)
                }
            } catch is Changed {
                continue
            }
        }
    }
    /// What is to be set, of a submission that is based on the present version; nil for any other one. A handler is not
    /// asked about such a one: it would judge by a state that its caller has not seen, and refuse a repetition of what it
    /// has accepted.
    private func proposal(for command: SubmitDocument<Submitted>, _ context: CommandContext) async throws -> Proposal? {
        let (present, sequence) = target.present
        guard command.sequence == submitted.present.sequence, try await submitted.isInHistory(command.basis, log)
        else { return nil }
        do {
            switch rules.rule(of: Target.self) {
            case .anything: return .state(try forward(command.state, present), after: sequence)
            case .handler(let handler):
                return .state(try await handler(submission(command, present, context)), after: sequence)
            case .unit(let rule): return .rule(rule)
            case nil: throw RelayError(.unavailable, "the service ends: nothing was done")
            }
        } catch {
            throw refused(error)
        }
    }
    private func submission(
        _ command: SubmitDocument<Submitted>, _ present: Target, _ context: CommandContext
    ) throws -> Submission<Target> {
        Submission(of: try forward(command.state, present), over: present, by: context.peer)
    }
    private func decided(_ body: () throws -> Target) throws -> Target {
        do { return try body() } catch { throw refused(error) }
    }
    /// A refusal as the submitted document declares it.
    private func refused(_ error: any Error) -> any Error {
        if let refusal = error as? Submitted.Refusal { return SubmitRefusal<Submitted>.refused(refusal) }
        guard let failure = error as? Target.Refusal else { return error }
        if let refusal = refusal(failure) { return SubmitRefusal<Submitted>.refused(refusal) }
        return RelayError(
            .invalidArgument,
            "\(Target.name) was refused as \(failure.errorName), which \(Submitted.Interface.name).\(Submitted.name) has no "
                + "refusal for")
    }
    /// If replies are forgotten to submissions that were based on this version or a later one, it may be one of those.
    private func conflict(
        _ command: SubmitDocument<Submitted>, _ forgotten: UInt64
    ) -> SubmitRefusal<Submitted> {
        let hasKey = command.idempotencyKey?.isEmpty == false
        return hasKey && forgotten > command.sequence ? .forgotten : .conflict
    }

    // MARK: Volatile

    /// The same without a journal.
    private func set(
        _ proposal: Proposal?, _ command: SubmitDocument<Submitted>, _ call: KeyedCall?
    ) throws -> DocumentVersion {
        // What a user's code has to do with it is done before the lock.
        var (placing, sequence): (() throws -> Void, UInt64) = ({}, 0)
        if case .state(let state, let after) = proposal {
            (placing, sequence) = (try target.placing(state), after)
        }
        return try target.inOrder {
            try submitted.replies.withLock { replies in
                if let call, let known = try replies.reply(to: call, as: DocumentVersion.self) { return known }
                guard proposal != nil, command.basis == submitted.version(submitted.present.sequence) else {
                    // What is based on another run's was applied to nothing that there is now.
                    let isOurs = command.epoch == submitted.version(0).epoch
                    let forgotten = replies.forgotten(Command.name, of: Command.Interface.name)
                    throw conflict(command, isOurs ? forgotten : 0)
                }
                if target.present.sequence != sequence { throw Changed() }
                try placing()
                let version = submitted.version(submitted.present.sequence)
                if let call { replies.keep(version, to: call) }
                return version
            }
        }
    }
}
