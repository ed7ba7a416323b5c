import Dispatch
import Glibc
import Synchronization

/// One named cursor: its lock, its file, and what is yet to be written.
///
/// - Order: what is written is never older than what was written before.
/// - Isolation: from any thread. Writing takes a file and a rename, on the store's queue or on the thread that ends it.
/// - Loss: what was advanced in the last 100 ms before a crash is not written: those events come again.
final class CursorFile: Sendable {
    private struct Slot {
        let interface: String
        var place: CursorPlace?
        var isUsed = false
    }
    private struct State {
        var slots: [Slot]
        var users = 0
        var isDirty = false
        var isScheduled = false
        /// A failure was told, and nothing was written since.
        var hasFailed = false
        var isClosed = false
    }
    let name: String
    private let path: String
    private let service: String
    private let folder: Int32
    private let lock: Int32
    private let state: Mutex<State>
    /// One write at a time.
    private let writing = Mutex(())
    private let queue: DispatchQueue
    private let faults: CursorFaults
    private let onFailure: @Sendable (String, RelayError) -> Void
    /// How long after an advance it is written, at the latest; and how long after a failure that is tried again.
    private static let delay = DispatchTimeInterval.milliseconds(100)
    private static let patience = DispatchTimeInterval.seconds(1)

    /// Takes the name, and reads how far its subscriber has come.
    ///
    /// Throws `InvalidArgument` for a name that is none, for another service's cursor, and for a file that is no cursor;
    /// `Conflict` when it is in use; `Unavailable` or `NotPermitted` for a folder that cannot be used.
    init(
        _ name: String, in folder: CursorFolder, service: String, queue: DispatchQueue, faults: CursorFaults,
        onFailure: @escaping @Sendable (String, RelayError) -> Void
    ) throws(RelayError) {
        guard Self.isName(name) else {
            throw RelayError(
                .invalidArgument,
                "\(BusNames.quoted(name)) is no name for a cursor: 1 to 64 of A-Z, a-z, 0-9, '_' and '-'")
        }
        let path = "\(folder.path)/\(name).cursor"
        let directory = try folder.open()
        var isKept = false
        defer { if !isKept { close(directory) } }
        let lock = try Self.lock(name, directory, folder.path)
        defer { if !isKept { close(lock) } }
        let text = try Self.read(name, directory, path, service)
        state = Mutex(State(slots: text.places.map { Slot(interface: $0.key, place: $0.value) }))
        isKept = true
        (self.name, self.path, self.service, self.folder, self.lock) = (name, path, service, directory, lock)
        (self.queue, self.faults, self.onFailure) = (queue, faults, onFailure)
    }
    deinit {
        close(lock)
        close(folder)
    }
    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
    private static func lock(_ name: String, _ directory: Int32, _ folder: String) throws(RelayError) -> Int32 {
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
    private static func read(
        _ name: String, _ directory: Int32, _ path: String, _ service: String
    ) throws(RelayError) -> CursorText {
        let file = openat(directory, "\(name).cursor", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0 {
            if errno == ENOENT { return CursorText(service: service) }
            throw failure(name, "\(path) cannot be opened", errno)
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4_096)
        while bytes.count <= CursorText.maximumSize {
            let count = Glibc.read(file, &part, part.count)
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw failure(name, "\(path) cannot be read", errno) }
            if count == 0 { break }
            bytes += part.prefix(count)
        }
        guard let text = CursorText(parsing: String(decoding: bytes, as: UTF8.self)) else {
            throw RelayError(
                .invalidArgument, "\(path) is no cursor file: remove it to start with the oldest event")
        }
        if text.service != service {
            throw RelayError(
                .invalidArgument,
                "cursor '\(name)' is of the service \(text.service), not of \(service): use another name")
        }
        return text
    }
    private static func failure(_ name: String, _ what: String, _ code: Int32) -> RelayError {
        let cause = SystemError(code)
        let isFull = code == ENOSPC || code == EDQUOT
        return RelayError(isFull ? .storageFull : .unavailable, "cursor '\(name)': \(what): \(cause)", cause: cause)
    }

    // MARK: Its users

    /// Takes an interface's part. Nil when the file was closed meanwhile: open it again.
    ///
    /// Throws `Conflict` when another subscription has it, `InvalidArgument` when it is for other events.
    func use(_ interface: String, names: Set<String>?) throws(RelayError) -> Cursor? {
        let result = state.withLock { state -> Result<Cursor?, RelayError> in
            if state.isClosed { return .success(nil) }
            if !state.slots.contains(where: { $0.interface == interface }) {
                state.slots.append(Slot(interface: interface))
            }
            guard let index = state.slots.firstIndex(where: { $0.interface == interface }) else { return .success(nil) }
            if state.slots[index].isUsed {
                let text = "cursor '\(name)' is in use by another subscription to \(interface): use another name"
                return .failure(RelayError(.conflict, text))
            }
            let place = state.slots[index].place
            if let place, place.names != names {
                let text =
                    "cursor '\(name)' is for \(Self.described(place.names)) of \(interface), not for "
                    + "\(Self.described(names)): use another name"
                return .failure(RelayError(.invalidArgument, text))
            }
            state.slots[index].isUsed = true
            state.users += 1
            return .success(Cursor(self, index, names, place))
        }
        return try result.get()
    }
    private static func described(_ names: Set<String>?) -> String {
        names.map { $0.sorted().joined(separator: ", ") } ?? "all events"
    }
    func advance(_ index: Int, _ place: CursorPlace) {
        let isNews = state.withLock { state in
            state.slots[index].place = place
            state.isDirty = true
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isNews { schedule(Self.delay) }
    }
    private func schedule(_ delay: DispatchTimeInterval) {
        queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.writeInTime() }
    }
    private func writeInTime() {
        guard write() else {
            if state.withLock({ !$0.isClosed }) { schedule(Self.patience) }
            return
        }
        // What was advanced while this one was written has ordered no other.
        let isDue = state.withLock { state in
            state.isScheduled = state.isDirty && !state.isClosed
            return state.isScheduled
        }
        if isDue { schedule(Self.delay) }
    }
    /// Writes what is not written yet. Also from outside, before what may be the end.
    func flush() { _ = write() }

    /// One of its users has ended: writes; lets the name go with the last one. False: it is open still.
    func leave(_ index: Int) -> Bool {
        flush()
        let isLast = state.withLock { state in
            state.slots[index].isUsed = false
            state.users -= 1
            state.isClosed = state.users == 0
            return state.isClosed
        }
        // Unlocked at once, and not when the last reference goes: another process may wait for it.
        if isLast { while flock(lock, LOCK_UN) != 0 && errno == EINTR {} }
        return isLast
    }

    // MARK: Writing

    private func write() -> Bool {
        writing.withLock { _ in
            let text = state.withLock { state -> CursorText? in
                guard state.isDirty, !state.isClosed else { return nil }
                state.isDirty = false
                var text = CursorText(service: service)
                for slot in state.slots { text.places[slot.interface] = slot.place }
                return text
            }
            guard let text else { return true }
            do throws(RelayError) {
                try write(text.text)
                state.withLock { $0.hasFailed = false }
                return true
            } catch {
                let isNews = state.withLock { state in
                    state.isDirty = true
                    defer { state.hasFailed = true }
                    return !state.hasFailed
                }
                if isNews { onFailure(name, error) }
                return false
            }
        }
    }
    /// A file of its own takes the old one's place, so that a crash leaves one of the two. Without fsync: after a power loss
    /// an older place only brings events again.
    private func write(_ text: String) throws(RelayError) {
        try faults.at(.beforeWrite, name)
        let temporary = "\(name).cursor.new"
        let file = openat(folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file < 0 { throw Self.failure(name, "\(path).new cannot be made", errno) }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            // The slice's own bytes, and no more than it has.
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 {
                let code = errno
                close(file)
                throw Self.failure(name, "\(path).new cannot be written", code)
            }
            bytes = bytes.dropFirst(count)
        }
        // Some file systems find out here that there is no room.
        if close(file) != 0 && errno != EINTR { throw Self.failure(name, "\(path).new cannot be written", errno) }
        try faults.at(.tempWritten, name)
        if renameat(folder, temporary, folder, "\(name).cursor") != 0 {
            throw Self.failure(name, "\(path) cannot be replaced", errno)
        }
        try faults.at(.renamed, name)
    }
}
