import Glibc
import RelayCore
import RelayTestKit
import Relocation
import TestSupport
import TestTraits
import Testing

/// Processes that end themselves in the middle of what a journal does beside its commits: not by chance.
@Suite("Crashes within a journal's upkeep", .serialized, .heavy, .tags(.g5)) struct JournalCrashTests {
    enum Place: String, CaseIterable {
        /// Between the pages of the first tables.
        case creating
        /// Between the frames of the WAL that a start writes again.
        case opening
        /// Between the pages of the main file that a checkpoint writes.
        case checkpointing
        /// The same, at the end that SIGTERM asks for.
        case stopping
        case pruning, vacuuming

        var fault: String { self == .stopping ? Place.checkpointing.rawValue : rawValue }
        /// Whether events are removed: the watcher may find a gap.
        var prunes: Bool { self == .pruning || self == .vacuuming }
    }
    /// Writes entries until the service has ended.
    private struct Writer {
        let site: Site
        let relay: EventRelay
        var acknowledged: UInt64 = 0
        /// Of the command whose outcome is unknown.
        var unknown: UInt64 = 0

        /// Returns whether it was answered.
        mutating func write(_ count: UInt64, of length: Int = 3_000) async throws -> Bool {
            let command = Ledger1.Write(
                first: Int64(acknowledged) + 1, count: Int64(count), text: String(repeating: "x", count: length))
            do {
                try await relay.call(command)
            } catch let error as RelayError where error.code == .unavailable {
                if error.mayHaveRun { unknown = count }
                return false
            }
            acknowledged += count
            return true
        }
        mutating func writeSurely(_ count: UInt64) async throws {
            #expect(await eventually { await isServed })
            let known = unknown
            while try await !write(count) { #expect(unknown == known) }
        }
        private var isServed: Bool {
            get async { (try? await relay.call(Ledger1.Ping())) != nil }
        }
    }

    @Test("a service that ends in the middle of it loses nothing, and the next one goes on", arguments: Place.allCases)
    func crash(_ place: Place) async throws {
        try await Site.with { site in
            let environment = place.prunes ? [Ledger1.keepVariable: "200"] : [:]
            let plain = ["--serve", "ledger"]
            let faulty = plain + ["--fault", place.fault]
            let watcher = Watcher(site, "--since", "start")
            let relay = try site.relay(Ledger1.self)
            relay.activate()
            var writer = Writer(site: site, relay: relay)

            let dying: RunningProgram
            switch place {
            case .creating:
                try site.arm()
                dying = try site.launchFaultyService(faulty)
            case .opening:
                let service = try await site.startFaultyService(plain)
                try watcher.start()
                for _ in 0..<3 { try await writer.writeSurely(10) }
                service.signal(SIGKILL)
                _ = await service.outcome()
                try site.arm()
                dying = try site.launchFaultyService(faulty)
            case .stopping:
                dying = try await site.startFaultyService(faulty)
                try watcher.start()
                try await writer.writeSurely(10)
                try site.arm()
                try await writer.writeSurely(10)
                dying.signal(SIGTERM)
            case .checkpointing, .pruning, .vacuuming:
                dying = try await site.startFaultyService(faulty, environment: environment)
                try watcher.start()
                // One that attaches after the first pruning begins with what is left.
                try await watcher.program?.line(containing: "watching")
                try site.arm()
                // Until there is enough for it. What one pruning frees has to be worth giving back, however slow the
                // writing is.
                let size: UInt64 = place == .vacuuming ? 600 : 100
                while dying.exit == nil, writer.acknowledged < 6_000, try await writer.write(size) {}
            }
            let isOver = await eventually { dying.exit != nil }
            #expect(isOver)
            if !isOver { dying.signal(SIGKILL) }
            let outcome = await dying.outcome()
            #expect(outcome.exit == .signal(SIGKILL), "\(outcome)")
            site.disarm()

            let next = try await site.startFaultyService(plain, environment: environment)
            if place == .creating { try watcher.start() }
            let before = writer
            try await writer.writeSurely(5)
            let head =
                try JournalFile("\(site.stateDirectory)/journal.sqlite").events(of: Ledger1.name).last?.sequence ?? 0
            #expect([before.acknowledged + 5, before.acknowledged + before.unknown + 5].contains(head))
            #expect(await eventually { watcher.position == head })
            let account = watcher.account
            #expect(account.fault(from: 1, through: head) == nil, "\(account.summary)")
            #expect(account.contradiction == nil)
            if !place.prunes { #expect(account.gaps.isEmpty) }
            relay.invalidate()
            next.signal(SIGTERM)
            #expect(await next.outcome().code == 0)

            let file = try JournalFile("\(site.stateDirectory)/journal.sqlite")
            #expect(try file.integrity() == ["ok"])
            let sequences = try file.events(of: Ledger1.name).map(\.sequence)
            let oldest = try #require(sequences.first)
            #expect(sequences == Array(oldest...head))
            #expect(place.prunes ? oldest > 1 : oldest == 1)
        }
    }
}

/// What a supervisor does all the time.
@Suite("Stops under load", .heavy, .tags(.g5, .g6)) struct StopTests {
    @Test(
        "SIGTERM under load: a last word, exit 0, one whole file without a WAL, and nothing lost")
    func stops() async throws {
        let stops = Endurance.count(12, soak: 300)
        print("stops: seed \(Endurance.seed)")
        try await Site.with { site in
            var random = SeededGenerator(seed: Endurance.seed)
            let load = try Load(site, drivers: 3, seed: Endurance.seed)
            let first = Watcher(site, "--since", "start")
            try first.start()
            let observer = try await Observer.join(
                site.bus, Relocation1.name, rules: ["type='signal',interface='\(Stream1.name)',member='End'"])
            var heads: [UInt64] = []
            for number in 1...stops {
                let service = try await site.startService()
                // Until it has something to do, and is in the middle of it.
                let before = first.position
                let isBusy = await eventually { first.position > before + 20 }
                #expect(isBusy)
                try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000, using: &random)))
                service.signal(SIGTERM)
                let outcome = await service.outcome()
                #expect(outcome.code == 0, "\(outcome)")
                for name in ["journal.sqlite-wal", "journal.sqlite-journal"] {
                    #expect(access("\(site.stateDirectory)/\(name)", F_OK) != 0, "\(name) is left")
                }
                let file = try JournalFile("\(site.stateDirectory)/journal.sqlite")
                #expect(try file.integrity() == ["ok"])
                let head = try file.events(of: Relocation1.name).last?.sequence ?? 0
                heads.append(head)
                #expect(await eventually { observer.seen.count == number })
            }
            // Its last word; calls that the bus had routed to it by then are answered behind that, and their events are
            // read from the journal.
            #expect(observer.seen.count == heads.count)
            for (seen, head) in zip(observer.seen, heads) {
                guard case .ended(let last) = seen else {
                    Issue.record("\(seen) is no last word")
                    continue
                }
                #expect(last <= head)
            }
            observer.leave()
            let last = try await site.startService()
            let drivers = try await load.finish()
            let total = drivers.map(\.figures).reduce(0) { $0 + $1.lostAndRan + $1.lostAndDidNot }
            try await Finale(
                site: site, service: last, drivers: drivers.map(\.memory),
                watchers: [.init(watcher: first, name: "the one from the beginning")]
            ).check()
            print("stops: \(stops), at \(heads.last ?? 0) events; \(total) commands had no answer")
        }
    }
}
