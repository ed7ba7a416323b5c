import Glibc

/// A text of bounded size as a file.
package enum SmallTextFile {
    /// nil: there is none.
    ///
    /// Throws `.tooLarge` for a longer one, and why it cannot be read.
    package static func read(_ path: String, atMost longest: Int) throws(RelayError) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 && (errno == ENOENT || errno == ENOTDIR) { return nil }
        if file < 0 { throw failure("read", path, SystemError(errno)) }
        defer { close(file) }
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try OpenFile.read(file, atMost: longest + 1) } catch {
            throw failure("read", path, error)
        }
        if bytes.count > longest { throw RelayError(.tooLarge, "\(path) has more than \(longest) bytes") }
        return String(decoding: bytes, as: UTF8.self)
    }
    /// Makes the file, and its folder, or replaces it.
    package static func write(_ text: String, to path: String) throws(RelayError) {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        for depth in folder.indices.dropFirst() {
            let place = folder[...depth].joined(separator: "/")
            if mkdir(place, 0o777) != 0 && errno != EEXIST {
                throw failure("make the folder", place, SystemError(errno))
            }
        }
        do throws(Unwritten) { try replace(path, by: text) } catch { throw failure("write", path, error.error) }
    }

    /// Why a file was not replaced.
    package struct Unwritten: Error {
        /// The text could not be written, though its file was made.
        package let wasMade: Bool
        package let error: SystemError
    }
    /// Writes the text beside its place, which it takes when it is whole: readers find the one or the other.
    package static func replace(_ path: String, by text: String, mode: UInt32 = 0o666) throws(Unwritten) {
        // Where others write, too, nobody can have made what nobody can foresee.
        let draft = path + "." + String(UInt64.random(in: .min ... .max), radix: 36)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        if file < 0 { throw Unwritten(wasMade: false, error: SystemError(errno)) }
        var rest = Array(text.utf8)[...]
        var number: Int32 = 0
        while !rest.isEmpty && number == 0 {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno != EINTR { number = errno }
            rest = rest.dropFirst(max(0, count))
        }
        if close(file) != 0 && number == 0 { number = errno }
        if number == 0 && rename(draft, path) != 0 { number = errno }
        if number == 0 { return }
        unlink(draft)
        throw Unwritten(wasMade: true, error: SystemError(number))
    }
    private static func failure(_ what: String, _ path: String, _ error: SystemError) -> RelayError {
        RelayError(.unavailable, "cannot \(what) \(path): \(error)", cause: error)
    }
}
