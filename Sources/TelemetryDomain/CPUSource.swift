import Glibc
package import RelayCore
import Telemetry

/// Processors' times, from /proc/stat.
package struct CPUSource: TelemetrySource {
    package let name = "processors"
    private let file: ProcFile
    /// Of one tick.
    private let microseconds: UInt64

    /// Throws `Unavailable` with the path and the reason.
    package init(_ path: String = "/proc/stat") throws(RelayError) {
        file = try ProcFile(path)
        microseconds = 1_000_000 / UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    }
    package mutating func sample(to output: any TelemetryOutput) throws -> Int {
        let all = try file.figures(CPUTimes.parse)
        let uptime = Uptime.now
        for one in all {
            func time(_ kind: Int) -> UInt64 {
                let (time, isTooLarge) = one.ticks[kind].multipliedReportingOverflow(by: microseconds)
                return isTooLarge ? .max : time
            }
            try output.publish(
                CPUSampled(
                    uptime: uptime, user: time(0), nice: time(1), system: time(2), idle: time(3), ioWait: time(4),
                    interrupt: time(5), softInterrupt: time(6), stolen: time(7), cpu: one.cpu, cpus: UInt32(all.count)))
        }
        return all.count
    }
}
