import RelayCore
import RelayTestKit
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import RelayMirrors

/// A mirror on a bus of its own, of a channel that the test writes, and a relay that follows it.
private final class MirrorSite: Sendable {
    let bus: PrivateBus
    private let folder: TestFolder
    let carrier: FileCarrier
    private let running = Mutex<Task<Void, any Error>?>(nil)
    private let told = Mutex<[String]>([])
    private let mirrors = Mutex<MirrorService?>(nil)

    init() throws {
        (bus, folder) = (try PrivateBus(), try TestFolder())
        carrier = try FileCarrier(directory: folder.path + "/carrier")
    }
    func start() throws {
        let name = try MirrorName(of: ChannelAuthor.service, at: ChannelAuthor.host)
        var configuration = MirrorConfiguration(name, on: bus.bus, directory: folder.path + "/replica")
        configuration.timing.retry = .milliseconds(20)
        configuration.timing.look = .milliseconds(50)
        let mirror = MirrorService(configuration, carrier: carrier)
        mirrors.withLock { $0 = mirror }
        running.withLock { $0 = Task { try await mirror.run() } }
    }
    func stop() async throws {
        let task = running.withLock { $0.take() }
        task?.cancel()
        try await task?.value
    }
    var status: MirrorFigures { mirrors.withLock { $0?.status ?? MirrorFigures() } }
    func relay() throws -> EventRelay {
        try EventRelay(
            following: ChannelAuthor.service, at: ChannelAuthor.host, on: bus.bus, interfaces: Ledger1.self,
            cursors: folder.path + "/cursors")
    }
    /// Subscribes to all events from the beginning: a line for each event and gap.
    func follow(_ relay: EventRelay) throws -> Task<Void, Never> {
        let events = try relay.events(of: Ledger1.Entry.self, from: .beginning)
        return Task { [weak self] in
            for await delivery in events {
                let line =
                    switch delivery {
                    case .event(let entry, let stamp):
                        "\(stamp.epoch):\(stamp.sequence) \(entry.number) \(entry.text)"
                    case .gap(let gap):
                        "gap \(gap.reason.rawValue) \(gap.sequences)" + (gap.detail ?? "")
                            + (gap.commonThrough.map { " \($0)" } ?? "")
                    }
                self?.told.withLock { $0.append(line) }
            }
        }
    }
    /// Starts, with somebody who follows it from the beginning.
    func serve() throws -> (EventRelay, Task<Void, Never>) {
        try start()
        let relay = try relay()
        let subscription = try follow(relay)
        relay.activate()
        return (relay, subscription)
    }
    func stop(_ relay: EventRelay, _ subscription: Task<Void, Never>) async throws {
        subscription.cancel()
        relay.invalidate()
        try await stop()
    }
    var lines: [String] { told.withLock { $0 } }
}

