import Glibc

/// What is known of a file, without following a link.
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Equatable, Sendable { case folder, socket, other }
    package let kind: Kind
    package let owner: UInt32
    /// The permission bits.
    package let mode: UInt32

    package init(kind: Kind, owner: UInt32, mode: UInt32) {
        (self.kind, self.owner, self.mode) = (kind, owner, mode)
    }
    /// nil: there is none.
    package init?(ofFileAt path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFDIR: .folder
            case S_IFSOCK: .socket
            default: .other
            }
        self.init(kind: kind, owner: status.st_uid, mode: status.st_mode & 0o7777)
    }

    /// Whether nobody but this user can put anything there.
    package func isPrivateFolder(of userID: UInt32) -> Bool {
        kind == .folder && owner == userID && mode & 0o077 == 0
    }
}
