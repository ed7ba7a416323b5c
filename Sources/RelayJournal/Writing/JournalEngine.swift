import CSQLite
import RelayCore

/// The one read-write connection and what is done with it: by the one thread that `WriterQueue` gave it to.
///
/// Invariant: between two groups the counters here are those on disk.
final class JournalEngine {
    let file: JournalFile
    let database: Database
    let faults: JournalFaults
    let sql: EngineStatements
    let domain: DomainSQL
    var reserve: ReserveFile
    /// By their texts: those that few units need.
    var ownStatements: [String: Statement] = [:]
    var keptReplies = KeptReplies()
    var encoder: (any EventEncoder)?
    /// Of a mirror's journal: how much it keeps.
    var replicaRetention: ReplicaRetention?
    // Unchecked, as `group`: the engine has one owner at a time, and no access spans foreign code.
    @exclusivity(unchecked) var interfaces: [InterfaceState] = []

    /// Why nothing can be done any more; nil as long as something can.
    private(set) var failure: RelayError?
    /// The disk was full, and the reserve file is not back.
    var isStarved: Bool
    /// Why commits were refused last, until one is known to be possible again.
    var trouble: StorageTrouble? { didSet { board.set(trouble) } }
    private let board: TroubleBoard
    /// A sync of a checkpoint was refused: the files are written again before anything is built on them.
    var mustSecure = false
    /// Whether there was a log before anything was written: it may have commits of an earlier run.
    private let hadLog: Bool
    let notices: NoticeReporter
    var maintenance = Maintenance()
    /// Whether this run has made the file.
    var isNew = false
    /// Whether the file has had no event, and this run has made it.
    var isUnused: Bool { isNew && failure == nil && interfaces.allSatisfy { $0.committed.sequence == 0 } }
    /// What ages are measured with.
    var clock = RetentionClock()
    /// Reads the whole file meanwhile; nil when that was seen to be sound before.
    var check: JournalCheck?
    /// SQLite's count of what other connections have changed, as it was at the start.
    private let foreignChanges: Int64
    private(set) var hasCommitted = false
    /// Whether the mark for a run that has not ended is there.
    private var isMarkedOpen = false
    /// What the group that runs has done so far.
    @exclusivity(unchecked) var group = Group()

    /// How many bytes a WAL may keep after a checkpoint.
    static let walLimit = 16 << 20

