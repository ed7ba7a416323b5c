import Glibc

/// Files of a few lines.
enum SmallFile {
    private static let largest = 64 << 10

    /// Its first 64 KiB; nil: it cannot be read.
    static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: largest)
        var count = 0
        while count < bytes.count {
            let taken = bytes.withUnsafeMutableBytes {
                read(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if taken < 0 && errno == EINTR { continue }
            if taken <= 0 { break }
            count += taken
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
