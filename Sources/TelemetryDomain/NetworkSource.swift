package import RelayCore
import Telemetry

/// What the network interfaces have carried, from /proc/net/dev.
package struct NetworkSource: TelemetrySource {
    package let name = "network interfaces"
    private let file: ProcFile
    private var links = NetworkLinks()

    /// Throws `Unavailable` with the path and the reason.
    package init(_ path: String = "/proc/net/dev") throws(RelayError) { file = try ProcFile(path) }

    package mutating func sample(to output: any TelemetryOutput) throws -> Int {
        let all = try file.figures(LinkFigures.parse)
        let uptime = Uptime.now
        links.refresh(for: all, uptime: uptime)
        var count = 0
        for one in all {
            // One that came up a moment ago may have no number yet.
            guard let link = links.numbers[one.name] else { continue }
            let (received, sent) = (one.received, one.sent)
            try output.publish(
                NetworkSampled(
                    uptime: uptime, receivedBytes: received.bytes, receivedPackets: received.packets,
                    receiveErrors: received.errors, receiveDrops: received.drops, sentBytes: sent.bytes,
                    sentPackets: sent.packets, sendErrors: sent.errors, sendDrops: sent.drops, link: link,
                    links: UInt32(all.count)))
            count += 1
        }
        return count
    }
}
