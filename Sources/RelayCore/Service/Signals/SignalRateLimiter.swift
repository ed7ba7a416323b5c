/// Whether an interface's events go out as signals, as a value.
///
/// A meter over the budget: a bucket of tokens that time fills, from which each signal takes one. When there is none,
/// or the bus holds too much, signals pause; they go on after a second in which no more events came than the budget
/// allows, and the bus held little all the time. Times are nanoseconds of a monotonic clock.
struct SignalRateLimiter {
    private let budget: SignalBudget
    /// What the bucket holds, in tokens times 10⁹, so that nothing is lost to rounding.
    private var level: UInt64
    private var filledAt: UInt64 = 0
    private var pause: Pause?

    /// The second that is waited for: when it began, and how far the interface had come.
    private struct Pause {
        let since: UInt64
        let sequence: UInt64
    }
    private static let token: UInt64 = 1_000_000_000
    /// How long both have to hold before signals go on.
    private let calm: UInt64
    /// Past these a budget bounds nothing; and all below fits in 64 bits.
    private static let maximum = 1 << 32

    init(_ budget: SignalBudget, _ timing: ServiceTiming.Signals = ServiceTiming.Signals()) {
        (self.budget, calm) = (budget, MonotonicClock.nanoseconds(timing.calm))
        level = Self.capacity(budget)
    }
    private static func capacity(_ budget: SignalBudget) -> UInt64 { UInt64(min(budget.burst, maximum)) * token }

    var isPaused: Bool { pause != nil }

    /// Whether the event with this sequence may go out, as `count` signals. If not, signals pause before it.
    ///
    /// An event that goes to more peers than may come at once takes what the full bucket has: else it never could.
    mutating func admits(_ sequence: UInt64, signals count: Int = 1, now: UInt64) -> Bool {
        if isPaused { return false }
        if budget.rate == nil { return true }
        fill(now)
        let cost = UInt64(max(1, min(count, budget.burst, Self.maximum))) * Self.token
        if level < cost {
            pause(before: sequence, now: now)
            return false
        }
        level -= cost
        return true
    }
    /// Signals pause before the event with this sequence: the bus holds too much.
    mutating func pause(before sequence: UInt64, now: UInt64) {
        if !isPaused { pause = Pause(since: now, sequence: sequence &- 1) }
    }
    /// A look at a pause, every now and then. Whether it is over.
    ///
    /// - Parameter sequence: how far the interface has come.
    mutating func tick(_ sequence: UInt64, isPressed: Bool, now: UInt64) -> Bool {
        guard let start = pause else { return false }
        let elapsed = now > start.since ? now - start.since : 0
        // A pause may be checked late, and then by more than a second's worth of events.
        if isPressed || sequence &- start.sequence > allowance(max(elapsed, calm)) {
            pause = Pause(since: now, sequence: sequence)
            return false
        }
        if elapsed < calm { return false }
        fill(now)
        pause = nil
        return true
    }
    private mutating func fill(_ now: UInt64) {
        guard now > filledAt, let rate = budget.rate else { return }
        let (gain, overflow) = (now - filledAt).multipliedReportingOverflow(by: UInt64(min(rate, Self.maximum)))
        filledAt = now
        let capacity = Self.capacity(budget)
        level = overflow || gain > capacity - level ? capacity : level + gain
    }
    /// How many events the budget has for so long.
    private func allowance(_ nanoseconds: UInt64) -> UInt64 {
        guard let rate = budget.rate else { return .max }
        let (tokens, overflow) = nanoseconds.multipliedReportingOverflow(by: UInt64(min(rate, Self.maximum)))
        return overflow ? .max : tokens / Self.token
    }
}
