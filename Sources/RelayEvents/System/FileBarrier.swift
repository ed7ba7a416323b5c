import Glibc

/// What keeps this process from a file: the first part of its path that it may not look into, or the file itself.
package struct FileBarrier: Equatable, Sendable, CustomStringConvertible {
    package let path: String
    package let owner: UInt32
    /// The permission bits.
    package let mode: UInt32
    package let isFolder: Bool

    package init(path: String, owner: UInt32, mode: UInt32, isFolder: Bool) {
        (self.path, self.owner, self.mode, self.isFolder) = (path, owner, mode, isFolder)
    }
    /// nil: nothing does, or there is no such file.
    package init?(before path: String, reading access: Int32 = R_OK) {
        var end = path.startIndex
        while end < path.endIndex {
            // With each slash that ends a part: of a link to a folder, the folder counts.
            end = path[end...].firstIndex(of: "/").map(path.index(after:)) ?? path.endIndex
            let part = String(path[..<end])
            let isLast = end == path.endIndex
            if isLast && !part.hasSuffix("/") { break }
            if Self.isRefused(part, X_OK) {
                self.init(at: part)
                return
            }
        }
        guard Self.isRefused(path, access) else { return nil }
        self.init(at: path)
    }
    private init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let name = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.init(
            path: name, owner: status.st_uid, mode: status.st_mode & 0o7777,
            isFolder: status.st_mode & S_IFMT == S_IFDIR)
    }
    private static func isRefused(_ path: String, _ mode: Int32) -> Bool {
        faccessat(AT_FDCWD, path, mode, AT_EACCESS) != 0 && errno == EACCES
    }

    /// Whose it is, and what this user would have to be.
    package var description: String { text(user: geteuid(), Self.name(of:)) }
    func text(user: UInt32, _ name: (UInt32) -> String?) -> String {
        func named(_ user: UInt32) -> String { name(user).map { "user \($0)" } ?? "user \(user)" }
        let what = isFolder ? "may not look into it or change it" : "may not read it"
        let mode = "(mode \(String(self.mode, radix: 8)))"
        if owner == user { return "\(path) is this user's own, but closed to it \(mode): run chmod u+rwX \(path)" }
        return "\(path) belongs to \(named(owner)), and \(named(user)) \(what) \(mode): run this as that user (sudo -u "
            + "\(name(owner) ?? "#\(owner)")), or let a group of yours in"
    }
    /// nil: nobody has this number.
    package static func name(of user: UInt32) -> String? {
        var (entry, result, buffer) = (
            passwd(), UnsafeMutablePointer<passwd>?.none, [CChar](repeating: 0, count: 4_096)
        )
        return buffer.withUnsafeMutableBufferPointer { buffer in
            // The entry's texts are in the buffer, and read before it goes.
            guard let start = buffer.baseAddress, getpwuid_r(user, &entry, start, buffer.count, &result) == 0,
                result != nil, let name = entry.pw_name
            else { return nil }
            return String(cString: name)
        }
    }
}
