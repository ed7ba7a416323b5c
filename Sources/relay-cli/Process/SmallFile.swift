import CRelayShims
import Glibc
import RelayCore

/// Files of a few lines. Some of the paths are what other programs say.
enum SmallFile {
    enum Content: Equatable {
        case whole(String)
        /// It has more than 64 KiB.
        case tooLarge
        /// Others than those who are trusted can write it, or what it has.
        case foreign
    }
    private static let largest = 64 << 10
    /// `O_PATH`, a macro that Swift does not import.
    private static let pathOnly: Int32 = 0o10000000

    /// nil: it cannot be read whole.
    static func text(_ path: String) -> String? {
        if case .whole(let text) = content(path) { text } else { nil }
    }
    /// nil: it cannot be read, or is no regular file.
    static func content(_ path: String) -> Content? { content(path, writtenBy: nil) }
    /// nil: it cannot be read, or is no regular file.
    ///
    /// - Parameter writers: the users who may own it, with nobody else's right to write but the group of root; nil: anyone.
    static func content(_ path: String, writtenBy writers: Set<UInt32>?) -> Content? {
        // Without opening it: to open a device can be to use it.
        let place = open(path, pathOnly | O_CLOEXEC)
        guard place >= 0 else { return nil }
        defer { close(place) }
        var status = stat()
        guard fstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        if let writers, !isWritten(place, status, by: writers) { return .foreign }
        let file = open("/proc/self/fd/\(place)", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard let bytes = try? OpenFile.read(file, atMost: largest + 1) else { return nil }
        return bytes.count > largest ? .tooLarge : .whole(String(decoding: bytes, as: UTF8.self))
    }
    /// File systems where the owner of a file is not the author of what it has, as in linux/magic.h. A process chooses what
    /// its own `/proc/PID/cmdline` has, which is root's as soon as the process cannot be dumped. The process behind FUSE
    /// chooses the owners, too.
    private static let unowned: Set<UInt32> = [
        0x9FA0 /* proc */, 0x6573_5546 /* FUSE */, 0x6265_6572 /* sysfs */, 0x6462_6720 /* debugfs */,
        0x7472_6163 /* tracefs */, 0x6265_6570 /* configfs */, 0x27_E0EB /* cgroup */, 0x6367_7270 /* cgroup2 */,
    ]
    /// Whether nobody else can have written what a file has.
    private static func isWritten(_ file: Int32, _ status: stat, by writers: Set<UInt32>) -> Bool {
        guard writers.contains(status.st_uid), status.st_mode & S_IWOTH == 0,
            status.st_mode & S_IWGRP == 0 || status.st_gid == 0
        else { return false }
        var system: UInt32 = 0
        return relay_file_system(file, &system) == 0 && !unowned.contains(system)
    }
}
