import Dispatch
import Synchronization

/// A relay's cursors: opened when a subscription asks for one, shared by its subscriptions to several interfaces.
final class CursorStore: Sendable {
    private struct WeakFile {
        weak var file: CursorFile?
    }
    private let given: String?
    private let service: String
    private let faults: CursorFaults
    private let onFailure: @Sendable (String, RelayError) -> Void
    private let queues: CursorQueues
    private let files = Mutex<[String: WeakFile]>([:])

    /// - Parameter folder: nil stands for the user's state folder.
    init(
        _ folder: String?, service: String, faults: CursorFaults = .none, syncDelay: DispatchTimeInterval = .seconds(5),
        onFailure: @escaping @Sendable (String, RelayError) -> Void
    ) {
        (given, self.service, self.faults, self.onFailure) = (folder, service, faults, onFailure)
        queues = CursorQueues(syncDelay: syncDelay)
    }

    /// Throws as `CursorFile` does.
    func open(
        _ name: String, _ interface: String, names: Set<String>?, restarts: Bool = false
    ) throws(RelayError) -> Cursor {
        let result = files.withLock { files in
            Result { () throws(RelayError) -> Cursor in
                if let cursor = try files[name]?.file?.use(interface, names: names) { return cursor }
                let folder = try CursorFolder(given, environment: CursorFolder.environment)
                let file = try CursorFile(
                    name, in: folder, service: service, restarts: restarts, queues: queues, faults: faults,
                    onFailure: onFailure)
                files[name] = WeakFile(file: file)
                guard let cursor = try file.use(interface, names: names) else {
                    throw RelayError(.conflict, "cursor '\(name)' is in use")
                }
                return cursor
            }
        }
        return try result.get()
    }
    /// Writes all that is not written yet.
    func flush() {
        let open = files.withLock { files in files.values.compactMap(\.file) }
        for file in open { file.flush() }
    }
}
