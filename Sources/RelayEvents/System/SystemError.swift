import Glibc

/// An error of the kernel: an errno, as the cause of a `RelayError`.
package struct SystemError: Error, NumberedError, Hashable, Sendable, CustomStringConvertible {
    /// The errno.
    package let code: Int32
    /// An error of the kernel.
    ///
    /// - Parameter code: the errno.
    package init(_ code: Int32) { self.code = code }
    /// The C library's message for the errno.
    package var description: String {
        var buffer = [CChar](repeating: 0, count: 128)
        // The POSIX variant: fills the buffer, or returns why not.
        if strerror_r(code, &buffer, buffer.count) != 0 { return "errno \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension SystemError {
    /// What an administrator can do about it, to follow the description; empty where nothing is known.
    package var remedy: String {
        switch code {
        case EMFILE: "; close others, or raise this process's limit: ulimit -n, or LimitNOFILE= in the unit"
        case ENFILE: "; the whole system has none left: see /proc/sys/fs/file-max"
        default: ""
        }
    }
}

extension SystemError {
    /// Whether it comes from the disk or from the process's limits, and not from what is at a path, or from who may use
    /// it: then it may be over when it is tried again.
    package var isPassing: Bool { [EIO, EROFS, ENOSPC, EDQUOT, EFBIG, ENOMEM, EMFILE, ENFILE].contains(code) }
}

extension SystemError {
    /// Whether a file may not grow.
    package var isFull: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
    /// Whether it comes from a disk, or from the file system on it.
    package var isOfDisk: Bool { isFull || [EIO, EROFS].contains(code) }
    /// Why a disk refuses writes, as a clause.
    ///
    /// - Parameter disk: the disk's name in it.
    /// - Parameter file: that of the file.
    package func storageClause(disk: String, file: String) -> String {
        switch code {
        case ENOSPC: "\(disk) is full"
        case EDQUOT: "the quota of \(disk) is used up"
        case EFBIG: "\(file) or its log has reached the largest size that it may have"
        case EROFS: "the file system of \(file) is read-only"
        default: "\(disk) fails (\(self))"
        }
    }
    /// What is to be done about that.
    package var storageAdvice: String {
        switch code {
        case ENOSPC: "make room on its file system"
        case EDQUOT: "make room within the quota of this user, or raise it"
        case EFBIG: "raise the limit of a file's size (LimitFSIZE=, ulimit -f)"
        case EROFS: "look why it is read-only, and make it writable"
        default: "look at the disk"
        }
    }
}

/// An error whose number may be told where its text may not.
package protocol NumberedError: Error {
    var code: Int32 { get }
}

/// An error that the kernel may have caused.
package protocol SystemCaused: Error {
    var system: SystemError? { get }
}
extension SystemError: SystemCaused {
    package var system: SystemError? { self }
}
