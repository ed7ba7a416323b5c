import CSQLite
import Glibc
import RelayCore

/// DIRECTORY/journal.sqlite: how it is made, and what is refused.
struct JournalFile {
    let path: String
    let vfs: String?
    private var wal: String { path + "-wal" }

    init(in directory: String, vfs: String?) { (path, self.vfs) = (directory + "/journal.sqlite", vfs) }

    /// Opens the file to be written, makes it when there is none, and brings it to this version.
    ///
    /// Throws `InvalidArgument` for a file of something else or of a newer version, `Unavailable` for a damaged one: it is as
    /// it was then.
    func open(synchronous: EventJournal.Synchronous) throws -> Database {
        try checkParts()
        do {
            if Self.size(wal) ?? 0 > 0 { try LeftoverLog.secure(path, vfs: vfs) }
            let database = try Database(path, isReadOnly: false, vfs: vfs)
            // Whoever fails from here on leaves the WAL as it is. `JournalEngine.finish` says when it is to go.
            database.keepLogAtClose(true)
            let version = try identify(database)
            try prepare(database, version, synchronous)
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
                cause: UnfitFile.damaged)
        }
        if let size, 1..<100 ~= size {
            // Too short for a header: SQLite would begin anew.
            throw damaged("it has \(size) bytes")
        }
        if size == nil {
            // Ours alone, in whatever directory: SQLite gives its other files the same mode.
            let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            if descriptor < 0 { throw DirectoryLock.refusal("cannot make \(path)", errno) }
            close(descriptor)
        } else if access(path, R_OK | W_OK) != 0 {
            throw DirectoryLock.refusal("cannot write \(path)", errno)
        }
    }
    private static func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Which version it is of; 0 for a new file.
    private func identify(_ database: Database) throws -> Int {
        // The first look at the file: SQLite says here when it is none of its own.
        let application = try database.integers("PRAGMA application_id")?.first ?? 0
        let version = Int(clamping: try database.integers("PRAGMA user_version")?.first ?? 0)
        let tables = try database.texts("SELECT name FROM sqlite_master WHERE type = 'table'")
        if application == 0 && version == 0 && tables.isEmpty { return 0 }
        if application != JournalSchema.applicationID {
            throw RelayError(
                .invalidArgument,
                "\(path) is an SQLite file of something else (application_id \(application), \(tables.count) tables): "
                    + "move it away, or give the journal another directory",
                cause: UnfitFile.foreign)
        }
        if version > JournalSchema.version {
            throw RelayError(
                .invalidArgument,
                "\(path) is of version \(version), made by a newer release; this one knows up to "
                    + "\(JournalSchema.version): update this program, or restore a backup of its own time",
                cause: UnfitFile.newer)
        }
        if version < 1 || !tables.contains("relay_events") { throw damaged("it has no tables of the journal's") }
        return version
    }
    private func prepare(_ database: Database, _ version: Int, _ synchronous: EventJournal.Synchronous) throws {
        if version == 0 {
            // Has to be said before there is a table.
            try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        } else {
            try checkPages(database)
        }
        // The first tables are made before the WAL: the file alone is a whole journal ever after.
        try JournalSchema.migrate(database, from: version)
        let mode = try database.texts("PRAGMA journal_mode = WAL").first
        if mode != "wal" {
            throw RelayError(
                .unavailable, "\(path): its file system allows no WAL (\(mode ?? "nothing")): use a local one")
        }
        try database.execute(
            """
            PRAGMA synchronous = \(synchronous.pragma);
            PRAGMA foreign_keys = ON;
            PRAGMA mmap_size = 0;
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA journal_size_limit = \(JournalEngine.walLimit);
            PRAGMA cache_size = -16000;
            """)
        if version > 0 { try checkContent(database) }
    }

    // MARK: Damage

    /// Every page, and that the rows are in order.
    private func checkPages(_ database: Database) throws {
        let faults = try database.texts("PRAGMA quick_check(1)")
        if faults != ["ok"] { throw damaged(faults.first ?? "quick_check says nothing") }
    }
    /// That events and counters tell the same: pages of different times can be sound each by itself.
    private func checkContent(_ database: Database) throws {
        var fault: String?
        try database.prepare(
            """
            SELECT i.name, i.sequence, i.events, i.bytes, count(e.sequence), min(e.sequence), max(e.sequence),
                total(length(e.body)), i.id
            FROM relay_interfaces i LEFT JOIN relay_events e ON e.interface = i.id GROUP BY i.id
            """
        ).rows([]) { row in
            let (sequence, events, bytes) = (row.integer(1), row.integer(2), row.integer(3))
            let isWhole =
                events == row.integer(4) && bytes == row.integer(7)
                && (events == 0 || row.integer(6) == sequence && row.integer(5) == sequence - events + 1)
            if !isWhole { fault = "\(row.text(0)) has \(row.integer(4)) events where its counters say \(events)" }
        }
        if let fault { throw damaged(fault) }
    }
    func damaged(_ what: String, cause: any Error = UnfitFile.damaged) -> RelayError {
        RelayError(
            .unavailable,
            "\(path) is damaged (\(what)): restore it from a backup, without its -wal; to begin anew, move both away",
            cause: cause)
    }
    /// What SQLite's refusal at the start means.
    func refusal(_ error: SQLiteError) -> RelayError {
        if error.isDamage { return damaged("\(error)", cause: error) }
        return error.asRelayError("cannot open \(path)")
    }
}
