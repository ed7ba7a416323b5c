public import RelayCore

/// The durable log of a service's events, in one SQLite file with the service's state: `DIRECTORY/journal.sqlite`.
///
/// ```swift
/// let journal = try EventJournal(directory: "/var/lib/printer")
/// let jobID = try await journal.unitOfWork { unit in
///     let insert = "INSERT INTO jobs (title) VALUES (?) RETURNING id"
///     let id: Int64 = try unit.query(insert, [SQLValue(title)]) { try $0[0] }[0]
///     try unit.publish(JobPrinted(jobID: id, title: title, pages: 2))
///     return id
/// }
/// ```
///
/// - Order: units of work run one after the other. Events leave after their unit was committed, in the order of their
///   sequences, and before their publisher goes on.
/// - Isolation: from any thread. The journal has threads of its own to read, and to write what takes long. Short units
///   are committed on a thread of the cooperative pool, which waits for the disk. This is never an actor's thread. At
///   most one thread in the process does it at a time, and none if the process has only one processor.
/// - Loss: only the disk can lose what was committed (see ``Synchronous``). A unit that fails leaves no trace, and no
///   hole in the sequences. After an I/O error at a commit the outcome is unknown: the journal accepts nothing more,
///   and its file decides at the next start.
/// - Cancellation: a unit that was submitted runs, even if the task that waits for it is cancelled.
public final class EventJournal: EventLog {
    let storage: JournalStorage
    let migrations = MigrationGate()

