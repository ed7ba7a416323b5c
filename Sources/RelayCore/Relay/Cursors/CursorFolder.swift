import Glibc
import RelayWire

/// Where the cursors of a service are kept that a program has: in a folder of the user's own, which nobody else can
/// write to.
struct CursorFolder: Sendable {
    /// Of all cursors.
    private let base: String
    /// In that: the namespace, and in that the service.
    private let scope: [String]
    var path: String { ([base] + scope).joined(separator: "/") }

    /// In the folder that was given, else in `relay/cursors` in the user's state folder. Throws `Unavailable` when there
    /// is none, `InvalidArgument` for a namespace that is none.
    init(
        _ given: String?, _ namespace: String?, service: String, environment: (String) -> String?
    ) throws(RelayError) {
        if let namespace, !CursorText.isName(namespace) {
            throw RelayError(
                .invalidArgument,
                "\(BusNames.quoted(namespace)) is no namespace of cursors: 1 to 64 of A-Z, a-z, 0-9, '_' and '-'")
        }
        scope = [namespace ?? "default", service]
        func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
        if let given {
            base = given
        } else if let state = value("XDG_STATE_HOME"), state.hasPrefix("/") {
            // The XDG Base Directory Specification requires that a relative one is ignored.
            base = state + "/relay/cursors"
        } else if let home = value("HOME") {
            base = home + "/.local/state/relay/cursors"
        } else {
            throw RelayError(
                .unavailable,
                "no folder for cursors: neither XDG_STATE_HOME nor HOME is set; give the relay one with 'cursors'")
        }
    }
    static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Makes the folder unless it is there, sees that it is the user's own, and opens it.
    ///
    /// Throws `Unavailable` when that cannot be done, `NotPermitted` when others can write there.
    func open() throws(RelayError) -> Int32 {
        try make()
        var descriptor = try open(base, in: AT_FDCWD, base)
        var path = base
        for name in scope {
            let folder = descriptor
            defer { close(folder) }
            path += "/" + name
            descriptor = try open(name, in: folder, path)
        }
        return descriptor
    }
    private func open(_ name: String, in folder: Int32, _ path: String) throws(RelayError) -> Int32 {
        let descriptor = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { throw failure(path, "cannot be opened", errno) }
        var status = stat()
        if fstat(descriptor, &status) != 0 {
            let code = errno
            close(descriptor)
            throw failure(path, "cannot be looked at", code)
        }
        if let reason = Self.refusal(owner: status.st_uid, mode: status.st_mode, user: geteuid()) {
            close(descriptor)
            throw RelayError(.notPermitted, "the folder for cursors, \(path), \(reason)")
        }
        return descriptor
    }
    /// Why cursors must not be kept in a folder; a process that can write there decides what a subscriber receives.
    static func refusal(owner: UInt32, mode: UInt32, user: UInt32) -> String? {
        if owner != user { return "belongs to user \(owner), not to user \(user): use a folder of your own" }
        if mode & 0o022 != 0 {
            let shown = String(mode & 0o7777, radix: 8)
            return "can be written to by others (mode \(shown)): chmod go-w it, or use another one"
        }
        return nil
    }
    /// - Parameter sync: syncs the folder that has a path; returns the kernel's error, or 0.
    func make(sync: (String) -> Int32 = { FolderSync.parent(of: $0) }) throws(RelayError) {
        var made = path.hasPrefix("/") ? "/" : ""
        let given = base.split(separator: "/").count
        for (index, part) in path.split(separator: "/").enumerated() {
            made += part
            if mkdir(made, 0o700) == 0 {
                let code = sync(made)
                if code != 0 { throw failure(path, "cannot be synced into the folder that has \(made)", code) }
            } else if errno != EEXIST, errno != EISDIR {
                let code = errno
                // On the way there may be folders that cannot be written to, but are there.
                if access(made, F_OK) != 0 { throw failure(index < given ? base : made, "cannot be made", code) }
            }
            made += "/"
        }
    }
    private func failure(_ path: String, _ what: String, _ code: Int32) -> RelayError {
        let cause = SystemError(code)
        return RelayError(
            .unavailable, "the folder for cursors, \(path), \(what): \(cause)\(cause.remedy)", cause: cause)
    }
}

/// How far a named subscriber has come in one interface.
package struct CursorPlace: Hashable, Sendable {
    /// The events that it sees; nil: all of the interface.
    var names: Set<String>?
    var epoch: UInt64
    var sequence: UInt64
    /// The newest of the runs that led there, that of `epoch` last; empty: unknown.
    var runs: [StreamRun] = []
}
