import RelayEvents
import Synchronization

/// Knows what is wanted; refuses calls that overlap or repeat.
final class Interests: InterestObserver {
    private struct State {
        var wanted: Set<String> = []
        var calls = 0
        var isInside = false
        var faults: [String] = []
    }
    private let state = Mutex(State())
    var wanted: Set<String> { state.withLock { $0.wanted } }
    var calls: Int { state.withLock { $0.calls } }
    var faults: [String] { state.withLock { $0.faults } }

    func interestBegan<E: Event>(in type: E.Type) { tell("\(type)", true) }
    func interestEnded<E: Event>(in type: E.Type) { tell("\(type)", false) }
    private func tell(_ name: String, _ isWanted: Bool) {
        state.withLock { state in
            if state.isInside { state.faults.append("two calls at once") }
            state.isInside = true
            state.calls += 1
        }
        state.withLock { state in
            if state.wanted.contains(name) == isWanted { state.faults.append("\(name) told twice: \(isWanted)") }
            if isWanted { state.wanted.insert(name) } else { state.wanted.remove(name) }
            state.isInside = false
        }
    }
}