@Suite("A mirror as a service", .serialized, .tags(.g1, .g2, .g6)) struct MirrorServiceTests {
    @Test("it serves the origin's events under their own epochs and sequences, and refuses commands by name")
    func follows() async throws {
        let site = try MirrorSite()
        let author = try ChannelAuthor(site.carrier)
        try await author.snapshot(at: 0)
        try await author.entries(1...3)
        let (relay, subscription) = try site.serve()
        #expect(await eventually { site.lines.count == 3 })
        try await author.entries(4...5)
        #expect(await eventually { site.lines.count == 5 })
        #expect(site.lines == (1...5).map { "7:\($0) \($0) of run 7" })
        guard case .failed(let error) = await relay.outcome(of: Ledger1.Ping()) else {
            Issue.record("a mirror ran a command")
            return
        }
        #expect(error.code == .readOnly && !error.mayHaveRun)
        #expect(error.message.contains("org.example.Ledger at kitchen"), "\(error.message)")
        try await site.stop(relay, subscription)
    }
    @Test("a restart of the origin is another run, without a gap") func restart() async throws {
        let site = try MirrorSite()
        let author = try ChannelAuthor(site.carrier)
        try await author.snapshot(at: 0)
        try await author.entries(1...2)
        let (relay, subscription) = try site.serve()
        #expect(await eventually { site.lines.count == 2 })
        try await author.restart(epoch: 9)
        try await author.entries(3...4)
        try await author.restart(epoch: 4)
        try await author.entries(5...5)
        #expect(await eventually { site.lines.count == 5 })
        let events = ["7:1 1 of run 7", "7:2 2 of run 7", "9:3 3 of run 9", "9:4 4 of run 9", "4:5 5 of run 4"]
        #expect(site.lines == events)
        // Another process goes on where this one was.
        try await site.stop()
        try await author.entries(6...6)
        try site.start()
        #expect(await eventually { site.lines.count == 6 })
        #expect(site.lines == events + ["4:6 6 of run 4"])
        try await site.stop(relay, subscription)
    }
    @Test("what the origin removed before it was exported is a gap, and a restored backup is a replaced history")
    func gaps() async throws {
        let site = try MirrorSite()
        let author = try ChannelAuthor(site.carrier)
        try await author.snapshot(at: 0)
        try await author.entries(1...4)
        let (relay, subscription) = try site.serve()
        #expect(await eventually { site.lines.count == 4 })
        try await author.snapshot(at: 9)
        try await author.entries(10...10)
        #expect(await eventually { site.lines.count == 6 }, "\(site.lines) \(site.status)")
        #expect(site.lines.suffix(2) == ["gap unrecorded 5...9", "7:10 10 of run 7"])
        try await author.restore(through: 2, epoch: 11)
        try await author.entries(30...31)
        #expect(await eventually { site.lines.count == 9 }, "\(site.lines)")
        let last = site.lines.suffix(3)
        #expect(last.first?.hasPrefix("gap historyReplaced") == true && last.first?.hasSuffix(" 2") == true, "\(last)")
        #expect(last.suffix(2) == ["11:3 30 of run 11", "11:4 31 of run 11"])
        try await site.stop(relay, subscription)
    }
    @Test("events that cannot be read are a gap that names them, before the mirror serves and while it does")
    func damaged() async throws {
        let site = try MirrorSite()
        let author = try ChannelAuthor(site.carrier)
        try await author.snapshot(at: 0)
        try await author.entries(1...2)
        try await author.damagedEntries(3...4)
        try await author.entries(5...5)
        let (relay, subscription) = try site.serve()
        let first = ["7:1 1 of run 7", "7:2 2 of run 7", "gap unrecorded 3...4", "7:5 5 of run 7"]
        #expect(await eventually { site.lines == first }, "\(site.lines) \(site.status)")
        try await author.damagedEntries(6...6)
        try await author.entries(7...7)
        let all = first + ["gap unrecorded 6...6", "7:7 7 of run 7"]
        #expect(await eventually { site.lines == all }, "\(site.lines) \(site.status)")
        try await site.stop(relay, subscription)
    }
    @Test("events of a schema that comes while the mirror serves are there all the same, and none twice")
    func newSchema() async throws {
        let site = try MirrorSite()
        let author = try ChannelAuthor(site.carrier)
        try await author.snapshot(at: 0)
        try await author.entries(1...1)
        let (relay, subscription) = try site.serve()
        #expect(await eventually { site.lines.count == 1 })
        try await author.laterEntries(2...3)
        try await author.entries(4...4)
        #expect(await eventually { site.lines.count == 4 }, "\(site.lines) \(site.status)")
        #expect(site.lines == (1...4).map { "7:\($0) \($0) of run 7" })
        try await site.stop(relay, subscription)
    }
    @Test("an interface that the origin has got since is followed, too") func newInterface() async throws {
        let site = try MirrorSite()
        let author = try ChannelAuthor(site.carrier)
        try await author.snapshot(at: 0)
        try await author.entries(1...1)
        let (relay, subscription) = try site.serve()
        #expect(await eventually { site.lines.count == 1 })
        let other = try ChannelAuthor(site.carrier, as: "org.eventrelay.test.Other1")
        try await other.snapshot(at: 0)
        try await other.entries(1...2)
        try await author.entries(2...2)
        let envelopes = try relay.envelopes(of: "org.eventrelay.test.Other1", from: .beginning)
        var sequences: [UInt64] = []
        for await case .event(_, let stamp) in envelopes {
            sequences.append(stamp.sequence)
            if sequences.count == 2 { break }
        }
        #expect(sequences == [1, 2])
        #expect(await eventually { site.lines == (1...2).map { "7:\($0) \($0) of run 7" } }, "\(site.lines)")
        try await site.stop(relay, subscription)
    }
}
