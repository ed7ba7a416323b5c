import Dispatch
import Glibc
import Synchronization

/// A relay's cursors: opened when a subscription asks for one, shared by its subscriptions to several interfaces.
final class CursorStore: Sendable {
    private struct WeakFile {
        weak var file: CursorFile?
    }
    private let given, namespace: String?
    private let service: String
    private let faults: CursorFaults
    private let onFailure: @Sendable (String, RelayError) -> Void
    private let queues: CursorQueues
    private let files = Mutex<[String: WeakFile]>([:])

    /// - Parameter folder: nil stands for the user's state folder.
    /// - Parameter namespace: of the program, or of what it uses the cursors for; nil: they need none.
    init(
        _ folder: String?, namespace: String? = nil, service: String,
        timing: RelayTiming.Cursors = RelayTiming.Cursors(),
        faults: CursorFaults = .none, onFailure: @escaping @Sendable (String, RelayError) -> Void
    ) {
        (given, self.namespace) = (folder, namespace)
        (self.service, self.faults, self.onFailure) = (service, faults, onFailure)
        queues = CursorQueues(timing: timing)
    }

    /// Throws as `CursorFile` does.
    func open(
        _ name: String, _ interface: String, names: Set<String>?, restarts: Bool = false
    ) throws(RelayError) -> Cursor {
        let result = files.withLock { files in
            Result { () throws(RelayError) -> Cursor in
                if let cursor = try files[name]?.file?.use(interface, names: names) { return cursor }
                // libdispatch ends a process that has no descriptors left for its first timer: it takes them here, before
                // many cursors have.
                if files.isEmpty { queues.write.asyncAfter(deadline: .now()) {} }
                let file = try file(name, of: service, restarts: restarts)
                files[name] = WeakFile(file: file)
                guard let cursor = try file.use(interface, names: names) else {
                    throw RelayError(.conflict, "cursor '\(name)' is in use")
                }
                return cursor
            }
        }
        return try result.get()
    }
    /// Begins a cursor where that of another service is, which stays as it is.
    ///
    /// Throws `NotFound` when there is no such cursor, `Conflict` when this one has a place already or one of the two
    /// is in use, and as `CursorFile` does.
    func takeOver(_ name: String, of other: String) throws(RelayError) {
        let source = try file(name, of: other)
        let places = source.places
        if places.isEmpty { throw RelayError(.notFound, "there is no cursor '\(name)' of \(other) to take over") }
        let target = try file(name, of: service)
        var taken: [Cursor] = []
        defer { for cursor in taken { cursor.end() } }
        if !target.places.isEmpty {
            throw RelayError(
                .conflict, "cursor '\(name)' of \(service) has a place already: use it, or another name")
        }
        for (interface, place) in places {
            guard let cursor = try target.use(interface, names: place.names) else { continue }
            taken.append(cursor)
            cursor.learn(place.runs)
            cursor.advance(ReplayBuffer.Place(epoch: place.epoch, sequence: place.sequence))
        }
        for cursor in taken { cursor.end() }
        if taken.contains(where: \.isUnwritten) {
            throw RelayError(.unavailable, "cursor '\(name)' of \(service) could not be written")
        }
    }
    private func file(_ name: String, of service: String, restarts: Bool = false) throws(RelayError) -> CursorFile {
        let folder = try CursorFolder(given, namespace, service: service, environment: CursorFolder.environment)
        return try CursorFile(
            name, in: folder, service: service, restarts: restarts, queues: queues, faults: faults,
            onFailure: onFailure)
    }
    /// Writes all that is not written yet.
    func flush() {
        let open = files.withLock { files in files.values.compactMap(\.file) }
        for file in open { file.flush() }
    }
}

extension EventRelay {
    /// A cursor could not be written, or was found damaged: an event on the relay's publisher, and a notice.
    ///
    /// It is published once. The relay retries every second, and reports a failure again only after a success. Delivery
    /// continues meanwhile.
    package struct CursorFailure: Event {
        package let name: String
        package let error: RelayError
    }
}

/// Where the writing of a cursor can be made to fail, or the process to end: for tests.
package enum CursorStep: String, Sendable, CaseIterable {
    /// Nothing has been done.
    case beforeWrite
    /// The new content is in a file of its own.
    case tempWritten
    /// It has taken the old one's place.
    case renamed
    /// A copy that is on the disk has taken the old copy's place.
    case synced
}

/// Called at each step with the cursor's name; what it throws is the step's failure.
package struct CursorFaults: Sendable {
    package let at: @Sendable (CursorStep, String) throws(RelayError) -> Void
    /// fsync(2) of the cursors' folder.
    var syncFolder: @Sendable (Int32) -> Int32 = { fsync($0) }
    package init(at: @escaping @Sendable (CursorStep, String) throws(RelayError) -> Void) { self.at = at }
    package static let none = Self { _, _ throws(RelayError) in }
}

/// Where the cursors of a relay are written, and where they wait for the disk.
struct CursorQueues: Sendable {
    let write = DispatchQueue(label: "relay-cursors")
    let sync = DispatchQueue(label: "relay-cursors-sync")
    let timing: RelayTiming.Cursors
}

extension DispatchTime {
    static func after(_ delay: Duration) -> Self {
        .now() + .nanoseconds(Int(clamping: MonotonicClock.nanoseconds(delay)))
    }
}

/// Where a positioned subscription keeps how far it has come.
protocol PositionKeeper: AnyObject, Sendable {
    /// Where the subscriber of this name stopped; nil: it is new.
    var start: CursorPlace? { get }
    /// It has ended, and its last place could not be written.
    var isUnwritten: Bool { get }
    /// Everything up to this place was handled.
    func advance(_ place: ReplayBuffer.Place)
    /// The service has reported its newest runs.
    func learn(_ runs: [StreamRun])
    /// The subscription has ended. Any number of times.
    func end()
}

/// One subscription's part of a named cursor.
final class Cursor: PositionKeeper {
    private let file: CursorFile
    private let index: Int
    private let names: Set<String>?
    let start: CursorPlace?
    private let isEnded = Atomic<Bool>(false)
    private let isLost = Atomic<Bool>(false)
    var isUnwritten: Bool { isLost.load(ordering: .acquiring) }

    init(_ file: CursorFile, _ index: Int, _ names: Set<String>?, _ start: CursorPlace?) {
        (self.file, self.index, self.names, self.start) = (file, index, names, start)
    }
    deinit { end() }

    func advance(_ place: ReplayBuffer.Place) {
        if isEnded.load(ordering: .relaxed) { return }
        file.advance(index, CursorPlace(names: names, epoch: place.epoch, sequence: place.sequence))
    }
    func learn(_ runs: [StreamRun]) { if !isEnded.load(ordering: .relaxed) { file.learn(index, runs) } }
    /// Writes now what is not written yet.
    func flush() { if !isEnded.load(ordering: .relaxed) { file.flush() } }
    /// Writes, and lets the name go: when this returns, another subscriber can have it.
    func end() {
        if isEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
        if !file.leave(index) { isLost.store(true, ordering: .releasing) }
    }
}
