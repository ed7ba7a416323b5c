import Glibc
package import RelayCore

/// Where `relay-service --own-bus` keeps its bus, and other programs find it: a folder that only its user can enter.
package struct OwnBusFolder: Sendable {
    package let path: String
    package var socket: String { path + "/bus" }
    package var address: String { "unix:path=" + Bus.escaped(socket) }

    package init(path: String) { self.path = path }

    /// In `XDG_RUNTIME_DIR`, else in the temporary folder, in the order of preference.
    package static func candidates(environment: [String: String], userID: UInt32) -> [OwnBusFolder] {
        var folders: [OwnBusFolder] = []
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            folders.append(OwnBusFolder(path: runtime + "/eventrelay"))
        }
        let temporary = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        folders.append(OwnBusFolder(path: temporary + "/eventrelay-\(userID)"))
        return folders
    }

    /// Makes the folder unless it is there, and sees that it belongs to the caller and is closed to others: whoever can write
    /// there can put a bus of their own in its place.
    ///
    /// Throws `Unavailable` with the path and the reason.
    package func prepare() throws(RelayError) {
        if mkdir(path, 0o700) != 0 && errno != EEXIST {
            let cause = SystemError(errno)
            throw RelayError(.unavailable, "cannot make the folder \(path): \(cause)", cause: cause)
        }
        guard FileStatus(ofFileAt: path)?.isPrivateFolder(of: geteuid()) ?? false else {
            throw RelayError(
                .unavailable,
                "\(path) is not a folder of yours that is closed to others (0700): remove it, or set XDG_RUNTIME_DIR")
        }
    }
}

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

extension Bus {
    /// Whether there is a session bus: by its variable, or by the socket `bus` in `XDG_RUNTIME_DIR`.
    package static func hasSession(environment: [String: String]) -> Bool {
        hasSession(environment: { environment[$0] }, isSocket: { FileStatus(ofFileAt: $0)?.kind == .socket })
    }
}
