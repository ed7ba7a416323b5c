import Glibc
import RelayCore

/// The journal's directory, as the one process and the one journal that have it.
struct DirectoryLock: ~Copyable {
    let directory: String
    private let descriptor: Int32

    /// Makes the directory, for its user alone, when it is missing, and takes its lock.
    ///
    /// Throws `Conflict` when another journal has it, `NotPermitted` or `Unavailable` with what the kernel said.
    init(_ directory: String) throws(RelayError) {
        let descriptor = try Self.take(directory)
        (self.directory, self.descriptor) = (directory, descriptor)
    }
    deinit {
        // Not by closing alone: a child that was forked a moment ago, and has not become its program yet, has the file open too.
        while flock(descriptor, LOCK_UN) != 0 && errno == EINTR {}
        close(descriptor)
    }

    private static func take(_ directory: String) throws(RelayError) -> Int32 {
        try makeDirectory(directory)
        let path = directory + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw refusal("cannot open \(path)", errno) }
        // Belongs to the open file: a second journal of this process is kept out too, and the kernel gives it back.
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let failure = errno
            let owner = holder(descriptor)
            close(descriptor)
            if failure != EWOULDBLOCK { throw refusal("cannot lock \(path)", failure) }
            throw RelayError(
                .conflict,
                "\(directory) belongs to another journal\(owner): end that service, or give this one another directory")
        }
        _ = ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        // For people, and for the message above: without it the lock holds just as well.
        _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        return descriptor
    }

    private static func holder(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        let text = String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard let process = Int32(text), process > 0 else { return "" }
        return process == getpid() ? " of this process" : " of process \(process)"
    }
    private static func makeDirectory(_ path: String) throws(RelayError) {
        var status = stat()
        if stat(path, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR { return }
            throw RelayError(.invalidArgument, "\(path) is no directory: give the journal one of its own")
        }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try makeDirectory(String(path[..<slash])) }
        if mkdir(path, 0o700) != 0 && errno != EEXIST { throw refusal("cannot make the directory \(path)", errno) }
    }
    static func refusal(_ what: String, _ failure: Int32) -> RelayError {
        let cause = SystemError(failure)
        return switch failure {
        case EACCES, EPERM, EROFS:
            RelayError(
                .notPermitted, "\(what): \(cause); let this user write there, or give another directory", cause: cause)
        case ENOSPC, EDQUOT:
            RelayError(.storageFull, "\(what): \(cause); make room on its file system", cause: cause)
        default: RelayError(.unavailable, "\(what): \(cause)", cause: cause)
        }
    }
}
