import Glibc

/// The clock of deadlines: monotonic, in nanoseconds.
package enum MonotonicClock {
    package static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
    /// The deadline that is `duration` from now; one past the clock's end never comes.
    package static func deadline(after duration: Duration) -> UInt64 { deadline(after: duration, from: now) }
    package static func deadline(after duration: Duration, from now: UInt64) -> UInt64 {
        if duration < .zero { return now }
        // A sum may have more seconds than `components` can return.
        if duration > .seconds(UInt64.max / 1_000_000_000) { return .max }
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = now.addingReportingOverflow(whole)
        let (result, secondCarry) = sum.addingReportingOverflow(UInt64(attoseconds) / 1_000_000_000)
        return overflow || carry || secondCarry ? .max : result
    }
    /// A duration as what the clock counts; one that is too long for it as its end.
    package static func nanoseconds(_ duration: Duration) -> UInt64 { deadline(after: duration, from: 0) }
    /// What is left until then; not below zero.
    package static func left(until deadline: UInt64) -> Duration {
        let now = now
        return .nanoseconds(Int64(clamping: deadline > now ? deadline - now : 0))
    }
    /// For epoll: rounded up, else the loop would spin through the deadline's last millisecond. At most 24 days.
    package static func milliseconds(until deadline: UInt64) -> Int32 { milliseconds(until: deadline, from: now) }
    package static func milliseconds(until deadline: UInt64, from now: UInt64) -> Int32 {
        if deadline <= now { return 0 }
        let (whole, part) = (deadline - now).quotientAndRemainder(dividingBy: 1_000_000)
        return Int32(clamping: part == 0 ? whole : whole + 1)
    }
}
