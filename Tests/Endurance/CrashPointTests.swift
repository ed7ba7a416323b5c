import Glibc
import RelayCore
import RelayTestKit
import Relocation
import TestSupport
import TestTraits
import Testing

/// Processes that end themselves at each step of commit, emission and cursor: not by chance.
@Suite("Crashes at each step of a commit", .serialized, .heavy, .tags(.g5, .g6)) struct CrashPointTests {
    enum End: String, CaseIterable {
        case beforeCommit, afterCommit, betweenEmissions, beforeResume, afterReply
        /// Whether what the command did is there afterwards.
        var hasHappened: Bool { self != .beforeCommit }
    }

    /// A service with a fault and one box, and a watcher from the beginning.
    private struct Scene {
        let site: Site
        let service: RunningProgram
        let watcher: Watcher
        let relay: EventRelay

        init(_ site: Site, fault: String) async throws {
            self.site = site
            service = try await site.startFaultyService("--fault", fault)
            watcher = Watcher(site, "--since", "start")
            try watcher.start()
            relay = try site.relay(Relocation1.self)
            relay.activate()
            _ = try await site.ask(relay, OrderBox(label: "Attic", capacity: 20))
        }
        /// Sends a command that meets the fault. Returns the reason why it was not answered, once the service has ended.
        func fail<C: Command>(_ command: C) async throws -> (RelayError, RunningProgram.Outcome) {
            try site.arm()
            defer { site.disarm() }
            guard case .failed(let reason) = await relay.outcome(of: command) else {
                throw RelayError(.internalFailure, "\(C.name) was answered")
            }
            return (reason, await service.outcome())
        }
        /// Ends all, and returns how many events there were.
        func finish(with next: RunningProgram) async throws -> UInt64 {
            relay.invalidate()
            return try await Finale(
                site: site, service: next, drivers: [], watchers: [.init(watcher: watcher, name: "first")]
            ).check()
        }
    }

    @Test("a service that ends at a step of its command has done all of it or nothing", arguments: End.allCases)
    func service(_ end: End) async throws {
        try await Site.with { site in
            // The last one is this test's own doing.
            let fault = end == .afterReply ? [] : ["--fault", end.rawValue]
            let service = try await site.startFaultyService(fault)
            let (first, live) = (Watcher(site, "--since", "start"), Watcher(site))
            try first.start()
            try await first.program?.line(containing: "watching")
            try await live.startLive()
            let relay = try site.relay(Relocation1.self)
            relay.activate()
            for label in ["Attic", "Cellar"] { _ = try await site.ask(relay, OrderBox(label: label, capacity: 20)) }
            for title in ["Lamp", "Globe", "Sled"] { _ = try await site.ask(relay, DistributeItem(title: title)) }
            let before = try await site.contents(relay)

            // Two items are moved, and the box goes: a unit of three events.
            try site.arm()
            switch await relay.outcome(of: RemoveBox(boxID: 1)) {
            case .success:
                #expect(end == .afterReply)
                service.signal(SIGKILL)
            case .refused(let failure): Issue.record("\(failure)")
            case .failed(let reason):
                #expect(reason.code == .unavailable && reason.mayHaveRun, "\(reason)")
                #expect(end != .afterReply)
            }
            let outcome = await service.outcome()
            #expect(outcome.exit == .signal(SIGKILL), "\(outcome)")
            site.disarm()

            let next = try await site.startService()
            let after = try await site.contents(relay)
            let done = Warehouse(
                boxes: [.init(boxID: 2, capacity: 20, title: "Cellar")],
                items: before.items.map { .init(itemID: $0.itemID, boxID: 2, title: $0.title) })
            #expect(after == (end.hasHappened ? done : before))
            // It goes on where it stood.
            _ = try await site.ask(relay, OrderBox(label: "Garage", capacity: 5))
            relay.invalidate()
            let head = try await Finale(
                site: site, service: next, drivers: [],
                watchers: [.init(watcher: first, name: "first"), .init(watcher: live, name: "live", isLive: true)]
            ).check()
            #expect(head == (end.hasHappened ? 9 : 6))
            #expect(live.account.first == 1)
        }
    }

    @Test(
        "a service that ends at a step of a refusal has published its event before it answers, or neither",
        arguments: [End.beforeCommit, .afterCommit])
    func refusal(_ end: End) async throws {
        try await Site.with { site in
            let scene = try await Scene(site, fault: end.rawValue)
            let (reason, outcome) = try await scene.fail(RemoveBox(boxID: 9))
            #expect(reason.code == .unavailable && reason.mayHaveRun, "\(reason)")
            #expect(outcome.exit == .signal(SIGKILL), "\(outcome)")
            let head = try await scene.finish(with: try await site.startService())
            #expect(head == (end.hasHappened ? 2 : 1))
        }
    }

    @Test("a commit that the disk fails is told as one of unknown outcome; the service ends, and its restart decides")
    func failedCommit() async throws {
        try await Site.with { site in
            let scene = try await Scene(site, fault: "commit")
            let (reason, outcome) = try await scene.fail(DistributeItem(title: "Lamp"))
            #expect(reason.code == .outcomeUnknown && reason.mayHaveRun, "\(reason)")
            #expect(outcome.code == 74, "\(outcome)")
            let next = try await site.startService()
            let items = try await site.contents(scene.relay).items.map(\.title)
            #expect(items == [] || items == ["Lamp"])
            _ = try await site.ask(scene.relay, DistributeItem(title: "Globe"))
            let head = try await scene.finish(with: next)
            #expect(head == UInt64(items.count + 2))
        }
    }

    @Test(
        "a watcher that ends at a step of its cursor goes on without a hole",
        arguments: ["beforeWrite", "tempWritten", "renamed"])
    func watcher(_ step: String) async throws {
        try await Site.with { site in
            _ = try await site.startFaultyService("--serve", "ledger")
            let watcher = Watcher(site, program: Programs.faultyWatcher, arguments: site.faultyWatcher("--fault", step))
            try watcher.start()
            let relay = try site.relay(Ledger1.self)
            relay.activate()
            _ = try await site.ask(relay, Ledger1.Write(count: 20))
            #expect(await eventually { watcher.position == 20 })
            try site.arm()
            _ = try await site.ask(relay, Ledger1.Write(first: 21, count: 20))
            let outcome = await watcher.program?.outcome()
            #expect(outcome?.exit == .signal(SIGKILL), "\(outcome?.description ?? "")")
            site.disarm()

            try watcher.start()
            _ = try await site.ask(relay, Ledger1.Write(first: 41, count: 20))
            relay.invalidate()
            #expect(await eventually { watcher.position == 60 })
            #expect(watcher.account.fault(from: 1, through: 60) == nil)
            #expect(watcher.account.gaps.isEmpty)
        }
    }
}
