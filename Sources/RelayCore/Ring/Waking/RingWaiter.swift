import CRelayShims
import Glibc
import Synchronization

/// A peer's side of its wait page: one thread that reads several rings sleeps here until one of them has something.
package final class RingWaiter: Sendable {
    /// How long a thread looks again and again before it sleeps.
    package struct Spinning: Hashable, Sendable {
        /// Nil: as `SpinRule` decides.
        fileprivate let pauses: Int?
        private init(_ pauses: Int?) { self.pauses = pauses }
        /// So often each time.
        package init(pauses: Int) { self.init(.some(pauses)) }
        /// For threads that share a processor with the one that they wait for.
        package static let none = Self(pauses: 0)
        /// Until there is news.
        package static let always = Self(pauses: .max)
        /// As its last waits would have been cheapest; none where there is a single processor.
        package static let standard = relay_usable_processors() > 1 ? Self(nil) : .none
    }
    /// Nobody sleeps longer without a look: whatever becomes of the page, nothing is later than this.
    package static let bound = Duration.nanoseconds(nanoseconds)
    private static var nanoseconds: Int64 { 250_000_000 }

    private let memory: SealedMemory
    nonisolated(unsafe) private let flag: UnsafeMutableRawPointer  // Only by relay_load32 and relay_store32.
    nonisolated(unsafe) private let progress: UnsafeMutableRawPointer  // Only by relay_store.
    private let isInterrupted = Atomic(false)
    // Exempt from the run-time check of exclusive access: only the one thread that waits comes here, for every event.
    @exclusivity(unchecked) nonisolated(unsafe) private var rule = SpinRule()
    /// Measured by each spin in vain.
    @exclusivity(unchecked) nonisolated(unsafe) private var look = LookTime()
    /// How often in a row there was news at once.
    private let streak = Atomic(0)
    /// There was news at once: after so few looks.
    private static var fewLooks: Int { 16 }
    /// So often in a row: the writer publishes without a break, and is let write for a while. Each look takes the line
    /// of the tail from its cache, which costs both more than an event does.
    private static var longStreak: Int { 256 }
    private static var breather: Int { 64 }
    private let spinning: Spinning

    /// Maps the page that a service made for this peer, and seals it: that waits as long as another one holds its lock.
    ///
    /// Throws as ``init(receiving:spinning:)``, and if it cannot be sealed.
    package static func sealing(
        _ page: ReceivedDescriptor, spinning: Spinning = .standard
    ) throws(RelayError) -> RingWaiter {
        try page.withNumber { number throws(RelayError) in
            let waiter = try RingWaiter(receiving: number, spinning: spinning)
            if !WaitPage.seal(number) { throw RingFault(.seals(.settled)).relayError() }
            return waiter
        }
    }
    /// Maps the page that a service made for this peer. The descriptor stays the caller's, and is not needed
    /// afterwards.
    ///
    /// Throws `.invalidArgument` with a `RingFault` as its cause for a descriptor that is no wait page.
    package init(receiving descriptor: Int32, spinning: Spinning = .standard) throws(RelayError) {
        self.spinning = spinning
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
    /// - Parameters:
    ///   - limit: at most `bound`.
    ///   - spinning: how long it looks before it sleeps.
    ///   - hasNews: whether any of the thread's rings has something; called often, so it must be quick.
    package func wait(
        atMost limit: Duration = bound, spinning: Spinning = .standard, until hasNews: () -> Bool
    ) -> Bool {
        if spin(spinning, until: hasNews, unless: { false }) == .news { return true }
        let (seconds, attoseconds) = max(.zero, min(limit, Self.bound)).components
        sleep(UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000), until: hasNews)
        return hasNews()
    }

    /// How a look again and again ended.
    enum SpinEnd { case news, over, disturbed }
    /// The first part of a wait: looks again and again, as long as that is likely to be of use, and unless it is
    /// disturbed.
    @inline(__always) func spin(until hasNews: () -> Bool, unless isDisturbed: () -> Bool) -> SpinEnd {
        spin(spinning, until: hasNews, unless: isDisturbed)
    }
    @inline(__always) private func spin(
        _ spinning: Spinning, until hasNews: () -> Bool, unless isDisturbed: () -> Bool
    ) -> SpinEnd {
        let looks = spinning.pauses ?? look.count(within: rule.begin().nanoseconds)
        if looks == 0 { return .over }
        let streak = streak.load(ordering: .relaxed)
        if streak >= Self.longStreak { for _ in 0..<Self.breather { relay_pause() } }
        var start: UInt64 = 0
        for number in 0..<looks {
            // First: a ring that always has news must not keep others from their turns.
            if isDisturbed() { return .disturbed }
            if hasNews() {
                self.streak.store(number < Self.fewLooks ? min(streak + 1, Self.longStreak) : 0, ordering: .relaxed)
                if spinning.pauses == nil { rule.met(after: look.time(of: number)) }
                return .news
            }
            // Not before the first look: what is there already waits for no clock.
            if number == Self.fewLooks { start = MonotonicClock.now }
            relay_pause()
        }
        self.streak.store(0, ordering: .relaxed)
        if looks > 2 * Self.fewLooks { look.measured(looks - Self.fewLooks, took: MonotonicClock.now &- start) }
        return .over
    }
    /// The second part: sleeps until there is news, somebody interrupts, or `bound` is over.
    @inline(__always) func sleep(until hasNews: () -> Bool) { sleep(UInt64(Self.nanoseconds), until: hasNews) }
    // No lazy constant, no arithmetic of the library's: a thread that wakes up finds all of its code cold, and each page
    // that it touches costs more than what it does there.
    @inline(__always) private func sleep(_ nanoseconds: UInt64, until hasNews: () -> Bool) {
        // Raised before the look at the tails; a writer looks here after its tail is out. One of the two sees the
        // other.
        relay_store32(flag, 1)
        relay_fence_full()
        if hasNews() {
            rule.met(after: rule.spun)
        } else if !isInterrupted.load(ordering: .sequentiallyConsistent) {
            let start = MonotonicClock.now
            _ = relay_futex_wait(flag, 1, nanoseconds)
            if !isInterrupted.load(ordering: .relaxed) {
                rule.slept(rule.spun + Int(truncatingIfNeeded: MonotonicClock.now &- start))
            }
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

/// How long a look takes, with its pause: a few nanoseconds on one machine, and a hundred on another.
private struct LookTime {
    private var nanoseconds = 30.0
    private var perNanosecond = 1 / 30.0

    @inline(__always) func count(within nanoseconds: Int) -> Int { Int(Double(nanoseconds) * perNanosecond) }
    @inline(__always) func time(of looks: Int) -> Int { Int(Double(looks) * nanoseconds) }
    /// So many took so long, or less: the thread may have lost its processor meanwhile. So one measurement counts for
    /// little if it says more than those before.
    mutating func measured(_ looks: Int, took time: UInt64) {
        let one = min(Double(time) / Double(looks), 2 * nanoseconds)
        nanoseconds = max(1, nanoseconds + (one - nanoseconds) / (one < nanoseconds ? 2 : 16))
        perNanosecond = 1 / nanoseconds
    }
}
