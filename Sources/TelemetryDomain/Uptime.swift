import Glibc

/// The clock of `TelemetryEvent.uptime`.
enum Uptime {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) &* 1_000_000 &+ UInt64(time.tv_nsec) / 1_000
    }
}
