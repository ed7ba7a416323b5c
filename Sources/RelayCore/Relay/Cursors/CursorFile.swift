import Dispatch
import Glibc
import Synchronization
import RelayWire

/// One named cursor: its lock, its file, and what is yet to be written.
///
/// - Order: what is written is never older than what was written before.
/// - Isolation: from any thread. Writing takes a file and a rename, on the store's queue or on the thread that ends it.
///   Only the first write of a new cursor waits for the disk there; later ones are synced on a queue of their own.
/// - Loss: what was advanced in the last 100 ms before a crash is not written: those events come again. After a power
///   loss the file may hold anything; then its synced copy counts, which is a few seconds older.
final class CursorFile: Sendable {
    private struct Slot {
        let interface: String
        var place: CursorPlace?
        var isUsed = false
        var lineage = RunLineage()

        init(interface: String, place: CursorPlace? = nil) {
            (self.interface, self.place) = (interface, place)
            if let place { lineage.learn(place.runs) }
        }
        /// The place, with the runs that led there.
        var whole: CursorPlace? {
            guard var place else { return nil }
            place.runs = lineage.ancestry(of: place.epoch)
            return place
        }
    }
    private struct State {
        var slots: [Slot]
        var users = 0
        var isDirty = false
        var isScheduled = false
        /// A synced copy can be read.
        var hasSynced: Bool
        var isSyncScheduled = false
        /// A failure was reported, and nothing was written since.
        var hasFailed = false
        var isClosed = false
    }
    let name: String
    private let folderPath: String
    private let service: String
    private let folder: Int32
    private let lock: Int32
    private let state: Mutex<State>
    /// One write at a time.
    private let writing = Mutex(())
    private let queues: CursorQueues
    private let faults: CursorFaults
    private let onFailure: @Sendable (String, RelayError) -> Void

    /// Takes the name, and reads how far its subscriber has come.
    ///
    /// Throws `InvalidArgument` for a name that is none, for another service's cursor, and, unless `restarts`, when
    /// neither the file nor its synced copy is a cursor; `Conflict` when it is in use; `Unavailable` or `NotPermitted`
    /// for a folder that cannot be used.
    ///
    /// - Parameter restarts: two damaged files count as none.
    init(
        _ name: String, in folder: CursorFolder, service: String, restarts: Bool, queues: CursorQueues,
        faults: CursorFaults, onFailure: @escaping @Sendable (String, RelayError) -> Void
    ) throws(RelayError) {
        guard CursorText.isName(name) else {
            throw RelayError(
                .invalidArgument,
                "\(BusNames.quoted(name)) is no name for a cursor: 1 to 64 of A-Z, a-z, 0-9, '_' and '-'")
        }
        let directory = try folder.open()
        var isKept = false
        defer { if !isKept { close(directory) } }
        let lock = try Self.lock(name, directory, folder.path)
        defer { if !isKept { close(lock) } }
        CursorDraft.removeLeftovers(of: name, in: directory)
        let found = try Self.recall(name, directory, folder.path, service, restarts: restarts)
        state = Mutex(
            State(
                slots: found.text.places.map { Slot(interface: $0.key, place: $0.value) }, hasSynced: found.hasSynced))
        isKept = true
        (self.name, folderPath, self.service, self.folder, self.lock) = (name, folder.path, service, directory, lock)
        (self.queues, self.faults, self.onFailure) = (queues, faults, onFailure)
        // Later: the caller may hold locks that a handler needs.
        if let damage = found.damage { queues.write.async { onFailure(name, damage) } }
    }
    deinit {
        close(lock)
        close(folder)
    }

    // MARK: Its users

