import Synchronization

/// The documents that a service holds.
extension EventService {
    /// A document of an exported interface, for the service to read and set.
    ///
    /// ```swift
    /// let state = try service.document(PrinterState.self)
    /// try await state.set(PrinterState(title: "Invitation", pagesLeft: 2))
    /// ```
    ///
    /// - Parameter type: the document.
    /// - Returns: the document.
    /// - Throws: `.notFound` for a document of an interface that is not exported.
    public func document<Document: DomainDocument>(_ type: Document.Type) throws -> ServiceDocument<Document> {
        ServiceDocument(try events.document(type), storage)
    }
    /// Sets a handler that decides about the states that other processes submit. Without a handler, each state that is
    /// based on the present version is set. A later handler replaces an earlier one.
    ///
    /// The handler returns the state to set, which need not be the submitted one. The caller receives a `Refusal` of
    /// the document as it is, and other errors as with ``handle(_:with:)``. The handler is called only for a state that
    /// is based on the present version. It must change nothing, because the version is compared once more afterwards.
    /// To change other state in the same transaction, use `handleSubmissions(of:with:)` of RelayJournal.
    ///
    /// - Parameter type: the document.
    /// - Parameter handler: is called with each submission, and returns the state to set.
    public func handleSubmissions<Document: EditableDocument>(
        of type: Document.Type,
        @_inheritActorContext with handler:
            @escaping @isolated(any) @Sendable (Submission<Document>) async throws -> Document
    ) {
        decideSubmissions(of: type, by: .handler { try await handler($0) })
    }
    /// Sets who decides about what is submitted.
    package func decideSubmissions<Document: EditableDocument>(
        of type: Document.Type, by rule: SubmissionRule<Document>
    ) {
        guard let document = try? events.document(type) else {
            return noteStray("\(Document.Interface.name).\(SubmitDocument<Document>.name)")
        }
        rules.set(rule)
        // If it follows another document, this takes the place of what its submissions were mapped to.
        document.acceptSubmissions(self)
    }
}

/// A document at its service: the present state, and the way to change it.
///
/// - Order: each change is an entry in the stream of its interface, in the order of the changes.
/// - Isolation: from any thread.
/// - Loss: a change that subscribers miss is a gap in the stream, and the next state makes up for it. A durable
///   document keeps its last state when the service restarts, whatever the retention of its interface is. A volatile
///   document begins again with its initial state, in a new epoch.
public struct ServiceDocument<Document: DomainDocument>: Sendable {
    private let exported: ExportedDocument<Document>
    private let log: (any EventLogStorage)?

    init(_ exported: ExportedDocument<Document>, _ log: (any EventLogStorage)?) {
        (self.exported, self.log) = (exported, log)
    }
    /// The present state. For a durable document, this is the last one that was committed.
    public var state: Document { exported.present.state }
    /// The version of the present state.
    public var version: DocumentVersion { exported.version(exported.present.sequence) }
}

extension ServiceDocument where Document.Interface.Durability == Volatile {
    /// Sets the document at once. A state that is equal to the present one publishes nothing.
    ///
    /// - Parameter state: the whole new state.
    /// - Throws: `.tooLarge` over 1 MiB less 4 KiB, or over a quarter of the interface's
    ///   ``EventInterface/ringCapacity``. `.invalidArgument` for a value that D-Bus cannot carry. `.unavailable` after
    ///   the service's end. Nothing was changed then.
    public func set(_ state: Document) throws { try exported.set(state) }
    /// Changes the document in one step: no other change happens between the state that `change` gets and its result.
    ///
    /// - Parameter change: changes the state. It is called again if the document was changed meanwhile.
    /// - Returns: what `change` returns.
    /// - Throws: as ``set(_:)``, and what `change` throws.
    @discardableResult
    public func update<Result>(_ change: (inout Document) throws -> Result) throws -> Result {
        try exported.update(change)
    }
}

extension ServiceDocument where Document.Interface.Durability == Durable {
    /// Sets the document in its own transaction. Returns when the state is committed, and its event is on its way. A
    /// state that is equal to the present one publishes nothing.
    ///
    /// To commit the document together with other state, set it within a unit of work of the journal.
    ///
    /// - Cancellation: does not withdraw it.
    /// - Parameter state: the whole new state.
    /// - Throws: `.tooLarge` over 1 MiB less 4 KiB. `.invalidArgument` for a value that D-Bus cannot carry.
    ///   `.storageFull` or `.unavailable` from the journal. Nothing was changed then. `.outcomeUnknown` as with
    ///   ``EventService/publish(_:)``.
    public func set(_ state: Document) async throws { try await update { $0 = state } }
    /// Changes the document in its own transaction: no other change happens between the state that `change` gets and
    /// its result.
    ///
    /// - Isolation: `change` runs where units of work run, and keeps all of them waiting.
    /// - Parameter change: changes the state.
    /// - Throws: as ``set(_:)``, and what `change` throws.
    public func update(_ change: @escaping @Sendable (inout Document) throws -> Void) async throws {
        guard let log else { throw RelayError(.internalFailure, "\(Document.name) is durable, without a journal") }
        try await log.perform { [exported] unit in
            var state = exported.draft(in: unit).state
            try change(&state)
            try exported.set(state, in: unit)
        }
    }
}
