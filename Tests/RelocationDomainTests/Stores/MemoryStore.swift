import Relocation
import RelocationDomain
import Synchronization

/// Keeps boxes and items in memory: what the journal's store is compared with.
///
/// Units of work run one at a time, on any thread.
final class MemoryStore: RelocationStore {
    private let committed: Mutex<MemoryState>
    private let emit: @Sendable (any RelocationEvent) -> Void

    /// Starts with `state`.
    ///
    /// `emit` is called for each event, after the commit and before the unit returns, on the thread that runs the unit and under
    /// the store's lock: the order of events is that of the commits. It must not wait, and must not come back to this store.
    init(_ state: MemoryState = MemoryState(), emit: @escaping @Sendable (any RelocationEvent) -> Void) {
        committed = Mutex(state)
        self.emit = emit
    }

    /// A copy of what was committed last.
    var state: MemoryState { committed.withLock { $0 } }

    func perform<Work: RelocationWork>(_ work: Work) throws -> Work.Outcome {
        try unitOfWork { unit in try work.perform(in: &unit) }
    }

    /// Runs `body` on a copy of the state; commits the copy, then emits the events in the order of their publishing.
    ///
    /// What `body` throws leaves the state as it was, emits nothing, and is rethrown.
    func unitOfWork<Result: Sendable>(_ body: (inout MemoryUnit) throws -> Result) throws -> Result {
        try committed.withLock { state in
            var unit = MemoryUnit(state)
            let result = try body(&unit)
            state = unit.state
            for event in unit.events { emit(event) }
            return result
        }
    }
}
