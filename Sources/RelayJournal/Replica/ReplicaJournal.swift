package import RelayCore

/// A mirror's journal: it keeps the interfaces of one service of another host as they are there, in a file like any
/// journal's. Epochs, sequences, times and the numbers of schemas are the origin's; retention is its own.
///
/// - Order: transactions are applied one after the other, in the order of the calls. Their events leave to the attached
///   service after the commit, in the order of their sequences, before `apply` returns.
/// - Isolation: from any thread.
/// - Loss: as `EventJournal`.
/// - Cancellation: a submitted transaction is applied even if the task that waits for it is cancelled.
package final class ReplicaJournal: Sendable {
    private let storage: JournalStorage
    /// For `EventService(journal:)`. Each service begins with what the file has then; the one before must have stopped,
    /// and `detach` been called. Until the first, and between two, events leave nowhere.
    package let log: any EventLog

    /// Opens the replica in a directory, exclusively. Creates it if it is missing.
    ///
    /// Throws as `EventJournal` does; `.invalidArgument` for the journal of a service.
    package init(
        directory: String, synchronous: EventJournal.Synchronous = .full,
        retention: ReplicaRetention = ReplicaRetention(), faults: JournalFaults = JournalFaults(),
        vfs: String? = nil, permit: CommitPermit? = .process,
        onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws {
        let storage = try opening {
            try JournalStorage(
                directory, synchronous, faults, vfs, permit, NoticeReporter(onNotice), replica: retention)
        }
        (self.storage, log) = (storage, ReplicaLog(storage))
        try storage.startCheck()
    }

    /// What the last transactions kept for each interface.
    package func states() async throws -> [String: [UInt8]] { try await storage.onEngine { try $0.replicaStates() } }
    /// Applies a transaction: all of it, or nothing. Returns when it is durable, and its events have left to the attached
    /// service. Transactions that wait at the same time share a commit.
    ///
    /// Throws, when nothing was done, `.invalidArgument` for what contradicts itself or what is there; `.conflict` for
    /// what the attached service cannot learn: end it, `detach`, and apply it again; and what storage throws:
    /// `.storageFull`, `.unavailable`. `.outcomeUnknown` as any journal.
    package func apply(_ transaction: ReplicaTransaction) async throws {
        let work = ReplicaWork(transaction)
        try await withUnsafeThrowingContinuation { continuation in
            work.continuation = continuation
            storage.writer.submit(.unit(work))
        }
    }
    /// The service has stopped: events leave nowhere from now on, and another service may begin.
    package func detach() async { await storage.detachReplica() }
    /// It has failed for good: nothing is applied any more.
    package var hasFailed: Bool { storage.writer.failure != nil }
    /// As `EventJournal.close()`.
    package func close() { storage.close() }
}

/// A transaction that waits for its commit.
private final class ReplicaWork: AwaitedWork<Void>, UnitBody, @unchecked Sendable {  // As its superclass.
    private let transaction: ReplicaTransaction
    let isSmall: Bool

    init(_ transaction: ReplicaTransaction) {
        self.transaction = transaction
        isSmall = transaction.parts.reduce(0) { $0 + ($1.events?.events.count ?? 0) } <= 64
    }
    func run(in unit: inout UnitOfWork) throws {
        try unit.engine.apply(transaction)
        result = ()
    }
}

private final class ReplicaLog: EventLog {
    let access: EventLogAccess
    init(_ storage: JournalStorage) { access = EventLogAccess(ReplicaStorage(storage)) }
}

/// A replica, as a service uses it: to read.
private final class ReplicaStorage: EventLogStorage {
    private let storage: JournalStorage
    init(_ storage: JournalStorage) { self.storage = storage }

    func open(_ interfaces: [LoggedInterface], encoder: any EventEncoder) throws -> [LogSnapshot] {
        try storage.open(interfaces, encoder: encoder)
    }
    private var readOnly: RelayError {
        RelayError(
            .notPermitted,
            "\(storage.path) is a mirror's: nothing is published here, and commands go to the service on its own host")
    }
    func commit(_ events: [EncodedEvent]) async throws { throw readOnly }
    func commit(_ event: EncodedEvent) async throws { throw readOnly }
    func perform<Result: Sendable>(
        _ body: @escaping @Sendable (any LogUnit) throws -> Result
    ) async throws -> Result { throw readOnly }
    func answer<C: Command>(
        _ command: C.Type, _ call: KeyedCall?, _ body: @escaping @Sendable (any LogUnit) throws -> C.Reply
    ) async throws -> C.Reply { throw readOnly }

    func read(_ request: LogRequest, completion: @escaping @Sendable (Result<LogPage, RelayError>) -> Void) {
        storage.read(request, completion: completion)
    }
    func find(
        _ question: RunQuestion, in interface: String,
        completion: @escaping @Sendable (Result<CommonRun?, RelayError>) -> Void
    ) {
        storage.find(question, in: interface, completion: completion)
    }
    func runs(
        after epoch: UInt64, atMost limit: Int, in interface: String,
        completion: @escaping @Sendable (Result<[StreamRun]?, RelayError>) -> Void
    ) {
        storage.runs(after: epoch, atMost: limit, in: interface, completion: completion)
    }
    func figures(of interface: String) async throws -> [(name: String, value: UInt64)] {
        try await storage.figures(of: interface)
    }
    func onFailure(_ body: @escaping @Sendable (RelayError) -> Void) { storage.onFailure(body) }
    func onTrouble(_ body: @escaping @Sendable (_ reason: String?) -> Void) { storage.onTrouble(body) }
    var activity: LogActivity { storage.activity }
}

extension JournalStorage {
    /// A result from the writer's thread, between two groups.
    fileprivate func onEngine<Result: Sendable>(
        _ body: @escaping @Sendable (JournalEngine) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let isTaken = writer.submit(
                .call { engine in continuation.resume(with: Swift.Result { try body(engine) }) })
            if !isTaken { continuation.resume(throwing: writer.closed()) }
        }
    }
    fileprivate func detachReplica() async {
        await call { $0.detachService() }
        endServing()
    }
}
