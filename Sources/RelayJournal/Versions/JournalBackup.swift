import CSQLite
import Glibc
import RelayCore

/// A copy of the whole journal in `DIRECTORY/backups`, made between two transactions.
///
/// It has its name only when it is whole, examined, and on disk.
struct JournalBackup {
    /// Of so many versions of one name the newest is kept.
    static let kept = 3
    private let directory: String
    private let folder: String
    private let name: String
    private let file: JournalFile
    private var path: String { "\(folder)/\(name)" }
    private var unfinished: String { "\(folder)/unfinished" }

    /// - Parameter tables: which tables are to be changed, in `[A-Za-z0-9_-]`.
    init(of file: JournalFile, before tables: String, version: Int) {
        self.file = file
        directory = file.path.lastIndex(of: "/").map { String(file.path[..<$0]) } ?? "."
        folder = directory + "/backups"
        // 2026-11-22T09-30-00.000000Z: a name for every file system.
        let time = "\(Timestamp.now)".map { $0 == ":" ? "-" : String($0) }.joined()
        name = "\(tables)-\(version)-\(time).sqlite"
    }
    /// Makes the copy, by the connection that writes. Returns its path.
    ///
    /// Throws `StorageFull`, or `Unavailable` with the message of the file system or of SQLite; the copy is removed
    /// then.
    func make(by database: Database) throws(RelayError) -> String {
        try prepare()
        do {
            try copy(by: database)
            try examine()
            try secure()
        } catch {
            for suffix in ["", "-journal", "-wal", "-shm"] { unlink(unfinished + suffix) }
            throw error
        }
        removeOld()
        return path
    }
    private func prepare() throws(RelayError) {
        if mkdir(folder, 0o700) != 0 && errno != EEXIST { throw refusal("make \(folder)", errno) }
        // Not what a link leads to, and nobody else's: a backup has all that the journal has.
        var status = stat()
        if lstat(folder, &status) != 0 { throw refusal("use \(folder)", errno) }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw RelayError(
                .unavailable,
                "\(folder) is no directory of this user's that only it can write: remove it, or run chmod 700 on it")
        }
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(unfinished + suffix) }
        // SQLite takes an empty file for a new one: made here, it is closed to others from its first moment.
        let descriptor = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw refusal("make \(unfinished)", errno) }
        close(descriptor)
    }
    private func copy(by database: Database) throws(RelayError) {
        do throws(SQLiteError) {
            try database.prepare("VACUUM INTO ?").run(.text(unfinished))
        } catch {
            throw refusal("copy the journal to \(unfinished)", error)
        }
    }
    /// Whether the copy is a whole journal, and can be read: every page and every row.
    private func examine() throws(RelayError) {
        let fault: String?
        do throws(SQLiteError) {
            let copy = try Database(unfinished, isReadOnly: true, isImmutable: true, vfs: file.vfs)
            fault = try JournalExamination(database: copy).fullContradiction { false }
        } catch {
            throw refusal("read the copy \(unfinished)", error)
        }
        guard let fault else { return }
        throw RelayError(
            .unavailable, "the copy of \(file.path) is not whole (\(fault)): look at the disk; nothing was changed")
    }
    /// Onto the disk, and only then under its name.
    private func secure() throws(RelayError) {
        try sync(unfinished, O_RDONLY)
        if rename(unfinished, path) != 0 { throw refusal("rename \(unfinished) to \(path)", errno) }
        do throws(RelayError) {
            try sync(folder, O_RDONLY | O_DIRECTORY)
            // The folder may be new. The journal's own directory may be reached by a link.
            try sync(directory + "/.", O_RDONLY | O_DIRECTORY)
        } catch {
            unlink(path)
            throw error
        }
    }
    private func sync(_ path: String, _ flags: Int32) throws(RelayError) {
        let descriptor = open(path, flags | O_NOFOLLOW | O_CLOEXEC)
        if descriptor < 0 { throw refusal("open \(path)", errno) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw refusal("sync \(path)", errno) }
    }
    /// Those of the same tables but the newest of each of the last versions. Failing that, they stay.
    ///
    /// This one is the newest, whatever the clock was before. A migration that fails is tried again at each start: the
    /// copies of that one version must not take the place of those from before it.
    private func removeOld() {
        guard let directory = opendir(folder) else { return }
        var names: [String] = []
        while let entry = readdir(directory) {
            let found = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                // The name ends with a NUL within the tuple that C's array is in Swift.
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(cString: $0)
                }
            }
            if isOfSameTables(found) { names.append(found) }
        }
        closedir(directory)
        // By time, which stands behind the version.
        names.sort { $0.suffix(Self.timeLength) < $1.suffix(Self.timeLength) }
        names.removeAll { $0 == name }
        names.append(name)
        var versions: Set<Substring> = []
        let kept = names.reversed().filter { versions.insert($0.dropLast(Self.timeLength + 1)).inserted }
        for old in Set(names).subtracting(kept.prefix(Self.kept)) { unlink("\(folder)/\(old)") }
    }
    private func isOfSameTables(_ other: String) -> Bool {
        let stem = name.dropLast(Self.timeLength + 1)
        guard let dash = stem.lastIndex(of: "-"), other.count > Self.timeLength + 1 else { return false }
        let own = name[...dash]
        guard other.hasPrefix(own), other.hasSuffix(".sqlite") else { return false }
        // "a" is not "a-1": between name and time there is the version alone.
        let version = other.dropFirst(own.count).dropLast(Self.timeLength + 1)
        return !version.isEmpty && version.allSatisfy { $0.isASCII && $0.isNumber }
    }
    /// 2026-11-22T09-30-00.000000Z.sqlite
    private static let timeLength = 34

    private func refusal(_ what: String, _ number: Int32) -> RelayError {
        let cause = SystemError(number)
        return RelayError(
            StorageTrouble(cause).isFull ? .storageFull : .unavailable, "cannot \(what): \(cause); nothing was changed",
            cause: cause)
    }
    private func refusal(_ what: String, _ error: SQLiteError) -> RelayError {
        RelayError(
            error.isFull ? .storageFull : .unavailable, "cannot \(what): \(error); nothing was changed", cause: error)
    }
}

extension JournalStorage {
    /// Copies the journal, between two transactions. Returns where.
    func backUp(before tables: String, version: Int) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            let isTaken = writer.submit(
                .call { engine in
                    continuation.resume(
                        with: Result { () throws(RelayError) in try engine.backUp(before: tables, version: version) })
                })
            if !isTaken { continuation.resume(throwing: writer.closed()) }
        }
    }
}
extension JournalEngine {
    fileprivate func backUp(before tables: String, version: Int) throws(RelayError) -> String {
        if failure != nil { throw unavailable() }
        return try JournalBackup(of: file, before: tables, version: version).make(by: database)
    }
}
