import Glibc

/// How a cursor's name is taken, and what its files hold.
extension CursorFile {
    static func lock(_ name: String, _ directory: Int32, _ folder: String) throws(RelayError) -> Int32 {
        let lock = openat(directory, "\(name).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if lock < 0 { throw failure(name, "\(folder)/\(name).lock cannot be opened", errno) }
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(lock)
            if code == EWOULDBLOCK {
                throw RelayError(
                    .conflict,
                    "cursor '\(name)' is in use by another process or relay, which holds \(folder)/\(name).lock; "
                        + "end that one, or use another name")
            }
            throw failure(name, "\(folder)/\(name).lock cannot be locked", code)
        }
        return lock
    }
    private enum Content {
        case missing
        case damaged
        case text(CursorText)
    }
    /// Also of a file of a version without a checksum, which nobody can know to be whole.
    private static let unfit = "is not as this program writes it"
    /// The content of the file, or, if it cannot be read, of its synced copy. `damage`: the copy was needed.
    static func recall(
        _ name: String, _ directory: Int32, _ folder: String, _ service: String, restarts: Bool
    ) throws(RelayError) -> (text: CursorText, hasSynced: Bool, damage: RelayError?) {
        let (path, copyPath) = ("\(folder)/\(name).cursor", "\(folder)/\(name).synced")
        let file = try read(name, "\(name).cursor", directory, path, service)
        let copy = try read(name, "\(name).synced", directory, copyPath, service)
        let damage: String
        switch (file, copy) {
        case (.text(let text), .text): return (text, true, nil)
        case (.text(let text), _): return (text, false, nil)
        // A power loss before the first write's rename reached the disk: nobody knows whether the copy's name did.
        case (.missing, .text(let text)): return (text, false, nil)
        case (.damaged, .text(let text)):
            let reason =
                "\(path) is not as it was written, as after a power loss; \(copyPath) is used, so that its last events come again"
            return (text, true, RelayError(.unavailable, "cursor '\(name)': \(reason)"))
        case (.missing, .missing): return (CursorText(service: service), false, nil)
        case (.damaged, .missing): damage = "\(path) \(Self.unfit), and there is no \(copyPath): remove it"
        case (.missing, .damaged): damage = "\(copyPath) \(Self.unfit), and there is no \(path): remove it"
        case (.damaged, .damaged): damage = "neither \(path) nor \(copyPath) is as it was written: remove both"
        }
        let error = RelayError(.invalidArgument, "cursor '\(name)': \(damage) to start with the oldest event")
        if restarts { return (CursorText(service: service), false, error) }
        throw error
    }
    private static func read(
        _ name: String, _ fileName: String, _ directory: Int32, _ path: String, _ service: String
    ) throws(RelayError) -> Content {
        let file = openat(directory, fileName, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0 {
            if errno == ENOENT { return .missing }
            throw failure(name, "\(path) cannot be opened", errno)
        }
        defer { close(file) }
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try OpenFile.read(file, atMost: CursorText.maximumSize + 1) } catch {
            throw failure(name, "\(path) cannot be read", error.code)
        }
        guard let text = CursorText(parsing: String(decoding: bytes, as: UTF8.self)) else { return .damaged }
        if text.service != service {
            throw RelayError(
                .invalidArgument,
                "cursor '\(name)' is of the service \(text.service), not of \(service): use another name")
        }
        return .text(text)
    }
    static func failure(_ name: String, _ what: String, _ code: Int32) -> RelayError {
        let cause = SystemError(code)
        let isFull = code == ENOSPC || code == EDQUOT
        return RelayError(
            isFull ? .storageFull : .unavailable, "cursor '\(name)': \(what): \(cause)\(cause.remedy)", cause: cause)
    }
}
