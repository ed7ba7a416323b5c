import RelayCore
import Synchronization

/// Calls one command after the other, and keeps how long each took.
final class CallTimes: Sendable {
    private struct State {
        var phase: String?
        var times: [String: [Int]] = [:]
        var failures: [String] = []
        var task: Task<Void, Never>?
    }
    private let relay: EventRelay
    private let state = Mutex(State())

    init(_ relay: EventRelay) { self.relay = relay }

    func start() {
        let task = Task.detached { [weak self] in
            var number: Int64 = 0
            while let self, !Task.isCancelled {
                number += 1
                let (phase, start) = (state.withLock { $0.phase }, ContinuousClock.now)
                do { _ = try await relay.call(Ask(number: number)) } catch {
                    // The one that `end` cut off has not failed.
                    if !Task.isCancelled { state.withLock { $0.failures.append("\(error)") } }
                    return
                }
                let (seconds, attoseconds) = (ContinuousClock.now - start).components
                let time = Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
                if let phase { state.withLock { $0.times[phase, default: []].append(time) } }
                // As often as an application would, and not so often that the calls are the load.
                try? await Task.sleep(for: .milliseconds(2))
            }
        }
        state.withLock { $0.task = task }
    }
    /// The times of the calls that begin from here on are kept under this name.
    func begin(_ phase: String) { state.withLock { $0.phase = phase } }
    func end() {
        let task = state.withLock { state in
            state.phase = nil
            return state.task
        }
        task?.cancel()
    }
    var failures: [String] { state.withLock { $0.failures } }
    func count(_ phase: String) -> Int { state.withLock { $0.times[phase]?.count ?? 0 } }
    /// The slowest of each fifty calls in a row, in microseconds: a moment's disturbance moves one of them only.
    func worst(_ phase: String) -> [Int] {
        let times = state.withLock { $0.times[phase] ?? [] }
        return stride(from: 0, to: times.count - 49, by: 50).map { times[$0..<$0 + 50].max() ?? .max }
    }
}