    init(
        file: JournalFile, database: Database, reserve: ReserveFile, faults: JournalFaults, _ notices: NoticeReporter,
        _ board: TroubleBoard
    ) throws(SQLiteError) {
        (self.notices, self.board) = (notices, board)
        (self.file, self.database, self.reserve, self.faults) = (file, database, reserve, faults)
        sql = try EngineStatements(database)
        domain = DomainSQL(database)
        foreignChanges = try Self.foreignChanges(database)
        isStarved = !reserve.isThere
        hadLog = file.walSize > 0
        maintenance.begin = MonotonicClock.now + 10_000_000_000
        try loadClock()
        // Unretained: `finish` takes it back.
        sqlite3_wal_hook(
            database.handle,
            { context, _, _, pages in
                if let context {
                    let engine = Unmanaged<JournalEngine>.fromOpaque(context).takeUnretainedValue()
                    (engine.maintenance.walPages, engine.hasCommitted) = (Int(pages), true)
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
        if isStarved { note(StorageTrouble(SystemError(reserve.refusal))) }
    }
    deinit {
        for interface in interfaces { for name in interface.names { name.bytes.deallocate() } }
    }

    /// The last thing that is done: leaves one whole file, if that can be done. Returns whether all of it is known to
    /// be sound, once the connection is closed.
    func finish() -> Bool {
        domain.detach()
        ownStatements = [:]
        sqlite3_wal_hook(database.handle, nil, nil)
        // What has failed, and what was not written, stays as it is.
        if failure != nil || !hasCommitted && hadLog { return false }
        guard let (held, copied) = checkpoint(.truncate), held == copied else { return false }
        database.keepLogAtClose(false)
        let isOurs = (try? Self.foreignChanges(database)) == foreignChanges
        return isOurs && check?.isSound ?? true
    }
    private static func foreignChanges(_ database: Database) throws(SQLiteError) -> Int64 {
        try database.integers("PRAGMA data_version")?.first ?? 0
    }
    /// Moves the WAL into the file, as far as that can be done; nil when it failed.
    func checkpoint(_ kind: Database.Checkpoint) -> (held: Int, copied: Int)? {
        if secureIfNeeded() != nil { return nil }
        do throws(SQLiteError) {
            let result = try database.checkpoint(kind)
            if result.held == result.copied {
                // Nothing is in the log alone, until the next commit.
                isMarkedOpen = false
                file.marks.removeOpen()
            } else if isMarkedOpen {
                markOpen()
            }
            return result
        } catch {
            failIfUnsynced(error)
            notices.report(
                .checkpointFailed, .warning,
                "the log of \(file.path) cannot be moved into the file (\(error)), and grows: look at the disk")
            return nil
        }
    }

    private func markOpen() {
        isMarkedOpen = true
        file.marks.setOpen(file.path, on: database)
    }

    // MARK: Errors

    func unavailable() -> RelayError { Self.unavailable(file.path, failure) }
    static func unavailable(_ path: String, _ failure: RelayError?) -> RelayError {
        RelayError(
            .unavailable, "the journal \(path) has failed: nothing was done; restart the service", cause: failure)
    }
    /// Nothing more is committed. The first reason counts.
    ///
    /// - Returns: the error with the exit code that says whether to start again is of use: 65 for what is in the file, 74
    ///   for the disk.
    @discardableResult func fail(_ error: RelayError) -> RelayError {
        let error = error.exiting(with: UnfitJournal.explains(error) ? 65 : 74)
        if failure == nil { failure = error }
        return error
    }
    /// After a sync that failed nothing more may be built on the files: the kernel takes what it could not write for
    /// written, and a later checkpoint would go on behind it. The next start writes it again.
    func failIfUnsynced(_ error: SQLiteError) {
        if !error.isFailedSync { return }
        if error.isReadOnly {
            // It may be read as long as the file system is, and is written again as the next start would do it.
            mustSecure = true
            return noteIfTrouble(error)
        }
        fail(
            RelayError(
                .unavailable, "\(file.path): \(error): look at the disk, and restart the service", cause: error))
    }

    /// What an error of one of the journal's own statements means: that its tables are not what it left, if another
    /// program wrote to them. Then no later try can do better.
    func consequence(ofOwn error: SQLiteError) -> RelayError {
        if !error.isContradiction || error.isDamage { return consequence(of: error) }
        let failure = RelayError(
            .unavailable,
            "\(file.path): another program has written to the journal's tables (\(error)); nothing was done, and nothing more is "
                + "committed: end that program and restart the service; if the file is refused then, restore it from a backup",
            cause: error)
        return fail(failure)
    }
    /// What an error of SQLite's means to those whose work it undid; draws the consequences.
    func consequence(of error: SQLiteError) -> RelayError {
        if error.isFull { isStarved = true }
        noteIfTrouble(error)
        let consequence = error.asRelayError(file.path)
        return error.isDamage ? fail(consequence) : consequence
    }
    /// Undoes the transaction, on disk and here.
    func rollBack() {
        if database.isInTransaction { try? sql.rollback.run() }
        for index in interfaces.indices { interfaces[index].wasRolledBack() }
        interfaces.removeAll { $0.isNew }
        maintenance.savedElapsed = nil
        if database.isInTransaction {
            fail(RelayError(.unavailable, "\(file.path): a transaction cannot be rolled back; restart the service"))
        }
    }
    /// Commits the transaction. A failure has been dealt with when it is thrown.
    func commitTransaction() throws(RelayError) {
        do {
            try sql.commit.run()
            if !isMarkedOpen { markOpen() }
            return
        } catch {
            let error = database.explained(error)
            let canBeUndone = database.isInTransaction
            rollBack()
            if error.isFromBeforeCommit || canBeUndone && error.primaryCode != SQLITE_IOERR {
                throw consequence(of: error)
            }
            let unknown = RelayError(
                .outcomeUnknown,
                "\(file.path): \(error) at the commit: it may be on disk or not; restart the service, which finds out",
                cause: error, mayHaveRun: true)
            throw fail(unknown)
        }
    }
}
