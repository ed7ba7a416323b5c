public import RelayCore

/// The durable log of a service's events, in one SQLite file with its state: DIRECTORY/journal.sqlite.
///
/// - Order: units of work run one after the other. Events leave after their unit was committed, in the order of their
///   sequences, and before whoever published them goes on.
/// - Isolation: a thread of the journal's own reads, and one writes what takes long; both are used from any thread. Units that take a
///   moment are committed on a thread of the cooperative pool, which waits for the disk then: never an actor's, one thread of the
///   process at a time, and none where the process has but one processor.
/// - Loss: what was committed is lost by nothing but the disk (see `Synchronous`); what fails leaves no trace, and no hole in
///   the sequences. After an I/O error at a commit nobody can know: the journal takes nothing more, and a restart finds out.
/// - Cancellation: a unit that was handed over runs, whatever becomes of the task that waits for it.
public final class EventJournal: EventLog {
    private let storage: JournalStorage

    /// Opens the journal in a directory, for this journal alone; makes directory and file when they are missing.
    ///
    /// Writes nothing before it has seen that the tables agree with each other: a file that is refused stays as it is. The whole file
    /// is read only after a run that did not end in good order, on a thread of its own while the service works: what that
    /// finds stops the journal, as a failure of the disk does, and the next one is opened after such a check, which the
    /// end of the caller's task cancels.
    ///
    /// Throws `Conflict` when another journal
    /// has the directory, `InvalidArgument` for a file of something else or of a newer version, and for a directory that others can write,
    /// `Unavailable` for a damaged one (nothing is ever repaired or made anew silently), `NotPermitted`, `StorageFull`,
    /// `Cancelled`. The message names the file.
    ///
    /// - Parameter onNotice: is called with what goes wrong while the journal is used, and with what a long start does (see
    ///   `Notice.Kind`). Calls are few, one at a time, on a thread of their own: it may write to a log that blocks.
    public convenience init(
        directory: String, synchronous: Synchronous = .full, onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws {
        try self.init(directory: directory, synchronous: synchronous, faults: JournalFaults(), onNotice: onNotice)
    }
    /// - Parameter vfs: the name of SQLite's file layer; nil for its own.
    /// - Parameter permit: to commit on a caller's thread; nil: never.
    package init(
        directory: String, synchronous: Synchronous = .full, faults: JournalFaults, vfs: String? = nil,
        permit: CommitPermit? = .process, onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws {
        let notices = NoticeReporter(onNotice)
        let lock = try DirectoryLock(directory)
        var opening = JournalOpening(in: directory, synchronous: synchronous, faults: faults, vfs: vfs, notices)
        let opened = try opening.open()
        do {
            let activity = JournalActivity()
            let file = opening.file
            let reader = try JournalReader(file)
            let engine = try JournalEngine(
                file: file, database: opened.database, reserve: opening.reserve, faults: faults, notices)
            let check = opened.isChecked ? nil : JournalCheck(file, isLive: true)
            engine.check = check
            let snapshots = SnapshotReaders(file)
            let writer = JournalWriter(engine, path: file.path, activity, permit, snapshots)
            try reader.start()
            do {
                try writer.start(lock)
            } catch {
                reader.stop()
                throw error
            }
            storage = JournalStorage(writer, reader, snapshots, check, file, notices)
        } catch let error as SQLiteError {
            throw opening.file.refusal(error)
        }
        try storage.startCheck()
    }

    /// For `EventService(journal:)`.
    public var access: EventLogAccess { EventLogAccess(storage) }

    /// Runs a unit of work, and commits its state and events together; returns when they are on disk and the events have left.
    ///
    /// What `body` throws undoes this unit alone, and is rethrown. Units that came while the disk was busy share a commit, not
    /// a fate; but when that commit fails, all of them get its error: what a unit was refused on may never have been.
    ///
    /// - Isolation: `body` runs on the journal's thread or on one of the cooperative pool (see `EventJournal`); never on its caller's
    ///   actor. It keeps all others waiting: no waiting in it, least of all for another unit.
    ///   Neither the caller's task-local values nor its cancellation can be counted on in it.
    ///
    /// Throws `StorageFull` or `Unavailable` when nothing was done, `OutcomeUnknown` when that cannot be known.
    @discardableResult
    public func unitOfWork<Result>(
        _ body: sending @escaping (inout UnitOfWork) throws -> sending Result
    ) async throws -> sending Result {
        try await storage.unitOfWork(body)
    }

    /// Runs a unit of work as `unitOfWork(_:)` does; a refusal is reported by events of the same transaction.
    ///
    /// When `body` throws a `Refusal`, all that it did is undone, `onRefusal` publishes what reports it, the transaction is
    /// committed, the events leave, and then the refusal is thrown. Nothing of other units comes between the state that was
    /// refused on and these events. Other errors of `body` are rethrown as they are, and `onRefusal` is not called.
    ///
    /// - Isolation: `onRefusal` runs where `body` does.
    /// - Loss: after a crash there are either all of the refusal's events or none; the caller learns of the refusal only after
    ///   they are on disk. When they cannot be published or committed, that error is thrown in place of the refusal.
    @discardableResult
    public func unitOfWork<Result, Refusal: Error>(
        _ body: sending @escaping (inout UnitOfWork) throws -> sending Result,
        onRefusal: sending @escaping (Refusal, inout RefusalEvents) throws -> Void
    ) async throws -> sending Result {
        try await storage.unitOfWork(body) { error, events in
            if let refusal = error as? Refusal { try onRefusal(refusal, &events) }
        }
    }

    /// Reads the domain's tables as of one moment, without holding up units of work; from any task, command handlers included.
    ///
    ///     let jobs = try await journal.read { snapshot in
    ///         (at: try snapshot.position(of: Printing1.self), titles: try snapshot.query("SELECT title FROM jobs") { $0.text(0) })
    ///     }
    ///
    /// - Order: it sees every unit that returned before it was called.
    /// - Isolation: `body` runs on one of two threads of the journal's own, never on its caller's actor. Further reads wait
    ///   until one is free. Keep it short: while it runs, the write-ahead log cannot be cut, and grows.
    /// - Loss: none: it changes nothing, and may be repeated.
    /// - Cancellation: a read that was handed over runs, whatever becomes of the task that waits for it. `close` interrupts it:
    ///   its query throws `Unavailable`.
    ///
    /// Throws `Unavailable` when the journal has failed or is closed, and what `body` throws.
    public func read<Result>(
        _ body: sending @escaping (inout JournalSnapshot) throws -> sending Result
    ) async throws -> sending Result {
        try await storage.snapshot(body)
    }

    /// Finishes what was handed over, moves everything into the one file, and gives the directory free. Reads are interrupted;
    /// later units and reads are refused with `Unavailable`. Also done when the journal and its service are released.
    ///
    /// Returns when all of that is done. Within a unit of work or a read it returns at once, and the rest is done when they have
    /// returned.
    public func close() { storage.close() }
}
