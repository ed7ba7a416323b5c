package import RelayCore
import Telemetry

/// The host's memory, from /proc/meminfo.
package struct MemorySource: TelemetrySource {
    package let name = "memory"
    private let file: ProcFile

    /// Throws `Unavailable` with the path and the reason.
    package init(_ path: String = "/proc/meminfo") throws(RelayError) { file = try ProcFile(path) }

    package mutating func sample(to output: any TelemetryOutput) throws -> Int {
        let figures = try file.figures(MemoryFigures.parse)
        try output.publish(
            MemorySampled(
                uptime: Uptime.now, total: figures.total, free: figures.free, available: figures.available,
                buffers: figures.buffers, cached: figures.cached, swapTotal: figures.swapTotal,
                swapFree: figures.swapFree))
        return 1
    }
}
