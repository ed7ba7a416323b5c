public import RelayCore

/// The durable log of a service's events, in one SQLite file with the service's state: `DIRECTORY/journal.sqlite`.
///
/// ```swift
/// let journal = try EventJournal(directory: "/var/lib/printer")
/// let jobID = try await journal.unitOfWork { unit in
///     let insert: SQL = "INSERT INTO jobs (title) VALUES (\(title)) RETURNING id"
///     let id = try unit.query(insert, as: Int64.self)[0]
///     try unit.publish(JobPrinted(jobID: id, title: title, pages: 2))
///     return id
/// }
/// ```
///
/// - Order: units of work run one after the other. Events leave after their unit was committed, in the order of their
///   sequences, and before the code that published them continues.
/// - Isolation: from any thread. The journal has its own threads for reading, and for writing that takes long. A thread
///   of the cooperative pool commits short units, and waits for the disk. It is never the thread of an actor. At most
///   one thread in the process does this at a time, and none if the process has only one processor.
/// - Loss: only the disk can lose committed data (see ``Synchronous``). A unit that fails leaves no trace, and no hole
///   in the sequences. If the disk refuses a write, nothing was done, and the journal continues when it can. If the
///   fsync of a commit fails, the outcome is unknown: the journal accepts no more work, and its file decides at the
///   next start.
/// - Cancellation: a submitted unit runs even if the task that waits for it is cancelled.
public final class EventJournal: EventLog {
    let storage: JournalStorage
    let migrations = MigrationGate()

    /// Opens the journal in a directory, exclusively. Creates the directory and the file if they are missing.
    ///
    /// The journal is not changed before its tables were found to agree with each other. A file that is refused remains
    /// unchanged. If the last run did not end in good order, a separate thread checks the whole file while the service
    /// works. If this check finds damage, it stops the journal, as a failure of the disk does. The next start then
    /// checks the whole file first; cancelling the caller's task ends that check.
    ///
    /// - Parameter directory: the folder, for this journal alone.
    /// - Parameter synchronous: what a power loss can undo.
    /// - Parameter onNotice: is called with each notice of the journal, including the progress of a long start: see
    ///   `Notice.Kind`. Calls are rare. They come one at a time on a separate thread, so the closure may write to a log
    ///   that blocks.
    /// - Throws: `.conflict` if another journal uses the directory. `.invalidArgument` for another program's file, a
    ///   file of a newer version, and a directory that other users can write to. `.unavailable` for a damaged file: the
    ///   journal never repairs or replaces anything silently. `.notPermitted`, `.storageFull`, `.cancelled`. The
    ///   message names the file.
    public convenience init(
        directory: String, synchronous: Synchronous = .full, onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        try self.init(directory: directory, synchronous: synchronous, faults: JournalFaults(), onNotice: onNotice)
    }
    /// Opens the journal in a directory, like the initialiser, but waits until another journal has released the
    /// directory. Use this in a service that the bus may start while the previous run is still closing the journal.
    ///
    /// - Cancellation: a cancellation ends the wait with `.cancelled`.
    /// - Parameter directory: the folder, for this journal alone.
    /// - Parameter patience: how long to wait for another journal.
    /// - Parameter synchronous: what a power loss can undo.
    /// - Parameter onNotice: as the initialiser's.
    /// - Returns: the journal.
    /// - Throws: as the initialiser. `.conflict` if another journal still uses the directory when the patience ends.
    public static func open(
        directory: String, waiting patience: Duration, synchronous: Synchronous = .full,
        onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
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
        permit: CommitPermit? = .process, onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        storage = try opening {
            try JournalStorage(directory, synchronous, faults, vfs, permit, NoticeReporter(onNotice))
        }
        try storage.startCheck()
    }

    /// For `EventService(journal:)`.
    package var access: EventLogAccess { EventLogAccess(storage) }

