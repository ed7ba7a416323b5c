import Foundation
import NatsSupport
import RelayBridge
import RelayCore
import RelayJournal
import RelayMirrors
import RelayTestKit

/// What the bridge does over NATS, beside plain C with libnats and SQLite, with the same messages, in one run.
///
/// - out: events a second from a service's journal into a stream; C reads the same events from an SQLite file, and appends
///   messages of the same size. Beside it: C appends the same messages from its memory, which is what the server takes.
/// - in: events a second from a stream into a replica; C reads the same, and commits the events in SQLite by 4 MiB.
/// - latency: from publishing to a handler on the other side; C commits a row, publishes, reads, and commits a row.
///
/// usage: bridge-bench [EVENTS]     in the folder of the sources
@main struct BridgeBench {
    enum Bench1: EventInterface {
        static let name = "org.example.Bench1"
        static let durability = Durable(retention: Retention())
        static var contract: Contract<Self> { Sampled.self }
        struct Sampled: DomainEvent {
            typealias Interface = Bench1
            let number: Int64, text: String
        }
    }
    private static let service = "org.example.Bench"
    private static let (rate, paced) = (200, 2_000)
    /// Beside this program.
    private static let peerPath = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("nats-peer").path

    static func main() async throws {
        let events = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 500_000
        for (release, syncs) in [(NatsServer.Release.recent, true), (.recent, false), (.debian, false)] {
            print("nats-server \(release.rawValue), \(syncs ? "sync_interval: always" : "lazy")")
            try await run(NatsServer(release, syncing: syncs), events)
        }
    }
    private static func run(_ server: NatsServer, _ events: Int) async throws {
        let (origin, office, folder) = (try PrivateBus(), try PrivateBus(), try TestFolder())
        let carrier = NatsCarrier(NatsSettings(servers: [server.url]))
        let name = try ChannelName(host: "kitchen", service: service, interface: Bench1.name)
        let channel = NatsChannel(name)
        let journal = try EventJournal(directory: folder.path + "/journal")
        let origins = try EventService(name: service, on: origin.bus, exporting: Bench1.self, journal: journal)
        try await origins.start()
        let text = String(repeating: "x", count: 40)
        for first in stride(from: 0, to: events, by: 10_000) {
            try await origins.publish(
                contentsOf: (first..<min(first + 10_000, events)).map {
                    Bench1.Sampled(number: Int64($0) + 1, text: text)
                })
        }

        let exporter = try MirrorExporter(of: service, at: "kitchen", to: carrier, on: origin.bus)
        var began = MonotonicClock.now
        let exporting = Task { try await exporter.run() }
        while exporter.status.first?.position != UInt64(events) { try await Task.sleep(for: .milliseconds(2)) }
        let out = MonotonicClock.now - began
        let messages = exporter.status.first?.number ?? 0
        try await make("copy", server)
        let copied = try await peer(["copy", server.url, channel.stream, "copy.page", "\(messages)"])
        report("out, beside messages in memory", events, out, copied, messages)

        let configuration = MirrorConfiguration(
            try MirrorName(of: service, at: "kitchen"), on: office.bus, directory: folder.path + "/replica")
        let mirror = MirrorService(configuration, carrier: carrier)
        began = MonotonicClock.now
        let mirroring = Task { try await mirror.run() }
        while mirror.status.interfaces[Bench1.name]?.position != UInt64(events) {
            try await Task.sleep(for: .milliseconds(2))
        }
        let into = MonotonicClock.now - began
        let read = try await peer(
            ["read", server.url, channel.stream, channel.subjects, "\(messages)", folder.path + "/peer.sqlite"])
        report("in", events, into, read, messages)
        try await make("pack", server)
        let packed = try await peer(
            ["pack", server.url, "pack.page", "\(MirrorMessage.bodySize)", folder.path + "/peer.sqlite"])
        report("out, beside SQLite", events, out, packed, messages)

        let latencies = try await latencies(origins, office, text, events)
        try await make("live", server)
        let hearing = try RunningProgram(
            peerPath,
            ["hear", server.url, "live", "live.page", "\(paced)", folder.path + "/hear.sqlite"])
        try await hearing.line(containing: "ready")
        _ = try await RunningProgram.run(
            peerPath,
            ["send", server.url, "live.page", "\(paced)", "\(rate)", folder.path + "/send.sqlite"])
        let theirs = (await hearing.outcome()).output.last?.split(separator: " ").compactMap { UInt64($0) } ?? []
        print(
            "  latency at \(rate)/s: p50 \(latencies.p50 / 1_000) µs, p99 \(latencies.p99 / 1_000) µs; C: p50 \((theirs.first ?? 0) / 1_000) µs, "
                + "p99 \((theirs.last ?? 0) / 1_000) µs; \(latencies.delivered) of \(paced) delivered")
        for task in [exporting, mirroring] {
            task.cancel()
            _ = await task.result
        }
        try await origins.stop()
    }
    /// From publishing to a handler at the mirror's bus.
    private static func latencies(
        _ origins: EventService, _ office: PrivateBus, _ text: String, _ events: Int
    ) async throws -> (p50: UInt64, p99: UInt64, delivered: Int) {
        let relay = try EventRelay(following: service, at: "kitchen", on: office.bus, interfaces: Bench1.self)
        let stream = try relay.events(of: Bench1.Sampled.self)
        relay.activate()
        try await relay.ready(within: .seconds(60))
        let hearing = Task { () -> [UInt64] in
            var latencies: [UInt64] = []
            for await case .event(_, let stamp) in stream {
                latencies.append((Timestamp.now.microseconds - stamp.publishedAt.microseconds) * 1_000)
                if latencies.count == paced { break }
            }
            return latencies
        }
        for number in 1...paced {
            try await Task.sleep(for: .seconds(1) / rate)
            try await origins.publish(Bench1.Sampled(number: Int64(events + number), text: text))
        }
        try await Task.sleep(for: .seconds(2))
        relay.invalidate()
        let sorted = await hearing.value.sorted()
        guard !sorted.isEmpty else { return (0, 0, 0) }
        return (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100], sorted.count)
    }
    private static func make(_ stream: String, _ server: NatsServer) async throws {
        let outcome = try await RunningProgram.run(peerPath, ["make", server.url, stream, ""])
        if outcome.code != 0 { throw RelayError(.unavailable, "\(outcome)") }
    }
    private static func peer(_ arguments: [String]) async throws -> UInt64 {
        let outcome = try await RunningProgram.run(peerPath, arguments)
        guard outcome.code == 0, let time = outcome.output.last.flatMap({ UInt64($0) }) else {
            throw RelayError(.unavailable, "\(outcome)")
        }
        return time
    }
    private static func report(_ what: String, _ events: Int, _ ours: UInt64, _ theirs: UInt64, _ messages: UInt64) {
        func rate(_ time: UInt64) -> Int { Int(Double(events) / (Double(time) / 1e9)) }
        let ratio = String(format: "%.2f", Double(theirs) / Double(ours))
        print("  \(what): \(rate(ours)) events/s in \(messages) messages; C \(rate(theirs)); ratio \(ratio)")
    }
}
