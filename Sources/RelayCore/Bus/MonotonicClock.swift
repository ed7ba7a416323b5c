import Glibc

/// The clock of deadlines: monotonic, in nanoseconds.
package enum MonotonicClock {
    package static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
    /// The deadline that is `duration` from now; one past the clock's end never comes.
    package static func deadline(after duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        if seconds < 0 { return now }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = now.addingReportingOverflow(whole)
        return overflow || carry ? .max : sum &+ UInt64(max(0, attoseconds)) / 1_000_000_000
    }
}