    /// Opens the journal in a directory, exclusively. Creates directory and file if they are missing.
    ///
    /// Nothing is written before the tables were found to agree with each other. A file that is refused stays as it is.
    /// The whole file is checked only after a run that did not end in good order, on a thread of its own while the
    /// service works. Damage that this check finds stops the journal, as a failure of the disk does. The next start
    /// then checks the whole file first; the cancellation of the caller's task ends that.
    ///
    /// - Parameter directory: the folder, for this journal alone.
    /// - Parameter synchronous: what a power loss can undo.
    /// - Parameter onNotice: is called with what goes wrong while the journal is used, and with what a long start does:
    ///   see `Notice.Kind`. Calls are few, one at a time, on a thread of their own, so it may write to a log that
    ///   blocks.
    /// - Throws: `.conflict` if another journal has the directory. `.invalidArgument` for another program's file, one
    ///   of a newer version, and a directory that others can write. `.unavailable` for a damaged file: nothing is ever
    ///   repaired or replaced silently. `.notPermitted`, `.storageFull`, `.cancelled`. The message names the file.
    public convenience init(
        directory: String, synchronous: Synchronous = .full, onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws {
        try self.init(directory: directory, synchronous: synchronous, faults: JournalFaults(), onNotice: onNotice)
    }
    /// Opens the journal in a directory, as the initialiser does, but waits until another journal has released the
    /// directory. Use it in a service that the bus may start while its last run still closes the journal.
    ///
    /// - Cancellation: ends the wait, with `.cancelled`.
    /// - Parameter directory: the folder, for this journal alone.
    /// - Parameter patience: how long to wait for another journal.
    /// - Parameter synchronous: what a power loss can undo.
    /// - Parameter onNotice: as the initialiser's.
    /// - Returns: the journal.
    /// - Throws: as the initialiser. `.conflict` if another journal still has the directory when the time is over.
    public static func open(
        directory: String, waiting patience: Duration, synchronous: Synchronous = .full,
        onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) async throws -> EventJournal {
        let deadline = MonotonicClock.deadline(after: patience)
        while true {
            do {
                return try EventJournal(directory: directory, synchronous: synchronous, onNotice: onNotice)
            } catch .conflict where MonotonicClock.now < deadline {
                do { try await Task.sleep(for: .milliseconds(10)) } catch {
                    throw RelayError(
                        .cancelled, "cancelled while another journal had \(directory); nothing was changed",
                        cause: error)
                }
            }
        }
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
            let file = opening.file
            let reader = try JournalReader(file)
            let engine = try JournalEngine(
                file: file, database: opened.database, reserve: opening.reserve, faults: faults, notices)
            let check = opened.isChecked ? nil : JournalCheck(file, isLive: true, begins: faults.checking)
            (engine.check, engine.isNew) = (check, opening.isNew)
            let snapshots = SnapshotReaders(file)
            let writer = JournalWriter(engine, path: file.path, permit, snapshots)
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
    package var access: EventLogAccess { EventLogAccess(storage) }

    /// Runs a unit of work, and commits its state and events together. Returns when they are on disk and the events
    /// have left.
    ///
    /// If `body` throws, only this unit is undone, and the error is rethrown. Units that arrive while the disk is busy
    /// share one commit. If that commit fails, all of them get its error, refused units included: the state on which a
    /// unit was refused may never have existed.
    ///
    /// - Isolation: `body` runs on the journal's thread or on one of the cooperative pool, never on its caller's actor,
    ///   and without the caller's task-local values and cancellation. It keeps all other units waiting, so do not wait
    ///   in it. To wait for another unit of the same journal would never end.
    /// - Parameter body: changes the state and publishes events.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws. `.storageFull` or `.unavailable` if nothing was done. `.outcomeUnknown` if the
    ///   commit failed and may have happened.
    @discardableResult
    public func unitOfWork<Result>(
        _ body: sending @escaping (inout UnitOfWork) throws -> sending Result
    ) async throws -> sending Result {
        try await storage.unitOfWork(body)
    }

    /// Runs a unit of work. If it refuses, events report that in the same transaction.
    ///
    /// When `body` throws a `Refusal`, everything it did is undone, `onRefusal` publishes events, the transaction is
    /// committed, the events leave, and then the refusal is thrown. No other unit comes between the refused state and
    /// these events. Other errors of `body` are rethrown, and `onRefusal` is not called.
    ///
    /// - Isolation: `onRefusal` runs where `body` does.
    /// - Loss: after a crash either all events of the refusal exist, or none. The caller learns of the refusal when
    ///   they are on disk. If they cannot be published or committed, that error is thrown in place of the refusal.
    /// - Parameter body: changes the state and publishes events.
    /// - Parameter onRefusal: publishes events that report the refusal.
    /// - Returns: what `body` returns.
    /// - Throws: as ``unitOfWork(_:)``.
    @discardableResult
    public func unitOfWork<Result, Refusal: Error>(
        _ body: sending @escaping (inout UnitOfWork) throws -> sending Result,
        onRefusal: sending @escaping (Refusal, inout RefusalEvents) throws -> Void
    ) async throws -> sending Result {
        try await storage.unitOfWork(body) { error, events in
            if let refusal = error as? Refusal { try onRefusal(refusal, &events) }
        }
    }

    /// Reads the domain's tables as of one moment, without delaying units of work.
    ///
    /// ```swift
    /// let titles = try await journal.read { snapshot in
    ///     try snapshot.query("SELECT title FROM jobs") { try $0[0, as: String.self] }
    /// }
    /// ```
    ///
    /// - Order: it sees every unit that returned before it was called.
    /// - Isolation: from any task, also in a command's handler. `body` runs on one of two threads of the journal's own,
    ///   never on its caller's actor. Further reads wait until one is free. Keep it short: while it runs, the
    ///   write-ahead log grows.
    /// - Loss: none. It changes nothing, and can be repeated.
    /// - Cancellation: a read that was submitted runs, even if the task that waits for it is cancelled. ``close()``
    ///   interrupts it: its query throws `.unavailable`.
    /// - Parameter body: queries the snapshot.
    /// - Returns: what `body` returns.
    /// - Throws: `.unavailable` if the journal has failed or is closed, and what `body` throws.
    public func read<Result>(
        _ body: sending @escaping (inout JournalSnapshot) throws -> sending Result
    ) async throws -> sending Result {
        try await storage.snapshot(body)
    }

    /// Finishes the units that were submitted, moves the write-ahead log into the file, and releases the directory.
    ///
    /// Reads are interrupted. Later units and reads are refused with `.unavailable`. The release of journal and service
    /// does the same.
    ///
    /// It returns when that is done. Called within a unit of work or a read, it returns at once, and the rest is done
    /// after the unit or read.
    public func close() { storage.close() }
    /// Closes the journal of a service that could not start: files that were made for it go, if they have no event.
    package func closeUnused() {
        storage.discardUnused()
        storage.close()
    }
}

extension EventJournal {
    /// What a power loss can undo.
    public struct Synchronous: Hashable, Sendable {
        let pragma: String
        /// Nothing that was committed: each group of commits ends with an fsync.
        public static let full = Self(pragma: "FULL")
        /// The last transactions. Faster: the disk is synced only when the log is moved into the file.
        ///
        /// After a power loss, published events can be undone, and their sequences given to other events. Subscribers
        /// that have the undone events cannot detect that. The end of the process alone loses nothing.
        public static let normal = Self(pragma: "NORMAL")
    }
}
