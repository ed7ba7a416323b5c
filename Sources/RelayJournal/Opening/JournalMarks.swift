import CSQLite
import Glibc
import RelayCore

/// Small files beside the journal, which record what the next start can skip, and what it must do.
///
/// - `clean`: the service ended in good order, every page and row was sound, and the journal is the file that it
///   describes. It goes before anything is written, so that no run that ended otherwise leaves it. Another program's
///   write changes the file, or leaves a WAL beside it: then it describes another file. A start sets it aside as
///   `clean.held`, which takes no room, and puts it back if it ends without having written.
/// - `open`: commits are in the log alone. It describes the journal's file, which has what came before them. It is not
///   synced: without it, a missing log is not noticed.
/// - `damaged`: a check of the running service found what only a full check finds. The next start makes one before
///   anything else.
struct JournalMarks: Sendable {
    private let directory: String
    private var clean: String { directory + "/clean" }
    private var held: String { directory + "/clean.held" }
    private var damaged: String { directory + "/damaged" }
    private var opened: String { directory + "/open" }

    init(in directory: String) { self.directory = directory }

    /// Whether the journal is as a service left it that had seen all of it.
    ///
    /// - Parameter isHeld: this start has set the mark aside.
    func isClean(_ path: String, isHeld: Bool = false) -> Bool {
        guard let text = Self.read(isHeld ? held : clean), let identity = Self.identity(of: path) else { return false }
        return text == identity
    }
    /// What a check found; nil when the last one found nothing.
    var finding: String? { Self.read(damaged) }

    /// To be called when the journal is closed, and whole.
    func setClean(_ path: String) {
        // Without it the next start looks at everything again, beside its work.
        guard let identity = Self.identity(of: path) else { return }
        _ = write(identity, to: clean)
        dropClean()
    }
    /// Undoes that the directory has had a journal.
    func removeAll() { for path in [clean, held, damaged, opened] { unlink(path) } }

    /// To be called after a commit, or when a part of the log was moved into the journal's file.
    ///
    /// - Parameter database: has the file open, which is read by SQLite's own descriptor: when any other one of this
    ///   process is closed, the kernel drops all locks that SQLite has on the file, and the next program that closes it
    ///   removes the log under this one.
    func setOpen(_ path: String, on database: Database) {
        var (header, status) = ([UInt8](repeating: 0, count: Self.headerSize), stat())
        guard let file = FileBelow(SQLITE_FCNTL_FILE_POINTER, of: database), (try? file.read(&header, at: 0)) != nil,
            lstat(path, &status) == 0
        else { return }
        _ = write(Self.identity(header, status), to: opened, isSynced: false)
    }
    /// To be called when all of the log was moved.
    func removeOpen() { unlink(opened) }
    /// Whether commits are missing with a log that is not there: nobody has moved it into the file.
    func expectsLog(_ path: String) -> Bool {
        guard let text = Self.read(opened), let identity = Self.identity(of: path) else { return false }
        // In another directory the file has another number.
        func withoutNumber(_ text: String) -> [Substring] {
            text.split(separator: "\n").filter { !$0.hasPrefix("file ") }
        }
        return withoutNumber(text) == withoutNumber(identity)
    }
    func setDamaged(_ what: String) { _ = write(what, to: damaged) }
    /// Before the journal is written: from now on it may be another one.
    func holdClean() throws(RelayError) {
        // One that is left there is of a run that did not end in good order.
        try remove(held)
        if rename(clean, held) != 0 {
            if errno == ENOENT { return }
            throw DirectoryLock.refusal("cannot move \(clean)", errno)
        }
        if !syncDirectory() { throw DirectoryLock.refusal("cannot sync \(directory)", errno) }
    }
    /// The journal is written now: the mark that was set aside describes another one.
    func dropClean() { unlink(held) }
    /// To be called when the journal is closed: puts the mark back, if it still describes the journal. That takes no room.
    func restoreClean(_ path: String) {
        guard let text = Self.read(held) else { return }
        if Self.identity(of: path) != text {
            unlink(held)
        } else if rename(held, clean) == 0 {
            _ = syncDirectory()
        }
    }
    func removeDamaged() throws(RelayError) { try remove(damaged) }

    /// Size, time, number and counters of a file: what changes with any write, and with any other file in its place.
    ///
    /// Not while this process has a connection to it: see `setOpen`.
    private static func identity(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        var header = [UInt8](repeating: 0, count: headerSize)
        let count = header.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == header.count, fstat(descriptor, &status) == 0 else { return nil }
        return identity(header, status)
    }
    private static let headerSize = 100
    private static func identity(_ header: [UInt8], _ status: stat) -> String {
        // SQLite's change counter and the version that it is valid for.
        let counters = (header[24..<28] + header[92..<100]).map { String($0, radix: 16) }.joined(separator: " ")
        let time = status.st_mtim
        return "size \(status.st_size)\nmodified \(time.tv_sec) s, \(time.tv_nsec) ns\nfile \(status.st_ino)\n"
            + "counters \(counters)\n"
    }
    private static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
    /// On disk as a whole, or not at all. Returns whether it is.
    private func write(_ text: String, to path: String, isSynced: Bool = true) -> Bool {
        let part = path + ".new"
        unlink(part)
        let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        let bytes = Array(text.utf8.prefix(4_096))
        let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        let isWhole = count == bytes.count && (!isSynced || fsync(descriptor) == 0)
        close(descriptor)
        guard isWhole, rename(part, path) == 0 else {
            unlink(part)
            return false
        }
        return !isSynced || syncDirectory()
    }
    private func remove(_ path: String) throws(RelayError) {
        if unlink(path) != 0 {
            if errno == ENOENT { return }
            throw DirectoryLock.refusal("cannot remove \(path)", errno)
        }
        if !syncDirectory() { throw DirectoryLock.refusal("cannot sync \(directory)", errno) }
    }
    private func syncDirectory() -> Bool {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Some file systems cannot sync a directory, and need not.
        return fsync(descriptor) == 0 || errno == EINVAL
    }
}
