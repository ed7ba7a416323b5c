/// A durable log of events, for `EventService(journal:)`: `EventJournal` of RelayJournal, and `MemoryLog` of
/// RelayTestKit, each with an initialiser of `EventService` of its own. Users cannot write one.
package protocol EventLog: AnyObject, Sendable {
    /// The service's access to the log.
    var access: EventLogAccess { get }
}

/// What a service uses of its log.
package struct EventLogAccess: Sendable {
    package let storage: any EventLogStorage
    package init(_ storage: any EventLogStorage) { self.storage = storage }
}

/// A log, as a service uses it.
///
/// Invariant: events leave (`CommittedEventSink.emit`) after their transaction was committed, on the thread that
/// committed it and before another commits, in the order of their sequences, and before their publisher goes on.
package protocol EventLogStorage: AnyObject, Sendable {
    /// Takes a service's durable interfaces in, and begins a run of each. Before anything is published; once.
    ///
    /// Returns where each stands, in the same order. Throws `Conflict` when a service has it already, and what storage
    /// throws.
    func open(_ interfaces: [LoggedInterface], encoder: any EventEncoder) throws -> [LogSnapshot]

    /// Commits events in one transaction of their own; returns when they are durable and were emitted.
    ///
    /// Throws `StorageFull` or `Unavailable` when nothing was done, `OutcomeUnknown` when that cannot be known.
    func commit(_ events: [EncodedEvent]) async throws
    /// The same, for one.
    func commit(_ event: EncodedEvent) async throws

    /// Performs a transaction: all of it, or nothing if `body` throws. Returns when it is durable and its events were
    /// emitted.
    ///
    /// Throws as `commit`, and what `body` throws.
    func perform<Result: Sendable>(_ body: @escaping @Sendable (any LogUnit) throws -> Result) async throws -> Result
    /// Answers a command by a transaction, which also keeps the reply if it has a key: over restarts. A repetition is
    /// answered with the first reply, without `body`.
    ///
    /// Throws besides `KeyReused`.
    func answer<C: Command>(
        _ command: C.Type, _ call: KeyedCall?, _ body: @escaping @Sendable (any LogUnit) throws -> C.Reply
    ) async throws -> C.Reply

    /// Reads a page; calls back once, on a thread of the log's. Does not hold up commits.
    func read(_ request: LogRequest, completion: @escaping @Sendable (Result<LogPage, RelayError>) -> Void)

    /// Looks for the newest run that a subscriber and an interface's log have in common; calls back once, on a thread
    /// of the log's. Only where `LogSnapshot.sample` says that there are more runs than its own.
    func find(
        _ question: RunQuestion, in interface: String,
        completion: @escaping @Sendable (Result<CommonRun?, RelayError>) -> Void)

    /// The runs of an interface's log behind one, or from the first one on, oldest first; nil: there is no such run.
    /// Calls back once, on a thread of the log's.
    ///
    /// - Parameter epoch: 0: from the first one on.
    func runs(
        after epoch: UInt64, atMost limit: Int, in interface: String,
        completion: @escaping @Sendable (Result<[StreamRun]?, RelayError>) -> Void)

    /// How much is kept of an interface, for people: `events`, `bytes` and so on. From any thread.
    func figures(of interface: String) async throws -> [(name: String, value: UInt64)]

    /// Calls back when the log has failed for good: at once, if that was before.
    func onFailure(_ body: @escaping @Sendable (RelayError) -> Void)

    /// Calls back when commits begin to be refused because the disk takes no writes, with the reason as a clause, and
    /// when they are possible again, with nil. At once, if they are refused. On a thread of the log's.
    func onTrouble(_ body: @escaping @Sendable (_ reason: String?) -> Void)

    /// What it does at this moment. From any thread; never waits for the disk.
    var activity: LogActivity { get }
}
extension EventLogStorage {
    /// For a log that commits within the call.
    package var activity: LogActivity { LogActivity() }
    /// For a log without a disk.
    package func onTrouble(_ body: @escaping @Sendable (_ reason: String?) -> Void) {}
}
extension EventLogStorage {
    /// As `find`.
    package func find(_ question: RunQuestion, in interface: String) async throws -> CommonRun? {
        try await withCheckedThrowingContinuation { continuation in
            find(question, in: interface) { continuation.resume(with: $0) }
        }
    }
}

/// Whether a log works at this moment.
package struct LogActivity: Sendable {
    /// Something waits to be committed, or is being written.
    package let isBusy: Bool
    /// How often it has committed.
    package let commits: UInt64
    /// How often something was done: while it stays the same in a busy log, one thing takes all that time.
    package let turns: UInt64
    package init(isBusy: Bool = false, commits: UInt64 = 0, turns: UInt64 = 0) {
        (self.isBusy, self.commits, self.turns) = (isBusy, commits, turns)
    }
}
