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
    package static let bound = Duration.milliseconds(250)

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
    /// So often in a row: the writer publishes without a break, and is let write for a while. Each look takes the line of the tail
    /// from its cache, which costs both more than an event does.
    private static var longStreak: Int { 256 }
    private static var breather: Int { 64 }
    private let lastWake = Atomic<UInt64>(0)
    private let pauses: Int
    /// Whoever is woken twice within this time would have met the second event awake, had it spun: in nanoseconds, with being woken.
    private static var shortSleep: UInt64 { 50_000 }

    /// Maps the page that a service made for this peer. The descriptor stays the caller's, and is not needed afterwards.
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

    /// Tells the service how far this peer has come with a ring, for people to see. Any thread; a store, and no more.
    ///
    /// - Parameters:
    ///   - sequence: the last that was delivered.
    ///   - lane: the number in the ring's header; one that has no place is passed over.
    package func report(_ sequence: UInt64, lane: Int) {
        if 0..<WaitPage.progressCount ~= lane { relay_store(progress + 8 * lane, sequence) }
    }

    /// Waits until there is news, somebody interrupts, or `bound` is over; returns whether there is news.
    ///
    /// Spins only where that was of use the last time.
    ///
    /// - Parameter hasNews: whether any of the thread's rings has something; looked at often, so it must not take long.
    package func wait(until hasNews: () -> Bool) -> Bool { wait(nanoseconds: 250_000_000, pauses, until: hasNews) }
    /// As above.
    ///
    /// - Parameter limit: at most `bound`.
    package func wait(
        atMost limit: Duration = bound, spinning: Spinning = .standard, until hasNews: () -> Bool
    ) -> Bool {
        let (seconds, attoseconds) = max(.zero, min(limit, Self.bound)).components
        let nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
        return wait(nanoseconds: nanoseconds, spinning.pauses, until: hasNews)
    }
    // One look at the clock, no lazy constant, no arithmetic of the library's: a thread that wakes up finds all of its code cold, and
    // each page that it touches costs more than what it does there.
    @inline(__always) private func wait(nanoseconds: UInt64, _ pauses: Int, until hasNews: () -> Bool) -> Bool {
        if spins.load(ordering: .relaxed) {
            let streak = streak.load(ordering: .relaxed)
            if streak >= Self.longStreak, pauses > 0 { for _ in 0..<Self.breather { relay_pause() } }
            for look in 0..<pauses {
                if hasNews() {
                    self.streak.store(look < Self.fewLooks ? min(streak + 1, Self.longStreak) : 0, ordering: .relaxed)
                    return true
                }
                relay_pause()
            }
            self.streak.store(0, ordering: .relaxed)
            // In vain: events are rarer than that. Who has many beside it would keep them from their processors.
            spins.store(false, ordering: .relaxed)
        }
        // Raised before the look at the tails; a writer looks here after its tail is out. One of the two sees the other.
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
        return hasNews()
    }
    /// Ends the wait that goes on, or the next one. Any thread.
    package func interrupt() {
        isInterrupted.store(true, ordering: .sequentiallyConsistent)
        relay_fence_full()
        relay_store32(flag, 0)
        _ = relay_futex_wake(flag, 1)
    }
}
