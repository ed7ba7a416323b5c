/// How long a reader looks again and again before it sleeps, as a value: what its last waits would have cost decides.
///
/// A spin costs its length in processor time, and a sleep costs `sleep`. The rule keeps, for each limit of a spin, a
/// decayed mean of what waits under that limit cost: the length of those that ended within it, and the limit and a sleep
/// of the others. It spins up to the limit with the least mean, if that is less than a sleep.
///
/// Waits that follow a sleep have means of their own: a reader that is woken late meets the next event soon, and would
/// take that for the rate of all events. There a spin must cost less than half a sleep, since the next sleep is likely
/// to end with several events.
///
/// How long a wait would have been is not known of one that slept a short while: most of that is the waking. So after
/// some of those, one wait spins to find out, and more rarely as long as that is in vain.
package struct SpinRule: Hashable, Sendable {
    /// What falling asleep and being woken is worth, in nanoseconds: the processor takes 20 to 30 µs for both, measured
    /// by `relay-bench`; and where events come sooner than that, a sleep would delay each of them.
    package static let sleep = 20_000
    /// How much of a sleep may be the waking: a service wakes a peer at most once in 50 µs, and the kernel takes 20.
    static let waking = 75_000
    /// How many waits a mean remembers, as a power of two.
    private static let memory = 4
    /// After how many short sleeps one wait spins to find out; doubled when that was in vain.
    private static let patience = 16...64
    /// Half a sleep, since a burst's events are close to each other; a sleep, which costs at most twice the best in any
    /// case; and two, since a few longer waits among short ones are cheaper spun.
    package enum Limit: Int, CaseIterable, Sendable {
        case none, half, one, two
        @inline(__always) package var nanoseconds: Int { rawValue == 3 ? 2 * sleep : rawValue * sleep / 2 }
    }
    /// What a wait would have cost under each limit, in nanoseconds.
    private struct Means: Hashable {
        private var half = sleep - 1
        private var one = sleep - 1
        private var two = sleep - 1

        /// The one with the least mean; none, if that is not below `bound`.
        @inline(__always) func best(below bound: Int) -> Limit {
            let (limit, least) = half <= one ? (Limit.half, half) : (.one, one)
            if two < least { return two < bound ? .two : .none }
            return least < bound ? limit : .none
        }
        /// A wait took so long.
        @inline(__always) mutating func add(_ length: Int) {
            Self.move(&half, length, .half)
            Self.move(&one, length, .one)
            Self.move(&two, length, .two)
        }
        /// A wait took longer than this. What the limits above would have cost is not known.
        mutating func add(over length: Int) {
            if length >= Limit.half.nanoseconds { Self.move(&half, .max, .half) }
            if length >= Limit.one.nanoseconds { Self.move(&one, .max, .one) }
            if length >= Limit.two.nanoseconds { Self.move(&two, .max, .two) }
        }
        @inline(__always) private static func move(_ mean: inout Int, _ length: Int, _ limit: Limit) {
            let most = limit.nanoseconds
            mean += ((length <= most ? length : most + sleep) - mean) >> memory
        }
    }
    private var afterNews = Means()
    private var afterSleep = Means()
    private var hasSlept = false
    /// Short sleeps since the last spin to find out, and after how many there is one.
    private var shortSleeps = 0
    private var patience = Self.patience.lowerBound
    /// Of the wait under way.
    private var limit = Limit.none
    private var isTrial = false

    package init() {}

    /// How long the wait under way spins, in nanoseconds.
    @inline(__always) package var spun: Int { limit.nanoseconds }
    /// A wait begins: how long it spins. Of one that has no end in `met` or `slept` nothing is learnt.
    @inline(__always) package mutating func begin() -> Limit {
        isTrial = false
        limit = hasSlept ? afterSleep.best(below: Self.sleep / 2) : afterNews.best(below: Self.sleep)
        if limit == .none, shortSleeps >= patience { beginTrial() }
        return limit
    }
    private mutating func beginTrial() {
        (isTrial, limit, shortSleeps) = (true, .one, 0)
    }
    /// It has met news awake, after so many nanoseconds.
    @inline(__always) package mutating func met(after length: Int) {
        if hasSlept { afterSleep.add(length) } else { afterNews.add(length) }
        if isTrial {
            patience = Self.patience.lowerBound
            // As long as it is of use, the next one finds out, too: what follows an event has means of its own.
            shortSleeps = patience
        }
        hasSlept = false
    }
    /// It has spun in vain, if at all, and slept until it was woken: so many nanoseconds together.
    package mutating func slept(_ length: Int) {
        let least = max(limit.nanoseconds, length - Self.waking)
        if hasSlept { afterSleep.add(over: least) } else { afterNews.add(over: least) }
        if isTrial { patience = min(2 * patience, Self.patience.upperBound) }
        if limit == .none, length <= Limit.two.nanoseconds + Self.waking { shortSleeps += 1 }
        hasSlept = true
    }
}
