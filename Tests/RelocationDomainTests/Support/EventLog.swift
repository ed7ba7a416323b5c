import Relocation
import Synchronization

/// Keeps what a store emits, in order.
final class EventLog: Sendable {
    private let log = Mutex<[any RelocationEvent]>([])
    var events: [any RelocationEvent] { log.withLock { $0 } }
    func append(_ event: any RelocationEvent) { log.withLock { $0.append(event) } }
}
