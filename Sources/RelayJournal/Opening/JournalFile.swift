import CSQLite
import Glibc
import RelayCore

/// DIRECTORY/journal.sqlite: how it is made, and what is refused.
struct JournalFile {
    let path: String
    let vfs: String?
    let marks: JournalMarks
    private var wal: String { path + "-wal" }
    /// What it is opened as; nil: as whatever it is, to be looked at.
    private let kind: Kind?
    enum Kind {
        /// A service's own.
        case service
        /// A mirror's.
        case replica
    }

    init(in directory: String, vfs: String?, as kind: Kind? = nil) {
        (path, self.vfs, marks) = (directory + "/journal.sqlite", vfs, JournalMarks(in: directory))
        self.kind = kind
    }

    /// A file of any name: a backup.
    init(at path: String, vfs: String?) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        (self.path, self.vfs, marks, kind) = (path, vfs, JournalMarks(in: folder), nil)
    }

    /// What was found before anything was written.
    enum State: Equatable {
        /// There is none yet.
        case new
        /// What a few look-ups show is in order.
        case examined
        /// SQLite has to undo a transaction of the file's first moments, before it can be read.
        case unfinished
    }

    /// Looks at the journal without writing anything, whatever it finds. What a full check alone shows it does not see.
    ///
    /// Throws `InvalidArgument` for a file of something else or of another version, `Unavailable` for a damaged one.
    func examine() throws -> State {
        try checkParts()
        if Self.size(path) ?? 0 == 0 { return .new }
        if try isUnfinished() { return .unfinished }
        return try look(isUnfinished: false) == 0 ? .new : .examined
    }
    /// A few look-ups: of which version the file is, 0 for a new one.
    ///
    /// - Parameter isUnfinished: SQLite undoes a transaction first, which writes to the file.
    private func look(isUnfinished: Bool) throws -> Int {
        let budget = StepBudget(size: size)
        do {
            let database = isUnfinished ? try recovering() : try connection(isLive: false)
            return try budget.watch(database) {
                try database.execute("BEGIN")
                let version = try identify(database)
                let examination = JournalExamination(database: database, budget: budget)
                if version > 0 {
                    if let fault = try examination.contradiction() { throw damaged(fault) }
                    try checkKind(database)
                }
                return version
            }
        } catch let error as SQLiteError {
            if budget.isSpent { throw damaged(StepBudget.fault) }
            if error.isContradiction { throw damaged("\(error)", cause: error) }
            throw refusal(error)
        }
    }
    /// That it is what it is opened as.
    private func checkKind(_ database: Database) throws {
        let isReplica = try database.integers("SELECT id FROM relay_replica") != nil
        switch kind {
        case .service where isReplica:
            throw RelayError(
                .invalidArgument,
                "\(path) is a mirror's: what it has was published on another host, and no service can add to it; give "
                    + "the service's journal another directory", cause: UnfitJournal.foreign)
        case .replica where !isReplica:
            guard let name = try database.texts("SELECT name FROM relay_interfaces LIMIT 1").first else { return }
            throw RelayError(
                .invalidArgument,
                "\(path) is the journal of a service that exports \(name), and no mirror's: give the mirror another "
                    + "directory", cause: UnfitJournal.foreign)
        case .service, .replica, nil: return
        }
    }
    private func recovering() throws(SQLiteError) -> Database {
        let database = try Database(path, isReadOnly: false, vfs: vfs)
        // An empty log that this begins goes with it.
        database.keepLogAtClose(walSize > 0)
        database.distrust()
        return database
    }
    /// A connection that leaves file and WAL as they are.
    ///
    /// - Parameter isLive: the journal is open to be written.
    func connection(isLive: Bool) throws(SQLiteError) -> Database {
        // Without a WAL none is made for it. With one, SQLite makes an index of it, in memory that is shared by a file.
        let isImmutable = !isLive && Self.size(wal) ?? 0 == 0
        let database = try Database(path, isReadOnly: true, isImmutable: isImmutable, vfs: vfs)
        database.keepLogAtClose(true)
        database.distrust()
        return database
    }
    /// Opens the file to be written, and makes it when there is none.
    ///
    /// Throws as `examine` does.
    func open(_ state: State, synchronous: EventJournal.Synchronous) throws -> Database {
        try make()
        do {
            if state == .unfinished { _ = try look(isUnfinished: true) }
            let hasLog = walSize > 0
            let secured = hasLog ? try LeftoverLog.secure(path, vfs: vfs) : nil
            defer { withExtendedLifetime(secured) {} }
            let database = try Database(path, isReadOnly: false, vfs: vfs)
            // A failure from here on leaves the WAL as it is; `JournalEngine.finish` removes it.
            database.keepLogAtClose(true)
            do {
                try prepare(database, try identify(database), synchronous)
            } catch {
                // A log that this began is empty: SQLite removes it, with its index.
                if !hasLog { database.keepLogAtClose(false) }
                throw error
            }
            return database
        } catch let error as SQLiteError {
            throw refusal(error)
        }
    }

    /// Looks at what SQLite would take for a new file: it deletes a WAL that stands beside an empty one.
    private func checkParts() throws(RelayError) {
        let (size, walSize) = (Self.size(path), Self.size(wal))
        if size ?? 0 == 0, let walSize, walSize > 0 {
            throw RelayError(
                .unavailable,
                "\(path) is \(size == nil ? "missing" : "empty") beside a \(wal) of \(walSize) bytes: the two were parted; "
                    + "put the file back, or restore both from a backup; to begin anew, move the -wal away",
                cause: UnfitJournal.damaged)
        }
        if let size, 1..<100 ~= size {
            // Too short for a header: SQLite would begin anew.
            throw damaged("it has \(size) bytes")
        }
        if size != nil, access(path, R_OK | W_OK) != 0 { throw DirectoryLock.refusal("cannot write \(path)", errno) }
    }
    /// Whether a transaction from before the WAL is to be undone. Of the journal's own files only: SQLite does it at
    /// the first look.
    private func isUnfinished() throws -> Bool {
        guard Self.size(path + "-journal") ?? 0 > 0 else { return false }
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 { throw DirectoryLock.refusal("cannot read \(path)", errno) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4)
        // Where SQLite has the application's number.
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 68) }
        let application = bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        if count == bytes.count, [0, JournalSchema.applicationID].contains(application) { return true }
        if application == JournalSchema.formerApplicationID { throw former }
        throw RelayError(
            .invalidArgument,
            "\(path) is a file of something else (application_id \(application)), which was left in a transaction: move it "
                + "and its -journal away, or give the journal another directory",
            cause: UnfitJournal.foreign)
    }
    private func make() throws(RelayError) {
        if Self.size(path) != nil { return }
        // Ours alone, in whatever directory: SQLite gives its other files the same mode.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw DirectoryLock.refusal("cannot make \(path)", errno) }
        close(descriptor)
    }
    private static let suffixes = ["-journal", "-wal", "-shm", ""]
    /// Whether nothing of it is there.
    var isAbsent: Bool { Self.suffixes.allSatisfy { Self.size(path + $0) == nil } }
    /// Undoes that it was made. The directory is locked, and no connection is open.
    func remove() { for suffix in Self.suffixes { unlink(path + suffix) } }
    var walSize: Int { Self.size(wal) ?? 0 }
    /// Whether the last run's log is not there, and with it commits that nobody has moved into the file.
    var lacksLog: Bool { Self.size(wal) == nil && marks.expectsLog(path) }
    /// Whether there is a log, or its index, be it empty.
    var hasLog: Bool { ["-wal", "-shm"].contains { Self.size(path + $0) != nil } }
    /// Undoes that an opening began a log and its index, where neither came to hold anything: nobody uses such an index.
    func removeEmptyLog() {
        if walSize > 0 || Self.size(path + "-shm") ?? 0 >= Self.indexSize { return }
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
    }
    /// What SQLite adds to a log's index at a time.
    private static let indexSize = 32 << 10
    /// Of the file and its WAL, in bytes.
    var size: Int { (Self.size(path) ?? 0) + walSize }
    private static func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Which version it is of; 0 for a new file.
    func identify(_ database: Database) throws -> Int {
        // The first look at the file: SQLite refuses one that is no database here.
        let application = try database.integers("PRAGMA application_id")?.first ?? 0
        let version = Int(clamping: try database.integers("PRAGMA user_version")?.first ?? 0)
        let tables = try database.texts("SELECT name FROM sqlite_master WHERE type = 'table'")
        if application == 0 && version == 0 && tables.isEmpty { return 0 }
        if application == JournalSchema.formerApplicationID { throw former }
        if application != JournalSchema.applicationID {
            throw RelayError(
                .invalidArgument,
                "\(path) is an SQLite file of something else (application_id \(application), \(tables.count) tables): "
                    + "move it away, or give the journal another directory",
                cause: UnfitJournal.foreign)
        }
        if version > JournalSchema.version {
            throw RelayError(
                .invalidArgument,
                "\(path) is of version \(version), made by a newer release; this one knows version "
                    + "\(JournalSchema.version): update this program, or restore a backup of its own time",
                cause: UnfitJournal.newer)
        }
        if version < 1 || !tables.contains("relay_events") { throw damaged("it has no tables of the journal's") }
        // Before anything is read by such a function.
        if let shadow = try JournalSchema.shadows(in: "main", of: database).first { throw damaged(shadow) }
        if let reference = try JournalSchema.references(in: "main", of: database).first {
            throw RelayError(
                .invalidArgument,
                "\(path): \(reference), so that whatever the journal changes would depend on it: end the service, make that "
                    + "table anew without the key (sqlite3), and start again",
                cause: UnfitJournal.damaged)
        }
        return version
    }
    private func prepare(_ database: Database, _ version: Int, _ synchronous: EventJournal.Synchronous) throws {
        if version == 0 {
            // Takes effect only before the first table is made.
            try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        }
        // The tables are made before the WAL: the file alone is a whole journal ever after.
        if version == 0 { try JournalSchema.make(in: database) }
        // Looked at before: where there is no row, there is nothing else, either.
        if kind == .replica { try database.execute("INSERT OR IGNORE INTO relay_replica VALUES (1)") }
        let mode = try database.texts("PRAGMA journal_mode = WAL").first
        if mode != "wal" {
            throw RelayError(
                .unavailable, "\(path): its file system allows no WAL (\(mode ?? "nothing")): use a local one")
        }
        try database.execute(
            """
            PRAGMA synchronous = \(synchronous.pragma);
            PRAGMA foreign_keys = ON;
            PRAGMA temp_store = MEMORY;
            PRAGMA mmap_size = 0;
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA journal_size_limit = \(JournalEngine.walLimit);
            PRAGMA cache_size = -16000;
            """)
    }

    // MARK: Damage

    private var former: RelayError {
        RelayError(
            .invalidArgument,
            "\(path) has the form of an earlier program, which this one does not read: move it and its -wal away to begin "
                + "anew, or keep the earlier program to read it",
            cause: UnfitJournal.older)
    }

    func damaged(_ what: String, cause: any Error = UnfitJournal.damaged) -> RelayError {
        RelayError(
            .unavailable,
            "\(path) is damaged (\(what)): restore it from a backup, without its -wal; to begin anew, move both away",
            cause: cause)
    }
    /// What a check of the running service found.
    func found(_ what: String) -> RelayError {
        RelayError(
            .unavailable,
            "\(path) is damaged (\(what)), as a check beside the running service found: nothing more is committed; restore it "
                + "from a backup, without its -wal",
            cause: UnfitJournal.damaged)
    }
    /// What SQLite's refusal at the start means.
    func refusal(_ error: SQLiteError) -> RelayError {
        // No file of the journal's has a value that is too long.
        if error.isDamage || error.primaryCode == SQLITE_TOOBIG { return damaged("\(error)", cause: error) }
        return error.asRelayError("cannot open \(path)")
    }
}
