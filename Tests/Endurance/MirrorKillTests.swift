import Glibc
import NatsSupport
import RelayCore
import RelayTestKit
import Relocation
import TestSupport
import TestTraits
import Testing

/// Two hosts, each with a bus and state of its own, and a carrier between them: a folder, or a server of NATS.
private final class TwoHosts: Sendable {
    static let host = "kitchen"
    static let mirror = "org.eventrelay.Mirror1.kitchen.\(Site.service)"
    let origin, other: Site
    private let folder: TestFolder
    let server: NatsServer?

    init(_ origin: Site, _ other: Site, _ server: NatsServer? = nil) throws {
        (self.origin, self.other, self.server, folder) = (origin, other, server, try TestFolder())
    }
    private var carrier: String { server?.url ?? folder.path }

    func launchExporter() throws -> RunningProgram {
        try origin.launch(
            Programs.bridge,
            ["--export", Site.service, "--bus", origin.address, "--host", Self.host, "--carrier", carrier])
    }
    func launchMirror() throws -> RunningProgram {
        try other.launch(
            Programs.bridge,
            [
                "--mirror", "\(Self.host)/\(Site.service)", "--bus", other.address, "--carrier", carrier,
                "--state-directory", other.stateDirectory,
            ])
    }
    /// Where the replica is.
    var replica: String { "\(other.stateDirectory)/\(Self.host).\(Site.service)/journal.sqlite" }
    /// One that watches the mirror, from the first event on.
    func watcher(_ arguments: String...) -> Watcher {
        Watcher(other, program: Programs.cli) { [other] in
            ["--bus", other.address, "--service", Self.mirror, "--json", "watch"] + arguments
        }
    }
}

/// The origin, its exporter and the mirror are killed at random moments while commands and events flow.
@Suite("Mirrors over kills", .serialized, .heavy, .tags(.g1, .g2, .g6)) struct MirrorKillTests {
    @Test("a mirror has the origin's events and no others, in their places, whichever process is killed when")
    func kills() async throws {
        let kills = Endurance.count(20, soak: 2_000)
        print("mirror kills: seed \(Endurance.seed)")
        try await Site.with { origin in
            try await Site.with { other in
                try await kill(kills, TwoHosts(origin, other))
            }
        }
    }

    @Test("so it has over NATS, whose server is killed, too", arguments: NatsServer.Release.allCases)
    func overNATS(_ release: NatsServer.Release) async throws {
        let kills = Endurance.count(20, soak: 1_500)
        print("mirror kills over NATS: seed \(Endurance.seed)")
        let server = try await NatsServer(release, syncing: release == .recent)
        try await Site.with { origin in
            try await Site.with { other in
                try await kill(kills, TwoHosts(origin, other, server))
            }
        }
    }

    private func kill(_ kills: Int, _ hosts: TwoHosts) async throws {
        var random = SeededGenerator(seed: Endurance.seed)
        let load = try Load(hosts.origin, drivers: 2, seed: Endurance.seed)
        let (first, resuming) = (hosts.watcher("--since", "start"), hosts.watcher("--resume", "mirrored"))
        var service = try await hosts.origin.startService()
        var exporter = try hosts.launchExporter()
        var mirror = try hosts.launchMirror()
        try await mirror.line(containing: "ready")
        try first.start()
        try resuming.start()
        for number in 1...kills {
            // Most die while commands are under way, however slow the machine is.
            let commands = load.commands
            _ = await eventually { load.commands > commands + number % 3 }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...50_000, using: &random)))
            switch number % (hosts.server == nil ? 3 : 4) {
            case 0:
                try await end(service)
                service = try await hosts.origin.startService()
            case 1:
                try await end(exporter)
                exporter = try hosts.launchExporter()
            case 3:
                try await hosts.server?.end()
                try await hosts.server?.start()
            default:
                try await end(mirror)
                mirror = try hosts.launchMirror()
                if Int.random(in: 0..<2, using: &random) == 0 { try await mirror.line(containing: "ready") }
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                await resuming.kill()
                try resuming.start()
            }
        }
        let drivers = try await load.finish()
        #expect(drivers.map(\.memory.facts.count).reduce(0, +) > kills / 4, "there was no load")
        let head = try hosts.origin.journalHead()
        for (watcher, name) in [(first, "the one from the beginning"), (resuming, "the one that resumes")] {
            #expect(await eventually { watcher.position >= head }, "\(name): \(watcher.position) of \(head)")
            let outcome = await watcher.finish()
            #expect(outcome?.code == 0, "\(name): \(outcome?.errors ?? [])")
            let account = watcher.account
            #expect(account.fault(from: 1, through: head) == nil, "\(name):\n\(account.summary)")
            #expect(account.contradiction == nil && account.gaps.isEmpty, "\(name): \(account.gaps)")
        }
        for program in [exporter, mirror, service] {
            program.signal(SIGTERM)
            let outcome = await program.outcome()
            #expect(outcome.code == 0, "\(outcome)")
        }
        let (origin, replica) = (
            try JournalFile("\(hosts.origin.stateDirectory)/journal.sqlite"), try JournalFile(hosts.replica)
        )
        #expect(try replica.integrity() == ["ok"])
        #expect(try origin.events(of: Relocation1.name).map(\.sequence) == Array(1...head))
        #expect(try replica.wholeEvents(of: Relocation1.name) == origin.wholeEvents(of: Relocation1.name))
        #expect(try origin.runs(of: Relocation1.name) == replica.runs(of: Relocation1.name))
        print("mirror kills: \(kills) kills, \(head) events")
    }
    private func end(_ program: RunningProgram) async throws {
        program.signal(SIGKILL)
        let outcome = await program.outcome()
        // Anything else is an end of its own.
        #expect(outcome.exit == .signal(SIGKILL), "\(outcome)")
    }
}
