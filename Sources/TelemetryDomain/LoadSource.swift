package import RelayCore
import Telemetry

/// How busy the host is, from /proc/loadavg.
package struct LoadSource: TelemetrySource {
    package let name = "load"
    private let file: ProcFile

    /// Throws `Unavailable` with the path and the reason.
    package init(_ path: String = "/proc/loadavg") throws(RelayError) { file = try ProcFile(path) }

    package mutating func sample(to output: any TelemetryOutput) throws -> Int {
        let figures = try file.figures(LoadFigures.parse)
        try output.publish(
            LoadSampled(
                uptime: Uptime.now, over1Minute: figures.averages.0, over5Minutes: figures.averages.1,
                over15Minutes: figures.averages.2, running: figures.running, threads: figures.threads))
        return 1
    }
}
