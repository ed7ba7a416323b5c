import Glibc
import Synchronization

/// A file of a cursor before it has its name: made anew under a random name, so that nothing which is there already is
/// written to or followed.
///
/// What a process that was killed has left is removed when the next one has taken the cursor.
final class CursorDraft: Sendable {
    struct Place {
        let cursor: String
        let folder: Int32
        /// Of the folder, for messages.
        let path: String
    }
    private static let suffix = ".new"
    private let place: Place
    private let target: String
    private let name: String
    private let descriptor: Atomic<Int32>
    private let isThere: Atomic<Bool>

    /// Makes the file, and writes the text.
    ///
    /// - Parameter target: the name that it is to have.
    init(_ target: String, _ text: CursorText, _ place: Place) throws(RelayError) {
        (self.place, self.target) = (place, target)
        name = "\(target).\(String(UInt64.random(in: .min ... .max), radix: 16))\(Self.suffix)"
        let file = openat(place.folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        descriptor = Atomic(file)
        isThere = Atomic(file >= 0)
        if file < 0 {
            throw CursorFile.failure(place.cursor, "\(place.path)/\(target)\(Self.suffix) cannot be made", errno)
        }
        var bytes = Array(text.text.utf8)[...]
        while !bytes.isEmpty {
            // The slice's own bytes, and no more than it has.
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw fail("written") }
            bytes = bytes.dropFirst(count)
        }
    }
    deinit { discard() }

    /// Waits for the disk.
    func sync() throws(RelayError) {
        if fdatasync(descriptor.load(ordering: .relaxed)) != 0 { throw fail("synced") }
    }
    /// Some file systems find out here that there is no room.
    func close() throws(RelayError) {
        let file = descriptor.exchange(-1, ordering: .relaxed)
        if file >= 0, Glibc.close(file) != 0, errno != EINTR { throw fail("written") }
    }
    /// Takes the place of the file of that name.
    func publish() throws(RelayError) {
        if renameat(place.folder, name, place.folder, target) != 0 {
            let code = errno
            discard()
            throw CursorFile.failure(place.cursor, "\(place.path)/\(target) cannot be replaced", code)
        }
        isThere.store(false, ordering: .relaxed)
    }
    /// Removes the file, unless it has its name.
    func discard() {
        let file = descriptor.exchange(-1, ordering: .relaxed)
        if file >= 0 { Glibc.close(file) }
        if isThere.exchange(false, ordering: .relaxed) { unlinkat(place.folder, name, 0) }
    }
    private func fail(_ what: String) -> RelayError {
        let code = errno
        discard()
        return CursorFile.failure(place.cursor, "\(place.path)/\(target)\(Self.suffix) cannot be \(what)", code)
    }

    /// Removes the files that were left of a cursor, which the caller has locked.
    static func removeLeftovers(of cursor: String, in folder: Int32) {
        // Of its own, so that closing the stream does not close the folder. Without it the files only stay.
        let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return }
        guard let stream = fdopendir(copy) else {
            Glibc.close(copy)
            return
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // Ends with a NUL within the entry.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            // A cursor's name has no dot.
            if name.hasPrefix("\(cursor).cursor.") || name.hasPrefix("\(cursor).synced."), name.hasSuffix(suffix) {
                names.append(name)
            }
        }
        for name in names { unlinkat(folder, name, 0) }
    }
}
