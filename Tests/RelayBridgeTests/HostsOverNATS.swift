import NatsSupport
import RelayCore
import RelayJournal
import RelayMirrors
import RelayTestKit
import Synchronization

@testable import RelayBridge

enum Notes1: EventInterface {
    static let name = "org.example.Notes1"
    static let durability = Durable(retention: Retention())
    static var contract: Contract<Self> { Noted.self }

    struct Noted: DomainEvent {
        typealias Interface = Notes1
        let number: Int64
    }
}

/// Keeps little.
enum Brief1: EventInterface {
    static let name = "org.example.Brief1"
    static let durability = Durable(retention: Retention(count: 10))
    static var contract: Contract<Self> { Noted.self }

    struct Noted: DomainEvent {
        typealias Interface = Brief1
        let number: Int64
    }
}

/// A service on one host and its mirror on another, with a server of NATS between them.
actor HostsOverNATS {
    static let name = "org.example.Notes"
    nonisolated let servers: [NatsServer]
    nonisolated var server: NatsServer { servers[0] }
    private let host: String
    nonisolated let origin: PrivateBus, office: PrivateBus
    private let folder: TestFolder
    /// The replica's; nil: the machine's.
    private let disk: FaultDisk?
    private let service: EventService
    private var number: Int64 = 0
    private var brief: Int64 = 0
    private var tasks: [String: Task<Void, any Error>] = [:]
    private let exporter = Mutex<MirrorExporter?>(nil)
    private let mirror = Mutex<MirrorService?>(nil)

    init(_ release: NatsServer.Release, _ more: String, disk: FaultDisk? = nil) async throws {
        try await self.init(
            [try await NatsServer(release, syncing: release == .recent, more)], try PrivateBus(), try PrivateBus(),
            disk: disk)
    }
    init(
        _ servers: [NatsServer], _ origin: PrivateBus, _ office: PrivateBus, host: String = "kitchen",
        disk: FaultDisk? = nil
    ) async throws {
        (self.servers, self.host, self.disk) = (servers, host, disk)
        (self.origin, self.office, folder) = (origin, office, try TestFolder())
        let journal = try EventJournal(directory: folder.path + "/journal")
        service = try EventService(
            name: Self.name, on: origin.bus, exporting: Notes1.self, Brief1.self, journal: journal)
        try await service.start()
    }
    /// All of it, running.
    init(_ release: NatsServer.Release, disk: FaultDisk? = nil) async throws {
        try await self.init(release, "", disk: disk)
        try export()
        try follow()
    }
    nonisolated func settings(_ user: String? = nil) -> NatsSettings {
        var settings = NatsSettings(
            servers: servers.map { server in
                user.map { server.url.replacing("//", with: "//\($0):\($0)@") } ?? server.url
            })
        settings.replicas = servers.count
        settings.patience = .seconds(5)
        return settings
    }
    func export(user: String? = nil) throws {
        let exporter = try exporter(user)
        self.exporter.withLock { $0 = exporter }
        tasks["export"] = Task { try await exporter.run() }
    }
    nonisolated func exporter(_ user: String? = nil) throws -> MirrorExporter {
        let timing = ExporterTiming {
            $0.firstPause = .milliseconds(1)
            $0.longestPause = .milliseconds(50)
            $0.look = .milliseconds(100)
        }
        return try MirrorExporter(
            of: Self.name, at: host, to: NatsCarrier(settings(user)), on: origin.bus, timing: timing)
    }
    func makeCloudEvents() {
        let exporter = CloudEventExporter(of: Self.name, at: host, settings(), on: origin.bus) {
            [Notes1.name, Brief1.name]
        }
        tasks["cloudEvents"] = Task { await exporter.run() }
    }
    func follow(user: String? = nil) throws {
        var configuration = MirrorConfiguration(
            try MirrorName(of: Self.name, at: host), on: office.bus, directory: folder.path + "/replica")
        configuration.timing.retry = .milliseconds(20)
        if let disk { (configuration.faults, configuration.vfs) = (disk.faults, disk.name) }
        let mirror = MirrorService(configuration, carrier: NatsCarrier(settings(user)))
        self.mirror.withLock { $0 = mirror }
        tasks["mirror"] = Task { try await mirror.run() }
    }
    func end(_ what: String) async {
        tasks[what]?.cancel()
        _ = await tasks.removeValue(forKey: what)?.result
    }
    func loseReplica() async throws {
        await end("mirror")
        let outcome = try await RunningProgram.run("/bin/rm", ["-r", folder.path + "/replica"])
        if outcome.code != 0 { throw RelayError(.internalFailure, "\(outcome)") }
    }
    func stop() async throws {
        for what in Array(tasks.keys) { await end(what) }
        try await service.stop()
    }
    func publish(_ count: Int) async throws {
        for _ in 0..<count {
            number += 1
            try await service.publish(Notes1.Noted(number: number))
        }
    }
    func publishAtOnce(_ count: Int) async throws {
        for first in stride(from: number + 1, through: number + Int64(count), by: 10_000) {
            let last = min(first + 9_999, number + Int64(count))
            try await service.publish(contentsOf: (first...last).map { Notes1.Noted(number: $0) })
        }
        number += Int64(count)
    }
    func publishBrief(_ count: Int) async throws {
        for _ in 0..<count {
            brief += 1
            try await service.publish(Brief1.Noted(number: brief))
        }
    }
    nonisolated var status: String {
        let (exporter, mirror) = (exporter.withLock { $0 }, mirror.withLock { $0 })
        return "\(exporter.map { "\($0.status)" } ?? "-") \(mirror.map { "\($0.status)" } ?? "-")"
    }
    nonisolated func relay(cursors: String? = nil) throws -> EventRelay {
        try EventRelay(
            following: Self.name, at: host, on: office.bus, interfaces: Notes1.self, Brief1.self,
            cursors: cursors)
    }
    /// The oldest event of `Brief1` that the origin has.
    nonisolated func oldestBrief() async throws -> UInt64 {
        let relay = try EventRelay(following: Self.name, on: origin.bus, interfaces: Brief1.self)
        let envelopes = try relay.envelopes(of: Brief1.name, from: .beginning)
        relay.activate()
        defer { relay.invalidate() }
        for await case .event(_, let stamp) in envelopes { return stamp.sequence }
        return 0
    }
    /// Whether a mirror's subscriber, who begins with the first event, gets each of the origin's once, and no gap.
    nonisolated func isWhole(_ count: Int64) async throws -> Bool {
        let relay = try relay()
        let events = try relay.events(of: Notes1.Noted.self, from: .beginning)
        relay.activate()
        var next: Int64 = 1
        for await delivery in events {
            guard case .event(let entry, let stamp) = delivery, entry.number == next, stamp.sequence == UInt64(next)
            else { return false }
            next += 1
            if next > count { break }
        }
        relay.invalidate()
        return true
    }
    /// The numbers of all events that a mirror's subscriber gets until it has a last one, as they come. Ends at a gap.
    nonisolated func numbers(through last: Int64) async throws -> [Int64] {
        let relay = try relay()
        let events = try relay.events(of: Notes1.Noted.self, from: .beginning)
        relay.activate()
        defer { relay.invalidate() }
        var numbers: [Int64] = []
        for await delivery in events {
            guard case .event(let entry, _) = delivery else { break }
            numbers.append(entry.number)
            if entry.number == last { break }
        }
        return numbers
    }
    /// What the mirror waits for; nil: nothing.
    nonisolated var trouble: String? { mirror.withLock { $0 }?.status.trouble }
    /// The last event that is at the mirror.
    func mirrored() -> UInt64 { mirror.withLock { $0 }?.status.interfaces[Notes1.name]?.position ?? 0 }
    /// Everything that was published is at the mirror.
    func isCaughtUp() -> Bool { mirrored() == UInt64(number) }
    func isExported() -> Bool {
        exporter.withLock { $0 }?.status.first { $0.interface == Notes1.name }?.position == UInt64(number)
    }
    func isBriefCaughtUp() -> Bool {
        mirror.withLock { $0 }?.status.interfaces[Brief1.name]?.position == UInt64(brief)
    }
    func isBriefExported() -> Bool {
        exporter.withLock { $0 }?.status.first { $0.interface == Brief1.name }?.position == UInt64(brief)
    }
}
