import Glibc

/// Files of a few lines. Some of the paths are what other programs say.
enum SmallFile {
    enum Content: Equatable {
        case whole(String)
        /// It has more than 64 KiB.
        case tooLarge
        /// Others than those who are trusted can write it.
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
    /// - Parameter writers: the users who may own it, with nobody else's right to write beyond its group; nil: anyone.
    static func content(_ path: String, writtenBy writers: Set<UInt32>?) -> Content? {
        // Without opening it: to open a device can be to use it.
        let place = open(path, pathOnly | O_CLOEXEC)
        guard place >= 0 else { return nil }
        defer { close(place) }
        var status = stat()
        guard fstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        if let writers, !writers.contains(status.st_uid) || status.st_mode & S_IWOTH != 0 { return .foreign }
        let file = open("/proc/self/fd/\(place)", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: largest + 1)
        var count = 0
        while count < bytes.count {
            let taken = bytes.withUnsafeMutableBytes {
                read(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if taken < 0 && errno == EINTR { continue }
            if taken <= 0 { break }
            count += taken
        }
        return count > largest ? .tooLarge : .whole(String(decoding: bytes[..<count], as: UTF8.self))
    }
}
