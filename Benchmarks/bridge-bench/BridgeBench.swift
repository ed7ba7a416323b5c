import Foundation
import NatsSupport
import RelayBridge
import RelayCore
import RelayJournal
import RelayMirrors
import RelayTestKit
import Synchronization

/// What the bridge does over NATS, beside plain C with libnats and SQLite, with the same messages, in one run.
///
/// - out: events a second from a service's journal into a stream; C reads the same events from an SQLite file, and appends
///   messages of the same size. Beside it: C appends the same messages from its memory, which is what the server takes.
/// - in: events a second from a stream into a replica; C reads the same, and commits the events in SQLite by 4 MiB.
/// - latency: from publishing to a handler on the other side; C commits a row, publishes, reads, and commits a row.
///
/// Each round begins with an empty server; behind the last one come the medians.
///
/// usage: bridge-bench [EVENTS] [ROUNDS] [SERVER]     500,000 events in one round; of the servers 0, 1 and 2 all
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

    /// Events a second, and microseconds, of ours and of C's.
    private enum Figure: String, CaseIterable {
        case into = "in", out = "out, beside SQLite", outMemory = "out, beside messages in memory"
        case p50 = "latency p50", p99 = "latency p99"
        var isTime: Bool { self == .p50 || self == .p99 }
    }
    private typealias Pair = (ours: Double, theirs: Double)

    static func main() async throws {
        let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let (events, rounds) = (numbers.first ?? 500_000, numbers.dropFirst().first ?? 1)
        let servers = [(NatsServer.Release.recent, true), (.recent, false), (.debian, false)]
        for (index, (release, syncs)) in servers.enumerated() where numbers.dropFirst(2).first ?? index == index {
            print("nats-server \(release.rawValue), \(syncs ? "sync_interval: always" : "lazy")")
            var found: [Figure: [Pair]] = [:]
            for _ in 0..<rounds {
                for (figure, pair) in try await run(NatsServer(release, syncing: syncs), events) {
                    found[figure, default: []].append(pair)
                }
            }
            for figure in Figure.allCases { report(figure, found[figure] ?? []) }
        }
    }
    /// The median of the rounds, each by itself, and that of their ratios.
    private static func report(_ figure: Figure, _ pairs: [Pair]) {
        func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        if pairs.isEmpty { return }
        let ratios = pairs.map { $0.ours / $0.theirs }.sorted()
        let unit = figure.isTime ? "µs" : "events/s"
        print(
            "  \(figure.rawValue): \(Int(median(pairs.map(\.ours)))) \(unit); C \(Int(median(pairs.map(\.theirs)))); ratio "
                + String(format: "%.2f (%.2f to %.2f)", median(ratios), ratios[0], ratios[ratios.count - 1]))
    }
    private static func run(_ server: NatsServer, _ events: Int) async throws -> [Figure: Pair] {
        func rates(_ ours: UInt64, _ theirs: UInt64) -> Pair {
            (Double(events) / (Double(ours) / 1e9), Double(events) / (Double(theirs) / 1e9))
        }
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
        try await make("pack", server)
        let packed = try await peer(
            ["pack", server.url, "pack.page", "\(MirrorMessage.bodySize)", folder.path + "/peer.sqlite"])

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
        for task in [exporting, mirroring] {
            task.cancel()
            _ = await task.result
        }
        try await origins.stop()
        guard latencies.count == paced, theirs.count == 2 else {
            throw RelayError(.internalFailure, "\(latencies.count) of \(paced) events were delivered; C: \(theirs)")
        }
        func micros(_ index: Int, _ theirs: UInt64) -> Pair { (Double(latencies[index]) / 1e3, Double(theirs) / 1e3) }
        let figures: [Figure: Pair] = [
            .into: rates(into, read), .out: rates(out, packed), .outMemory: rates(out, copied),
            .p50: micros(paced / 2, theirs[0]), .p99: micros(paced * 99 / 100, theirs[1]),
        ]
        for figure in Figure.allCases { report(figure, figures[figure].map { [$0] } ?? []) }
        print("  \(messages) messages")
        return figures
    }
    /// From publishing to a handler at the mirror's bus: as C, each begins before its commit.
    private static func latencies(
        _ origins: EventService, _ office: PrivateBus, _ text: String, _ events: Int
    ) async throws -> [UInt64] {
        // As C's handler, it may hold the thread that reads.
        let relay = try EventRelay(
            following: service, at: "kitchen", on: office.bus, interfaces: Bench1.self, delivery: .immediate)
        let times = Mutex<(begun: [Int64: UInt64], latencies: [UInt64])>(([:], []))
        let hearing = try relay.subscribe(to: Bench1.Sampled.self) { event in
            let now = MonotonicClock.now
            times.withLock { times in
                if let begun = times.begun[event.number] { times.latencies.append(now - begun) }
            }
        } onGap: { gap in
            print("  \(gap)")
        }
        relay.activate()
        try await relay.ready(within: .seconds(60))
        for number in 1...paced {
            try await Task.sleep(for: .seconds(1) / rate)
            let sample = Bench1.Sampled(number: Int64(events + number), text: text)
            times.withLock { $0.begun[sample.number] = MonotonicClock.now }
            try await origins.publish(sample)
        }
        try await Task.sleep(for: .seconds(2))
        hearing.cancel()
        relay.invalidate()
        return times.withLock { $0.latencies.sorted() }
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
}
