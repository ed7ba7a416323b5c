import Synchronization

/// A time that stands until a test moves it: that of loops, and of what is stamped beside them.
package final class ManualClock: Sendable {
    private struct WeakLoop {
        weak var core: LoopCore?
    }
    private struct State {
        /// As `MonotonicClock.now`; not 0, so that what is before has a number, too.
        var now: UInt64 = 1_000_000_000
        var loops: [WeakLoop] = []
    }
    /// The calendar time at the start.
    private let start: Timestamp
    private let origin: UInt64
    private let state = Mutex(State())

    package init(startingAt start: Timestamp) { (self.start, origin) = (start, State().now) }

    package var now: UInt64 { state.withLock { $0.now } }
    package var timestamp: Timestamp { Timestamp(microseconds: start.microseconds &+ (now - origin) / 1_000) }

    func add(_ core: LoopCore) {
        state.withLock { state in
            state.loops.removeAll { $0.core == nil }
            state.loops.append(WeakLoop(core: core))
        }
    }
    private var loops: [LoopCore] { state.withLock { $0.loops.compactMap(\.core) } }

    /// Moves on to the next deadline of a loop, or to `end`, whichever is first. Returns false at the end.
    ///
    /// A loop whose deadline has come is woken; `isIdle` reports when it has done what was due.
    package func step(to end: UInt64) -> Bool {
        let loops = loops
        let next = loops.compactMap { $0.nextDeadline }.min() ?? .max
        let time = min(end, next)
        state.withLock { $0.now = max($0.now, time) }
        for core in loops { core.look() }
        return time < end
    }
    /// No loop has anything to do before the time moves.
    package var isIdle: Bool { loops.allSatisfy(\.isIdle) }
    /// How many jobs and timers have run: what has not changed between two looks has done nothing.
    package var activity: UInt64 { loops.reduce(0) { $0 &+ $1.activity } }
}