    /// How far its subscribers have come, by interface.
    var places: [String: CursorPlace] {
        state.withLock { state in
            state.slots.reduce(into: [:]) { places, slot in places[slot.interface] = slot.whole }
        }
    }

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
            let place = state.slots[index].whole
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
        if isNews { schedule(queues.timing.write) }
    }
    /// Runs that a service has reported. They are written with the next place.
    func learn(_ index: Int, _ runs: [StreamRun]) { state.withLock { $0.slots[index].lineage.learn(runs) } }
    private func schedule(_ delay: Duration) {
        queues.write.asyncAfter(deadline: .after(delay)) { [weak self] in self?.writeInTime() }
    }
    private func writeInTime() {
        guard write() else {
            if state.withLock({ !$0.isClosed }) { schedule(queues.timing.retry) }
            return
        }
        // What was advanced while this one was written has ordered no other.
        let isDue = state.withLock { state in
            state.isScheduled = state.isDirty && !state.isClosed
            return state.isScheduled
        }
        if isDue { schedule(queues.timing.write) }
    }
    /// Writes what is not written yet. Also from outside, before what may be the end.
    func flush() { _ = write() }

    /// One of its users has ended: writes; lets the name go with the last one. False: it could not be written.
    func leave(_ index: Int) -> Bool {
        let isWritten = write()
        // No copy takes its place from here on: another process may have the name.
        let isLast = writing.withLock { _ in
            state.withLock { state in
                state.slots[index].isUsed = false
                state.users -= 1
                state.isClosed = state.users == 0
                return state.isClosed
            }
        }
        guard isLast else { return isWritten }
        syncAtEnd()
        // Unlocked at once, and not when the last reference goes: another process may wait for it.
        while flock(lock, LOCK_UN) != 0 && errno == EINTR {}
        return isWritten
    }

    // MARK: Writing

    private func write() -> Bool {
        writing.withLock { _ in
            let next = state.withLock { state -> (text: CursorText, hasSynced: Bool)? in
                guard state.isDirty, !state.isClosed else { return nil }
                state.isDirty = false
                return (snapshot(state), state.hasSynced)
            }
            guard let next else { return true }
            do throws(RelayError) {
                // There is never a first file without a copy to fall back on.
                if !next.hasSynced {
                    try replaceCopy(by: try makeCopy(next.text))
                    try syncFolder()
                }
                try write(next.text)
                let isSyncDue = state.withLock { state in
                    (state.hasFailed, state.hasSynced) = (false, true)
                    defer { state.isSyncScheduled = true }
                    return !state.isSyncScheduled
                }
                if isSyncDue { scheduleSync() }
                return true
            } catch {
                state.withLock { $0.isDirty = true }
                report(error)
                return false
            }
        }
    }
    private func snapshot(_ state: State) -> CursorText {
        var text = CursorText(service: service)
        for slot in state.slots { text.places[slot.interface] = slot.whole }
        return text
    }
    private func report(_ error: RelayError) {
        let isNews = state.withLock { state in
            defer { state.hasFailed = true }
            return !state.hasFailed
        }
        if isNews { onFailure(name, error) }
    }
    /// A file of its own takes the old one's place, so that a crash leaves one of the two. Without a sync: see `sync`.
    private func write(_ text: CursorText) throws(RelayError) {
        try faults.at(.beforeWrite, name)
        let draft = try CursorDraft("\(name).cursor", text, place)
        try draft.close()
        try faults.at(.tempWritten, name)
        try draft.publish()
        try faults.at(.renamed, name)
    }
    private var place: CursorDraft.Place { CursorDraft.Place(cursor: name, folder: folder, path: folderPath) }

    // MARK: Syncing

    private func scheduleSync() {
        queues.sync.asyncAfter(deadline: .after(queues.timing.sync)) { [weak self] in self?.sync() }
    }
    /// Makes the copy anew. Waits for the disk, but lets the file be written meanwhile.
    private func sync() {
        let text = state.withLock { state -> CursorText? in
            state.isSyncScheduled = false
            return state.isClosed ? nil : snapshot(state)
        }
        guard let text else { return }
        do throws(RelayError) {
            let copy = try makeCopy(text)
            try writing.withLock { _ in
                Result { () throws(RelayError) -> Void in
                    if state.withLock({ $0.isClosed }) {
                        copy.discard()
                    } else {
                        try replaceCopy(by: copy)
                    }
                }
            }.get()
        } catch {
            report(error)
            let isDue = state.withLock { state in
                defer { state.isSyncScheduled = true }
                return !state.isSyncScheduled && !state.isClosed
            }
            if isDue { scheduleSync() }
        }
    }
    /// A copy that is on the disk, and not yet in its place.
    private func makeCopy(_ text: CursorText) throws(RelayError) -> CursorDraft {
        try faults.at(.beforeWrite, name)
        let copy = try CursorDraft("\(name).synced", text, place)
        try copy.sync()
        return copy
    }
    /// The copy's name goes to the disk, too.
    private func syncFolder() throws(RelayError) {
        if faults.syncFolder(folder) == 0 { return }
        let code = errno
        // A file system that knows no sync of a folder.
        if code != EINVAL { throw Self.failure(name, "the folder \(folderPath) cannot be synced", code) }
    }
    private func replaceCopy(by copy: CursorDraft) throws(RelayError) {
        try copy.close()
        try copy.publish()
        try faults.at(.synced, name)
    }
    /// What was written last goes to the disk soon, though nobody waits for it: without that the copy counts.
    private func syncAtEnd() {
        let file = openat(folder, "\(name).cursor", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0 { return }
        queues.sync.async {
            fdatasync(file)
            close(file)
        }
    }
}
