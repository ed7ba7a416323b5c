import Glibc

/// A text of bounded size as a file.
package enum SmallTextFile {
    /// nil: there is none.
    ///
    /// Throws `.tooLarge` for a longer one, and why it cannot be read.
    package static func read(_ path: String, atMost longest: Int) throws(RelayError) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 && (errno == ENOENT || errno == ENOTDIR) { return nil }
        if file < 0 { throw failure("read", path) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: longest + 1)
        var count = 0
        while count < bytes.count {
            let taken = bytes.withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if taken < 0 && errno == EINTR { continue }
            if taken < 0 { throw failure("read", path) }
            if taken == 0 { break }
            count += taken
        }
        if count > longest { throw RelayError(.tooLarge, "\(path) has more than \(longest) bytes") }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
    /// Makes the file, and its folder, or replaces it: readers find the one or the other text, whole.
    package static func write(_ text: String, to path: String) throws(RelayError) {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        for depth in folder.indices.dropFirst() {
            let place = folder[...depth].joined(separator: "/")
            if mkdir(place, 0o777) != 0 && errno != EEXIST { throw failure("make the folder", place) }
        }
        // Of this process and call alone: tests run side by side.
        let draft = "\(path).\(getpid()).\(UInt64.random(in: 0...UInt64.max))"
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        if file < 0 { throw failure("write", path) }
        do throws(RelayError) {
            defer { close(file) }
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
                if count < 0 && errno == EINTR { continue }
                if count <= 0 { throw failure("write", path) }
                rest = rest.dropFirst(count)
            }
            if rename(draft, path) != 0 { throw failure("write", path) }
        } catch {
            unlink(draft)
            throw error
        }
    }
    private static func failure(_ what: String, _ path: String) -> RelayError {
        let error = SystemError(errno)
        return RelayError(.unavailable, "cannot \(what) \(path): \(error)", cause: error)
    }
}