    /// Runs a unit of work, and commits its state and events together. Returns when they are on disk and the events
    /// have left.
    ///
    /// If `body` throws, only this unit is undone, and the error is rethrown. Units that arrive while the disk is busy
    /// share one commit. If that commit fails, all of them get its error. This includes refused units, because the
    /// state that led to a refusal may never have existed.
    ///
    /// - Isolation: `body` runs on the journal's thread or on a thread of the cooperative pool, never on its caller's
    ///   actor, and without the caller's task-local values and cancellation. It keeps all other units waiting, so do
    ///   not wait in it. Waiting there for another unit of the same journal would never end.
    /// - Parameter body: changes the state and publishes events.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws. `.storageFull` or `.unavailable` if nothing was done. `.outcomeUnknown` if the
    ///   commit failed but may have happened.
    @discardableResult
    public func unitOfWork<Result>(
        _ body: sending @escaping (inout UnitOfWork) throws -> sending Result
    ) async throws -> sending Result {
        storage.writer.noteUse()
        return try await storage.unitOfWork(body)
    }

    /// Runs a unit of work. If the unit refuses, events in the same transaction report the refusal.
    ///
    /// When `body` throws a `Refusal`, the journal undoes everything that `body` did, calls `onRefusal` to publish
    /// events, commits the transaction, sends the events, and then throws the refusal. No other unit runs between the
    /// refusal and these events. Other errors of `body` are rethrown without a call of `onRefusal`.
    ///
    /// - Isolation: `onRefusal` runs where `body` does.
    /// - Loss: after a crash either all events of the refusal exist, or none. The refusal is thrown when the events are
    ///   on disk. If they cannot be published or committed, that error is thrown instead of the refusal.
    /// - Parameter body: changes the state and publishes events.
    /// - Parameter onRefusal: publishes events that report the refusal.
    /// - Returns: what `body` returns.
    /// - Throws: as ``unitOfWork(_:)``.
    @discardableResult
    public func unitOfWork<Result, Refusal: Error>(
        _ body: sending @escaping (inout UnitOfWork) throws -> sending Result,
        onRefusal: sending @escaping (Refusal, inout RefusalEvents) throws -> Void
    ) async throws -> sending Result {
        storage.writer.noteUse()
        return try await storage.unitOfWork(body) { error, events in
            if let refusal = error as? Refusal { try onRefusal(refusal, &events) }
        }
    }

    /// Reads the domain's tables at one moment, without delaying units of work.
    ///
    /// ```swift
    /// let titles = try await journal.read { snapshot in
    ///     try snapshot.query("SELECT title FROM jobs", as: String.self)
    /// }
    /// ```
    ///
    /// - Order: the read sees every unit that returned before this was called.
    /// - Isolation: from any task, also in a command's handler. `body` runs on one of the journal's two reading
    ///   threads, never on its caller's actor. Further reads wait until a thread is free. Keep `body` short: while it
    ///   runs, the write-ahead log grows.
    /// - Loss: none. A read changes nothing, and can be repeated.
    /// - Cancellation: a submitted read runs even if the task that waits for it is cancelled. ``close()`` interrupts
    ///   it: its query throws `.unavailable`.
    /// - Parameter body: queries the snapshot.
    /// - Returns: what `body` returns.
    /// - Throws: `.unavailable` if the journal has failed or is closed, and what `body` throws.
    public func read<Result>(
        _ body: sending @escaping (inout JournalSnapshot) throws -> sending Result
    ) async throws -> sending Result {
        try await storage.snapshot(body)
    }

    /// Finishes the submitted units, moves the write-ahead log into the file, and releases the directory.
    ///
    /// Reads are interrupted. Later units and reads are refused with `.unavailable`. Releasing both the journal and its
    /// service has the same effect.
    ///
    /// It returns when all of this is done. If a unit of work or a read calls it, it returns at once, and the rest is
    /// done after that unit or read.
    public func close() { storage.close() }
    /// Closes the journal of a service that could not start. Files that this journal made are removed if they contain no
    /// event and no unit of work was begun. Migrations do not count.
    ///
    /// Everything else is as with ``close()``.
    public func closeUnused() {
        storage.discardUnused()
        storage.close()
    }
}

extension EventJournal {
    /// What a power loss can undo.
    public struct Synchronous: Hashable, Sendable {
        let pragma: String
        /// A power loss undoes nothing that was committed: each group of commits ends with an fsync.
        public static let full = Self(pragma: "FULL")
        /// A power loss can undo the last transactions. This is faster, because the disk is synced only when the log is
        /// moved into the file.
        ///
        /// A power loss can undo published events. Other events then get their sequences, and subscribers that received
        /// the undone events cannot detect it. A crash of the process alone loses nothing.
        public static let normal = Self(pragma: "NORMAL")
    }
}
