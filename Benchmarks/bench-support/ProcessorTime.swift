import Foundation

/// How long processors have been busy with a process.
public enum ProcessorTime {
    /// Nanoseconds, of all its threads, also of those that have ended.
    public static func nanoseconds(of processID: pid_t) throws -> UInt64 {
        var (clock, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(processID, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            throw BenchError(message: "cannot read the CPU time of process \(processID); has it ended?")
        }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
    public static func seconds(of processID: pid_t) throws -> Double { Double(try nanoseconds(of: processID)) / 1e9 }
}
