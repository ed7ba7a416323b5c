import Glibc
import RelayCore

/// The journal's directory, as the one process and the one journal that have it.
struct DirectoryLock: ~Copyable {
    let directory: String
    private let descriptor: Int32

    /// Makes the directory, for its user alone, when it is missing, looks at what is in it, and takes its lock.
    ///
    /// Throws `Conflict` when another journal has it, `InvalidArgument` when the directory or a file in it is of a kind
    /// that would let others in, `NotPermitted` or `Unavailable` with the kernel's error.
    init(_ directory: String) throws(RelayError) {
        let descriptor = try Self.take(directory)
        (self.directory, self.descriptor) = (directory, descriptor)
    }
    /// Undoes that the directory has had a journal. Who waits for the file looks whether it is still there.
    borrowing func remove() { unlink(directory + "/lock") }
    deinit {
        // Not by closing alone: a child that was forked a moment ago, and has not become its program yet, has the file
        // open too.
        while flock(descriptor, LOCK_UN) != 0 && errno == EINTR {}
        close(descriptor)
    }

    private static func take(_ directory: String) throws(RelayError) -> Int32 {
        try makeDirectory(directory)
        let folder = try openDirectory(directory)
        defer { close(folder) }
        for name in names { try checkKind(name, in: folder, directory) }
        let path = directory + "/lock"
        // Neither through a link, which would have another file cut, nor waiting for a FIFO's other end.
        let descriptor = openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        if descriptor < 0 { throw refusal("cannot open \(path)", errno) }
        var status = stat()
        if fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFREG {
            close(descriptor)
            throw RelayError(.invalidArgument, "\(path) is no regular file: remove it")
        }
        // Belongs to the open file: a second journal of this process is kept out too, and the kernel gives it back.
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let failure = errno
            let owner = holder(descriptor)
            close(descriptor)
            if failure != EWOULDBLOCK { throw refusal("cannot lock \(path)", failure) }
            throw RelayError(.conflict, "\(directory) is in use by \(owner), or give this journal another directory")
        }
        var named = stat()
        if fstatat(folder, "lock", &named, AT_SYMLINK_NOFOLLOW) != 0 || named.st_ino != status.st_ino {
            // Removed with a journal that was never used.
            close(descriptor)
            return try take(directory)
        }
        _ = ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        // For people, and for the message above: without it the lock holds just as well.
        _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        return descriptor
    }

    /// Who has the lock, and how it gives it back.
    private static func holder(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        let text = String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard let process = Int32(text), process > 0 else { return "another process: end its service" }
        if process == getpid() { return "another journal of this process: close that one" }
        return "process \(process): end that service"
    }
    /// All that a journal opens in its directory.
    static let names = [
        "lock", "reserve", "clean", "clean.new", "clean.held", "damaged", "damaged.new", "open", "open.new",
        "journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm", "journal.sqlite-journal",
    ]
    /// Opens the directory, if only its user and root can put anything there.
    private static func openDirectory(_ path: String) throws(RelayError) -> Int32 {
        var status = stat()
        // A link is as good as what it names if its owner is trusted; not one that another user put in the way.
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, !isTrusted(status.st_uid) {
            throw RelayError(
                .invalidArgument,
                "\(path) is a link of user \(status.st_uid), who could turn it elsewhere: give the journal the directory itself"
            )
        }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { throw refusal("cannot open the directory \(path)", errno) }
        var fault: String?
        if fstat(descriptor, &status) != 0 {
            fault = "cannot be examined: \(SystemError(errno))"
        } else if !isTrusted(status.st_uid) {
            fault =
                "belongs to user \(status.st_uid), who could replace the journal: run the service as that user, or give the "
                + "directory to user \(geteuid()) (chown)"
        } else if status.st_mode & 0o022 != 0 {
            fault =
                "can be written by others (mode \(String(status.st_mode & 0o7777, radix: 8))), who could replace the journal: "
                + "chmod go-w \(path)"
        }
        guard let fault else { return descriptor }
        close(descriptor)
        throw RelayError(.invalidArgument, "the directory \(path) \(fault)")
    }
    private static func isTrusted(_ user: uid_t) -> Bool { user == geteuid() || user == 0 }
    /// What is there must be a file, and under one name only: SQLite would have a log for each name.
    private static func checkKind(_ name: String, in folder: Int32, _ directory: String) throws(RelayError) {
        var status = stat()
        if fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 { return }
        let path = "\(directory)/\(name)"
        switch status.st_mode & S_IFMT {
        case S_IFREG where status.st_nlink <= 1:
            if !isTrusted(status.st_uid) {
                throw RelayError(
                    .invalidArgument,
                    "\(path) belongs to user \(status.st_uid), who could change the journal: chown \(geteuid()) \(path), if its "
                        + "content is known to be good")
            }
            if status.st_mode & 0o022 != 0 {
                throw RelayError(
                    .invalidArgument,
                    "\(path) can be written by others (mode \(String(status.st_mode & 0o7777, radix: 8))), who could change the "
                        + "journal: chmod go-w \(path), if its content is known to be good")
            }
        case S_IFREG:
            throw RelayError(
                .invalidArgument,
                "\(path) has \(status.st_nlink) names (hard links): leave it this one, or put a copy in its place")
        case S_IFLNK:
            throw RelayError(
                .invalidArgument,
                "\(path) is a symbolic link: put the file itself there, or give the journal the directory that has it")
        default: throw RelayError(.invalidArgument, "\(path) is no regular file: move it away")
        }
    }
    /// Makes a directory and those on the way to it, each on the disk in the one that has it.
    ///
    /// - Parameter sync: syncs the directory that has a path; returns the kernel's error, or 0.
    static func makeDirectory(
        _ path: String, sync: (String) -> Int32 = { FolderSync.parent(of: $0) }
    ) throws(RelayError) {
        var status = stat()
        if stat(path, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR { return }
            throw RelayError(.invalidArgument, "\(path) is no directory: give the journal one of its own")
        }
        // A shell makes the user's folder of it, and nobody else does.
        if path == "~" {
            throw RelayError(.invalidArgument, "'~' is no folder here: give the journal the whole path")
        }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try makeDirectory(String(path[..<slash]), sync: sync)
        }
        if mkdir(path, 0o700) != 0 {
            if errno == EEXIST { return }
            throw refusal("cannot make the directory \(path)", errno)
        }
        let failure = sync(path)
        if failure != 0 { throw refusal("cannot sync the directory that has \(path)", failure) }
    }
    static func refusal(_ what: String, _ failure: Int32) -> RelayError {
        let cause = SystemError(failure)
        return switch failure {
        case EACCES, EPERM:
            RelayError(
                .notPermitted, "\(what): \(cause); let this user write there, or give another directory", cause: cause)
        // What may be over at the next start.
        case ENOSPC, EDQUOT, EFBIG, EROFS:
            RelayError(
                StorageTrouble(cause).code, "\(what): \(cause); \(StorageTrouble(cause).advice)", cause: cause)
        default: RelayError(.unavailable, "\(what): \(cause)", cause: cause)
        }
    }
}
