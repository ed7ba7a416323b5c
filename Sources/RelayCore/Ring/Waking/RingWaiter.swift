import CRelayShims
import Glibc
import Synchronization

/// A peer's side of its wait page: one thread that reads several rings sleeps here until one of them has something.
package final class RingWaiter: Sendable {
    /// How long a thread looks again and again before it sleeps.
    package struct Spinning: Hashable, Sendable {
        package let pauses: Int
        package init(pauses: Int) { self.pauses = pauses }
        /// For threads that share a processor with the one that they wait for.
        package static let none = Self(pauses: 0)
        /// About as long as falling asleep and being woken takes; none where there is a single processor.
        package static let standard = relay_usable_processors() > 1 ? Self(pauses: 2_000) : .none
    }
    /// Nobody sleeps longer without a look: whatever becomes of the page, nothing is later than this.
    package static let bound = Duration.nanoseconds(nanoseconds)
    private static var nanoseconds: Int64 { 250_000_000 }

    private let memory: SealedMemory
    nonisolated(unsafe) private let flag: UnsafeMutableRawPointer  // Only by relay_load32 and relay_store32.
    nonisolated(unsafe) private let progress: UnsafeMutableRawPointer  // Only by relay_store.
    private let isInterrupted = Atomic(false)
    /// Of the one thread that waits; atomic for no other reason than that this is `Sendable`.
    private let spins = Atomic(true)
    /// How often in a row there was news at once.
    private let streak = Atomic(0)
    /// There was news at once: after so few looks.
    private static var fewLooks: Int { 16 }
    /// So often in a row: the writer publishes without a break, and is let write for a while. Each look takes the line
    /// of the tail from its cache, which costs both more than an event does.
    private static var longStreak: Int { 256 }
    private static var breather: Int { 64 }
    private let lastWake = Atomic<UInt64>(0)
    private let pauses: Int
    /// Who is woken twice within this time would have met the second event awake, had it spun: in nanoseconds. A
    /// service wakes it at most once in 50 µs.
    private static var shortSleep: UInt64 { 75_000 }

    /// Maps the page that a service made for this peer. The descriptor stays the caller's, and is not needed
    /// afterwards.
    ///
    /// Throws `.invalidArgument` with a `RingFault` as its cause for a descriptor that is no wait page.
    package init(receiving descriptor: Int32) throws(RelayError) {
        pauses = Spinning.standard.pauses
        memory = try SealedMemory(
            receiving: descriptor, size: WaitPage.size, seals: .fixedSize, writable: true)
        let version = relay_load(memory.base + WaitPage.versionOffset)
        guard version == WaitPage.version else { throw RingFault(.magic(version)).relayError() }
        let offset = relay_load(memory.base + WaitPage.flagOffsetOffset)
        guard offset < UInt64(WaitPage.size), offset % 128 == 0 else {
            throw RingFault(.flagOffset(UInt32(truncatingIfNeeded: offset))).relayError()
        }
        flag = memory.base + Int(offset)
        progress = memory.base + WaitPage.progressOffset(flag: Int(offset))
    }

    /// Reports to the service how far this peer has come with a ring, for people to see. Any thread; a store, and no
    /// more.
    ///
    /// - Parameters:
    ///   - sequence: the last that was delivered.
    ///   - ringIndex: the number in the ring's header; one that has no place is passed over.
    package func report(_ sequence: UInt64, ringIndex: Int) {
        if 0..<WaitPage.progressCount ~= ringIndex { relay_store(progress + 8 * ringIndex, sequence) }
    }

    /// Waits until there is news, somebody interrupts, or the time is over; returns whether there is news.
    ///
    /// Spins only where that was of use the last time: there was news, or it was woken twice within a short while.
    ///
    /// - Parameters:
    ///   - limit: at most `bound`.
    ///   - hasNews: whether any of the thread's rings has something; called often, so it must be quick.
    package func wait(
        atMost limit: Duration = bound, spinning: Spinning = .standard, until hasNews: () -> Bool
    ) -> Bool {
        if spin(spinning.pauses, until: hasNews, unless: { false }) == .news { return true }
        let (seconds, attoseconds) = max(.zero, min(limit, Self.bound)).components
        sleep(UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000), until: hasNews)
        return hasNews()
    }

    /// How a look again and again ended.
    enum SpinEnd { case news, over, disturbed }
    /// The first part of a wait: looks again and again, if that was of use the last time, and unless it is disturbed.
    @inline(__always) func spin(until hasNews: () -> Bool, unless isDisturbed: () -> Bool) -> SpinEnd {
        spin(pauses, until: hasNews, unless: isDisturbed)
    }
    @inline(__always) private func spin(_ pauses: Int, until hasNews: () -> Bool, unless isDisturbed: () -> Bool)
        -> SpinEnd
    {
        guard spins.load(ordering: .relaxed) else { return .over }
        let streak = streak.load(ordering: .relaxed)
        if streak >= Self.longStreak, pauses > 0 { for _ in 0..<Self.breather { relay_pause() } }
        for look in 0..<pauses {
            // First: a ring that always has news must not keep others from their turns.
            if isDisturbed() { return .disturbed }
            if hasNews() {
                self.streak.store(look < Self.fewLooks ? min(streak + 1, Self.longStreak) : 0, ordering: .relaxed)
                return .news
            }
            relay_pause()
        }
        self.streak.store(0, ordering: .relaxed)
        // In vain: events are rarer than that. Who has many beside it would keep them from their processors.
        spins.store(false, ordering: .relaxed)
        return .over
    }
    /// The second part: sleeps until there is news, somebody interrupts, or `bound` is over.
    @inline(__always) func sleep(until hasNews: () -> Bool) { sleep(UInt64(Self.nanoseconds), until: hasNews) }
    // One look at the clock, no lazy constant, no arithmetic of the library's: a thread that wakes up finds all of its
    // code cold, and each page that it touches costs more than what it does there.
    @inline(__always) private func sleep(_ nanoseconds: UInt64, until hasNews: () -> Bool) {
        // Raised before the look at the tails; a writer looks here after its tail is out. One of the two sees the
        // other.
        relay_store32(flag, 1)
        relay_fence_full()
        if !hasNews(), !isInterrupted.load(ordering: .sequentiallyConsistent) {
            _ = relay_futex_wait(flag, 1, nanoseconds)
            let now = MonotonicClock.now
            if now - lastWake.load(ordering: .relaxed) < Self.shortSleep { spins.store(true, ordering: .relaxed) }
            lastWake.store(now, ordering: .relaxed)
        } else {
            spins.store(true, ordering: .relaxed)
        }
        relay_store32(flag, 0)
        isInterrupted.store(false, ordering: .sequentiallyConsistent)
    }
    /// Ends the wait that goes on, or the next one. Any thread.
    package func interrupt() {
        isInterrupted.store(true, ordering: .sequentiallyConsistent)
        relay_fence_full()
        relay_store32(flag, 0)
        _ = relay_futex_wake(flag, 1)
    }
}
