import CRelayShims
import Glibc
import Synchronization

/// A loop's turn: the thread that holds it may touch what belongs to the loop. The loop's thread releases it while it
/// sleeps.
///
/// FIFO, so that a thread which takes it again and again lets others in between.
final class TicketLock: Sendable {
    private let next = Atomic<UInt32>(0)
    private let serving = Atomic<UInt32>(0)
    private let holder = Atomic<UInt>(0)
    /// Counts the calls to sleeping threads: their futex.
    nonisolated(unsafe) private let calls: UnsafeMutableRawPointer  // Only by atomic operations.
    /// A turn is mostly shorter than falling asleep.
    private static let pauses = relay_usable_processors() > 1 ? 200 : 0

    /// An event descriptor that ends the sleep of the thread that holds the turn.
    private let waker: Int32
    /// It may sleep, in the kernel.
    private let isSleeping = Atomic<Bool>(false)

    init(waker: Int32 = -1) {
        self.waker = waker
        calls = .allocate(byteCount: 4, alignment: 4)
        calls.storeBytes(of: 0, as: UInt32.self)
    }
    deinit { calls.deallocate() }

    var isHeld: Bool { next.load(ordering: .relaxed) != serving.load(ordering: .relaxed) }
    /// Whether the calling thread holds it.
    var isMine: Bool { isHeld(by: pthread_self()) }
    func isHeld(by thread: UInt) -> Bool { holder.load(ordering: .relaxed) == thread }

    /// The first ticket after those that are taken. The holder of a later one sees what the caller stored before: hence
    /// an exchange, though it changes nothing.
    func mark() -> UInt32 { next.wrappingAdd(0, ordering: .sequentiallyConsistent).newValue }
    /// Whether all turns before the mark have ended.
    func hasPassed(_ mark: UInt32) -> Bool {
        Int32(bitPattern: serving.load(ordering: .acquiring) &- mark) >= 0
    }

    /// For the thread that holds it: whether another one waits for it.
    @inline(__always) var isWanted: Bool { next.load(ordering: .relaxed) != serving.load(ordering: .relaxed) &+ 1 }

    /// Waits for the turn. A thread that holds it must not ask for it once more.
    @inline(__always) func take() {
        assert(!isMine, "the turn is this thread's already")
        let ticket = next.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
        if serving.load(ordering: .acquiring) != ticket { wait(for: ticket) }
        holder.store(pthread_self(), ordering: .relaxed)
    }
    /// Takes the turn if nobody has it or waits for it.
    func tryTake() -> Bool {
        let served = serving.load(ordering: .acquiring)
        guard next.compareExchange(expected: served, desired: served &+ 1, ordering: .sequentiallyConsistent).exchanged
        else { return false }
        holder.store(pthread_self(), ordering: .relaxed)
        return true
    }
    @inline(__always) func give() {
        holder.store(0, ordering: .relaxed)
        let served = serving.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
        if next.load(ordering: .sequentiallyConsistent) != served { call() }
    }
    /// For the thread that holds it: what it does in between may sleep, as long as `isWantedBySleeper` is false before
    /// each sleep, and the waker ends it.
    func sleep(_ body: () -> Void) {
        // One of the two sees the other: the one that wants the turn has its ticket before it looks.
        isSleeping.store(true, ordering: .sequentiallyConsistent)
        body()
        isSleeping.store(false, ordering: .relaxed)
    }
    var isWantedBySleeper: Bool {
        next.load(ordering: .sequentiallyConsistent) != serving.load(ordering: .relaxed) &+ 1
    }
    @inline(never) private func wait(for ticket: UInt32) {
        if isSleeping.load(ordering: .sequentiallyConsistent) {
            var one: UInt64 = 1
            _ = Glibc.write(waker, &one, 8)
        }
        for _ in 0..<Self.pauses {
            if serving.load(ordering: .acquiring) == ticket { return }
            relay_pause()
        }
        while true {
            // Before the look: a call that comes after it ends the sleep below.
            let seen = relay_load32(calls)
            relay_fence_full()
            if serving.load(ordering: .sequentiallyConsistent) == ticket { return }
            // A second is as good as for ever: it ends by a call.
            _ = relay_futex_wait(calls, seen, 1_000_000_000)
        }
    }
    /// All: each looks whether it is its turn. There are never more than a few.
    @inline(never) private func call() {
        relay_increment32(calls)
        _ = relay_futex_wake(calls, Int32.max)
    }
}
