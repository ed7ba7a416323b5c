import Relocation
import RelocationDomain
import Synchronization

/// Keeps boxes and items in memory: what the journal's store is compared with.
///
/// Units of work run one at a time, on any thread.
final class MemoryStore: RelocationStore {
    private struct Committed {
        var state: MemoryState
        /// How many events were emitted.
        var sequence: UInt64 = 0
    }
    private let committed: Mutex<Committed>
    private let emit: @Sendable (any RelocationEvent) -> Void

    /// Starts with `state`.
    ///
    /// `emit` is called for each event, after the commit and before the unit returns, on the thread that runs the unit and under
    /// the store's lock: the order of events is that of the commits. It must not wait, and must not come back to this store.
    init(_ state: MemoryState = MemoryState(), emit: @escaping @Sendable (any RelocationEvent) -> Void) {
        committed = Mutex(Committed(state: state))
        self.emit = emit
    }

    /// A copy of what was committed last.
    var state: MemoryState { committed.withLock { $0.state } }

    func perform<Work: RelocationWork>(_ work: Work) throws -> Work.Outcome {
        try committed.withLock { committed in
            var unit = MemoryUnit(committed.state)
            do {
                let outcome = try work.perform(in: &unit)
                committed.state = unit.state
                committed.sequence += UInt64(unit.events.count)
                for event in unit.events { emit(event) }
                return outcome
            } catch let failure as Work.Refusal {
                let events = work.events(reporting: failure)
                committed.sequence += UInt64(events.count)
                for event in events { emit(event) }
                throw failure
            }
        }
    }
    func stock(after place: Contents.Place, count: Int) -> Stock {
        committed.withLock {
            $0.state.stock(after: place.boxID, place.itemID, count: count, sequence: $0.sequence)
        }
    }
}
