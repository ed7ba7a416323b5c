import CRelayShims
import CSQLite
import Glibc
import RelayCore

/// Checks a whole journal, or copies it, whether or not a service uses it.
///
/// An inspection never writes to the journal, and never delays the service. While it reads, the service's WAL grows.
///
/// - Isolation: from any thread. The calling thread reads, and waits for the disk.
/// - Cancellation: when its task is cancelled, an inspection throws `.cancelled` and leaves no file behind.
package struct JournalInspection: Sendable {
    /// How much a journal contains.
    package struct Summary: Hashable, Sendable {
        /// How many interfaces services have exported with this journal.
        package let interfaces: Int
        /// How many events it keeps.
        package let events: Int
        /// The bytes of the file.
        package let bytes: Int
    }
    /// The progress of a check or a copy, for people who wait.
    package enum Progress: Hashable, Sendable {
        /// Pages are copied.
        case copying(done: Int, total: Int)
        /// SQLite reads each page. It does not report how many are left.
        case checkingPages
        /// Events are read. The numbers are approximate.
        case checkingEvents(done: Int, total: Int)
    }
    /// Pages that are copied between two looks at whether it is to end.
    private static let step: Int32 = 1_024

    /// The file of the journal.
    package let path: String
    private var file: JournalFile { JournalFile(at: path, vfs: nil) }

    /// Inspects a journal's file, for example a copy.
    ///
    /// - Parameter path: the path of the file.
    package init(file path: String) { self.path = path }
    /// Inspects the journal in a directory.
    ///
    /// - Parameter directory: the directory of an ``EventJournal``.
    package init(directory: String) { path = JournalFile(in: directory, vfs: nil).path }

    /// Reads every page and every row, in the state of one moment.
    ///
    /// - Parameter report: is called with the progress from time to time.
    /// - Returns: how much the journal contains.
    /// - Throws: `.unavailable` for a damaged file, `.invalidArgument` for another program's file
    ///   or one of a newer version, `.notFound` if there is none, `.cancelled` if the task was cancelled.
    package func check(_ report: (Progress) -> Void = { _ in }) throws -> Summary {
        try opening { try look { database in try Self.check(database, file, report) } }
    }

    /// Copies the journal as of one moment, checks the copy, and gives it its name when it is whole and on the disk.
    ///
    /// - Parameter target: the path of a file that does not exist yet. Only its user will be able to read it.
    /// - Parameter report: is called with the progress from time to time.
    /// - Returns: how much the copy contains.
    /// - Throws: as ``check(_:)``; `.conflict` if the file exists, `.storageFull` if there is no room. No file is left
    ///   then.
    package func copy(to target: String, _ report: (Progress) -> Void = { _ in }) throws -> Summary {
        try opening { try copyAndCheck(target, report) }
    }
    private func copyAndCheck(_ target: String, _ report: (Progress) -> Void) throws -> Summary {
        var status = stat()
        if lstat(target, &status) == 0 {
            throw RelayError(.conflict, "\(target) is there already: a backup replaces nothing; name another file")
        }
        if isOwnName(target) {
            throw RelayError(
                .conflict, "\(target) is a name that the journal itself uses: name a file in another folder")
        }
        // Of no name that another user could guess, and put a file of SQLite's beside it: the folder may be anybody's.
        let unfinished = "\(target).\(String(UInt64.random(in: 0...(.max)), radix: 36)).unfinished"
        // SQLite takes an empty file for a new one: made here, it is closed to others from its first moment.
        let descriptor = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw Self.refusal(ofMaking: target, errno) }
        close(descriptor)
        do {
            try look { database in
                // Before anything is copied: a file of something else is no journal.
                _ = try file.identify(database)
                try Self.copy(database, to: unfinished, report)
            }
            let summary = try JournalInspection(file: unfinished).check(report)
            try Self.name(unfinished, target)
            return summary
        } catch {
            for suffix in ["", "-journal", "-wal", "-shm"] { unlink(unfinished + suffix) }
            // The unfinished copy's name means nothing to anybody.
            guard let error = error as? RelayError, ![.cancelled, .notFound].contains(error.code) else { throw error }
            let name = UnfitJournal.explains(error) ? path : target
            let isFull = error.code == .storageFull && StorageTrouble(causing: error)?.system.code ?? ENOSPC == ENOSPC
            let need =
                isFull
                ? ": one needs \(DiskRoom.text(file.size))\(DiskRoom.note(at: Self.folder(of: target)))" : ""
            let text =
                need.isEmpty ? error.message.replacing(unfinished, with: name) : "the disk of \(target) is full"
            throw RelayError(error.code, "\(text); no backup was made\(need)", cause: error.cause)
        }
    }
    /// Whether it would be taken for a part of the journal, such as its log.
    private func isOwnName(_ target: String) -> Bool {
        let name = target.lastIndex(of: "/").map { String(target[target.index(after: $0)...]) } ?? target
        guard DirectoryLock.names.contains(name) else { return false }
        let folders = [target, path].map { FileMark(Self.folder(of: $0) + ".") }
        return folders[0] != nil && folders[0]?.isSameFile(as: folders[1]) == true
    }
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    }
    private static func refusal(ofMaking target: String, _ number: Int32) -> RelayError {
        let what = "make the backup \(target)"
        switch number {
        case ENOENT, ENOTDIR: return refusal(what, number, ": make its folder first, or name another file")
        case EACCES:
            let folder = folder(of: target)
            let barrier = FileBarrier(before: folder, reading: W_OK | X_OK).map { ": \($0)" } ?? ""
            return refusal(what, number, barrier + "; or name a file in another folder")
        case ENOSPC, EDQUOT, EFBIG:
            return refusal(what, number, "; make room on its file system, or name a file on another")
        default: return refusal(what, number, "; name a file in another folder")
        }
    }

    // MARK: Reading

    /// A file that nobody writes is read as it is; one with a log, beside its writer. Which of both it is can change.
    private func look<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let (size, isFile) = FileMark(path).map { ($0.size, $0.isFile) } ?? (nil, true)
        // Before it is said that there is none: it may be where this user may not look.
        if let barrier = FileBarrier(before: path) { throw Self.closed(path, barrier) }
        guard let size else {
            throw RelayError(.notFound, "there is no journal at \(path): name its directory with --state-directory DIR")
        }
        guard isFile else {
            throw RelayError(
                .notFound, "\(path) is no file: name the journal itself, or its directory with --state-directory DIR")
        }
        if size == 0 { throw RelayError(.notFound, "\(path) is empty: it is no journal") }
        var isLive = file.walSize > 0
        while true {
            let mark = FileMark(path)
            let result = Swift.Result { try attempt(isLive, body) }
            // A service has begun meanwhile: what was read may be of two moments.
            let isSame = file.walSize == 0 && FileMark(path) == mark
            if isLive || isSame { return try result.get() }
            isLive = true
        }
    }
    private func attempt<Result>(_ isLive: Bool, _ body: (Database) throws -> Result) throws -> Result {
        let budget = StepBudget(size: file.size) { Task.isCancelled }
        do {
            let database = try file.connection(isLive: isLive)
            return try budget.watch(database) {
                try database.execute("BEGIN")
                return try body(database)
            }
        } catch let error as SQLiteError {
            if Task.isCancelled { throw Self.cancelled }
            if budget.isSpent { throw file.damaged(StepBudget.fault) }
            if error.isContradiction || error.isDamage { throw file.damaged("\(error)", cause: error) }
            // Beside a writer, SQLite locks what it reads, in a file that it may have to write.
            if [SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM].contains(error.primaryCode),
                let barrier = FileBarrier(before: path + "-shm", reading: R_OK | W_OK)
                    ?? FileBarrier(before: Self.folder(of: path), reading: W_OK | X_OK)
            {
                throw Self.closed(path, barrier, cause: error)
            }
            throw error.asRelayError("cannot read \(path)")
        }
    }
    private static func closed(
        _ path: String, _ barrier: FileBarrier, cause: any Error = SystemError(EACCES)
    ) -> RelayError {
        RelayError(.notPermitted, "the journal \(path) may not be read: \(barrier)", cause: cause)
    }
    private static var cancelled: RelayError { RelayError(.cancelled, "ended before it was done; nothing was changed") }

    private static func check(_ database: Database, _ file: JournalFile, _ report: (Progress) -> Void) throws -> Summary
    {
        _ = try file.identify(database)
        if let fault = try JournalExamination(database: database).disguise() { throw file.damaged(fault) }
        let counts = try database.integers("SELECT count(*), coalesce(sum(events), 0) FROM relay_interfaces")
        let (interfaces, events) = (Int(clamping: counts?[0] ?? 0), Int(clamping: counts?[1] ?? 0))
        report(.checkingPages)
        var looks = 0
        let fault = try JournalExamination(database: database).fullContradiction {
            report(.checkingEvents(done: min(looks * 4_096, events), total: events))
            looks += 1
            return Task.isCancelled
        }
        if Task.isCancelled { throw cancelled }
        if let fault { throw file.damaged(fault) }
        return Summary(interfaces: interfaces, events: events, bytes: file.size)
    }

    // MARK: Copying

    /// By SQLite's own means for that. The transaction that reads holds the moment: commits do not start it over.
    private static func copy(_ source: Database, to path: String, _ report: (Progress) -> Void) throws {
        let target = try Database(path, isReadOnly: false, vfs: nil)
        // One sync at the end: a copy that is not whole has no name.
        try target.execute("PRAGMA synchronous = OFF")
        guard let backup = sqlite3_backup_init(target.handle, "main", source.handle, "main") else {
            throw SQLiteError(sqlite3_extended_errcode(target.handle), of: target.handle)
        }
        var code = SQLITE_OK
        repeat {
            if Task.isCancelled {
                sqlite3_backup_finish(backup)
                throw cancelled
            }
            code = sqlite3_backup_step(backup, step)
            let total = Int(sqlite3_backup_pagecount(backup))
            report(.copying(done: total - Int(sqlite3_backup_remaining(backup)), total: total))
            if code == SQLITE_BUSY || code == SQLITE_LOCKED { usleep(10_000) }
        } while [SQLITE_OK, SQLITE_BUSY, SQLITE_LOCKED].contains(code)
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else {
            // The source's, or the target's.
            let number = code & 0xFF == SQLITE_IOERR ? sqlite3_system_errno(target.handle) : 0
            let error = SQLiteError(
                code: code, message: String(cString: sqlite3_errstr(code)),
                system: number == 0 ? nil : SystemError(number))
            if Task.isCancelled { throw cancelled }
            if error.isDamage { throw error }
            throw error.asRelayError("cannot copy the journal to \(path)")
        }
    }
    /// Onto the disk, and only then under its name.
    ///
    /// - Parameter link: link(2), which unlike rename(2) replaces nothing.
    static func name(
        _ unfinished: String, _ target: String, link: (String, String) -> Int32 = { Glibc.link($0, $1) }
    ) throws(RelayError) {
        try sync(unfinished, O_RDONLY)
        if link(unfinished, target) == 0 {
            unlink(unfinished)
        } else {
            var number = errno
            // A file system without hard links, such as vfat, can rename so.
            if [EPERM, EOPNOTSUPP].contains(number) { number = relay_rename_to_free_name(unfinished, target) }
            if number != 0 { throw refusal("name the backup \(target)", number) }
        }
        do throws(RelayError) { try sync(folder(of: target) + ".", O_RDONLY | O_DIRECTORY) } catch {
            // It may be gone after a power cut: none is made, rather than one that is not sure.
            unlink(target)
            throw error
        }
    }
    private static func sync(_ path: String, _ flags: Int32) throws(RelayError) {
        let descriptor = open(path, flags | O_CLOEXEC)
        if descriptor < 0 { throw refusal("open \(path)", errno) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw refusal("sync \(path)", errno) }
    }
    private static func refusal(_ what: String, _ number: Int32, _ advice: String = "") -> RelayError {
        let cause = SystemError(number)
        let code = StorageTrouble(cause).isFull ? RelayError.Code.storageFull : .unavailable
        return RelayError(code, "cannot \(what): \(cause)\(advice)", cause: cause)
    }
}

/// Whether a file is still the same, as far as its times tell.
private struct FileMark: Equatable {
    let device, inode: UInt64
    let size: Int
    let isFile: Bool
    let seconds, nanoseconds: Int

    func isSameFile(as other: Self?) -> Bool { device == other?.device && inode == other?.inode }
    /// nil: there is none.
    init?(_ path: String) {
        var status = Glibc.stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int(status.st_size))
        isFile = status.st_mode & S_IFMT == S_IFREG
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}
