import CRelayShims
import Synchronization

/// The thread that reads the rings of one followed service. It is there as long as there are rings.
///
/// It looks at the rings' tails without a lock, spins for a while and then sleeps on the wait page; for what is new it
/// takes the loop's turn, so that it may deliver by itself: handing over to another thread would cost more than all the
/// rest.
final class RingThread: Sendable {
    private struct State {
        var watches: [RingWatch] = []
        var isRunning = false
    }
    private let state = Mutex(State())
    /// Counts the changes of the watches.
    private let version = Atomic<Int>(0)
    private let waiter: RingWaiter
    private let loop: BusLoop
    private let read: @Sendable () -> Void

    /// - Parameters:
    ///   - waiter: where it sleeps.
    ///   - read: reads some of what is there, in the loop's turn, on this thread.
    init(_ waiter: RingWaiter, _ loop: BusLoop, read: @escaping @Sendable () -> Void) {
        (self.waiter, self.loop, self.read) = (waiter, loop, read)
    }

    /// Throws `.unavailable` when the process is out of threads.
    func add(_ watch: RingWatch) throws(RelayError) {
        let mustStart = state.withLock { state in
            state.watches.append(watch)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        changed()
        if !mustStart { return }
        do throws(SystemError) { try OwnThread.start("relay-ring") { self.run() } } catch {
            state.withLock { $0 = State() }
            throw RelayError(.unavailable, "no thread for rings: \(error)", cause: error)
        }
    }
    func remove(_ watch: RingWatch) {
        state.withLock { $0.watches.removeAll { $0 === watch } }
        changed()
    }
    private func changed() {
        version.wrappingAdd(1, ordering: .releasing)
        waiter.interrupt()
    }
    /// Reports to the service how far this relay has come; see `RingWaiter.report`.
    @inline(__always) func report(_ sequence: UInt64, ringIndex: Int) { waiter.report(sequence, ringIndex: ringIndex) }

    /// For tests.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    /// Reads, looks for more and reads that, and then sleeps once; less when the watches change.
    ///
    /// The turn is kept while it looks, since taking it would cost a part of what an event does; and given up when
    /// somebody wants it.
    @inline(__always) private func follow(
        _ waiter: RingWaiter, _ loop: BusLoop, _ read: @Sendable () -> Void, _ seen: Int, _ hasNews: () -> Bool
    ) {
        let end = loop.withTurn {
            var end: RingWaiter.SpinEnd
            repeat {
                read()
                end = waiter.spin(until: hasNews) { loop.isTurnWanted || version.load(ordering: .acquiring) != seen }
            } while end == .news
            return end
        }
        if end == .over { waiter.sleep(until: hasNews) }
    }
    private func run() {
        var (watches, seen) = ([RingWatch](), -1)
        // In variables: what is taken out of `self` is counted each time, between a look and the event that it found.
        let (loop, waiter, read) = (loop, waiter, read)
        while true {
            let present = version.load(ordering: .acquiring)
            if present != seen {
                // Decided under the lock: with the next ring there is a thread.
                watches = state.withLock { state in
                    state.isRunning = !state.watches.isEmpty
                    return state.watches
                }
                if watches.isEmpty { return }
                seen = present
            }
            if watches.count == 1 {
                // Kept by the array.
                let only = Unmanaged.passUnretained(watches[0])
                follow(waiter, loop, read, seen) { only._withUnsafeGuaranteedRef { $0.hasNews } }
            } else {
                follow(waiter, loop, read, seen) { watches.contains { $0.hasNews } }
            }
        }
    }
}

/// What any thread may look at of a ring: whether there is something to read for the one that has the reader.
package final class RingWatch: Sendable {
    /// Keeps the memory.
    private let area: RingArea
    nonisolated(unsafe) private let tail: UnsafeRawPointer  // Only by relay_load_acquire.
    nonisolated(unsafe) private let end: UnsafeRawPointer  // Only by relay_load_acquire.
    private let handled = Atomic<UInt64>(0)
    private let leeway = Atomic<UInt64>(0)
    private let hasEnded = Atomic<Bool>(false)

    package init(_ area: RingArea) {
        self.area = area
        (tail, end) = (UnsafeRawPointer(area.tail), UnsafeRawPointer(area.end))
    }
    /// More is written than what has been read and the leeway; or the ring has ended, and that was not read.
    @inline(__always) package var hasNews: Bool {
        let ahead = relay_load_acquire(tail) &- handled.load(ordering: .relaxed)
        if ahead == 0 { return relay_load_acquire(end) != 0 && !hasEnded.load(ordering: .relaxed) && !isParked }
        return ahead > leeway.load(ordering: .relaxed)
    }
    private var isParked: Bool { leeway.load(ordering: .relaxed) > 0 }

    // MARK: Who has the reader

    /// Everything before this position was read.
    @inline(__always) package func read(to position: UInt64) { handled.store(position, ordering: .relaxed) }
    package func readEnd() { hasEnded.store(true, ordering: .relaxed) }
    /// How far the writer may be ahead before that is news; 0: not at all.
    package func park(_ bytes: UInt64) { leeway.store(bytes, ordering: .relaxed) }
}
