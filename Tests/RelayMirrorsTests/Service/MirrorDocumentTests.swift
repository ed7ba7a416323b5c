import RelayCore
import RelayJournal
import RelayTestKit
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import RelayMirrors

/// How often a mirror has opened its service.
private final class Opened: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
}

@Suite("A document at a mirror", .heavy, .tags(.g2, .g6)) struct MirrorDocumentTests {
    private static let name = "org.example.Minutes"
    private let origin: PrivateBus, office: PrivateBus
    private let folder: TestFolder
    private let carrier: FileCarrier

    init() throws {
        (origin, office, folder) = (try PrivateBus(), try PrivateBus(), try TestFolder())
        carrier = try FileCarrier(directory: folder.path + "/carrier")
    }
    private func export() throws -> Task<Void, any Error> {
        let timing = ExporterTiming {
            $0.firstPause = .milliseconds(1)
            $0.longestPause = .milliseconds(20)
            $0.look = .milliseconds(50)
        }
        let exporter = try MirrorExporter(of: Self.name, at: "kitchen", to: carrier, on: origin.bus, timing: timing)
        return Task { try await exporter.run() }
    }
    private func mirror(_ opened: Opened) throws -> Task<Void, any Error> {
        var configuration = MirrorConfiguration(
            try MirrorName(of: Self.name, at: "kitchen"), on: office.bus, directory: folder.path + "/replica")
        configuration.timing.retry = .milliseconds(20)
        let mirror = MirrorService(configuration, carrier: carrier)
        return Task { try await mirror.run { opened.add() } }
    }
    /// The oldest event that the origin has.
    private func oldest(_ relay: EventRelay) async throws -> UInt64 {
        for await case .event(_, let stamp) in try relay.envelopes(of: Minutes1.name, from: .beginning) {
            return stamp.sequence
        }
        return 0
    }

    @Test("it has the origin's state: as it changes, behind changes that were lost on the way, and after a restart")
    func states() async throws {
        let journal = try EventJournal(directory: folder.path + "/journal")
        let service = try EventService(
            name: Self.name, on: origin.bus, exporting: Minutes1.self, journal: journal)
        try await service.start()
        let agenda = try service.document(Minutes1.Agenda.self)
        try await agenda.set(Minutes1.Agenda(counts: ["a": 1]))
        let exporting = try export()
        let opened = Opened()
        var mirroring = try mirror(opened)
        let relay = try EventRelay(
            following: Self.name, at: "kitchen", on: office.bus, interfaces: Minutes1.self)
        let seen = Mutex<Int64>(0)
        let states = try relay.snapshots(of: Minutes1.Agenda.self)
        relay.activate()
        let watching = Task {
            for try await present in states { seen.withLock { $0 = present.state.counts["a"] ?? 0 } }
        }
        #expect(await eventually { seen.withLock { $0 } == 1 })
        try await agenda.set(Minutes1.Agenda(counts: ["a": 2]))
        #expect(await eventually { seen.withLock { $0 } == 2 })

        // What the exporter has not exported when the origin removes it, is lost: a gap, which a service that is running
        // cannot learn, as nobody knows the state in it.
        exporting.cancel()
        _ = await exporting.result
        let before = opened.value
        for number in Int64(3)...150 { try await agenda.set(Minutes1.Agenda(counts: ["a": number])) }
        let own = try EventRelay(following: Self.name, on: origin.bus, interfaces: Minutes1.self)
        own.activate()
        #expect(try await eventually { try await oldest(own) > 3 })
        let again = try export()
        #expect(await eventually { seen.withLock { $0 } == 150 })
        #expect(opened.value > before)

        mirroring.cancel()
        _ = await mirroring.result
        try await agenda.set(Minutes1.Agenda(counts: ["a": 151]))
        mirroring = try mirror(opened)
        #expect(await eventually { seen.withLock { $0 } == 151 })
        for task in [again, mirroring] {
            task.cancel()
            _ = await task.result
        }
        watching.cancel()
        own.invalidate()
        relay.invalidate()
        try await service.stop()
    }
}
