import Glibc
import RelayTestKit
import Relocation
import TestSupport
import TestTraits
import Testing

/// The bus is killed at random moments while commands and events flow.
@Suite(.serialized, .heavy, .tags(.g2, .g6)) struct BusLoopTests {
    @Test(
        "a bus that is killed and comes back at its address costs no confirmed command, and no watcher an event")
    func bus() async throws {
        let kills = Endurance.count(25, soak: 500)
        print("bus loop: seed \(Endurance.seed)")
        try await Site.with { site in
            var random = SeededGenerator(seed: Endurance.seed)
            let load = try Load(site, drivers: 3, seed: Endurance.seed)
            let first = Watcher(site, "--since", "start")
            let resuming = Watcher(site, "--resume", "endurance")
            let live = Watcher(site)
            let early = try await site.startService()
            try await live.startLive()
            for watcher in [first, resuming] {
                try watcher.start()
                // A watcher that finds no bus when it starts says so, and ends.
                try await watcher.program?.line(containing: "watching")
            }
            early.signal(SIGKILL)
            _ = await early.outcome()
            for _ in 1...kills {
                let service = try await site.startService()
                try await Task.sleep(for: .microseconds(Int.random(in: 0...150_000, using: &random)))
                await site.killBus()
                // Its supervisor starts it again.
                let outcome = await service.outcome()
                #expect(outcome.code == 69, "\(outcome)")
                try site.startBus()
            }
            let last = try await site.startService()
            let drivers = try await load.finish()
            let head = try await Finale(
                site: site, service: last, drivers: drivers.map(\.memory),
                watchers: [
                    .init(watcher: first, name: "the one from the beginning"),
                    .init(watcher: resuming, name: "the one that resumes"),
                    .init(watcher: live, name: "the live one", isLive: true),
                ]
            ).check()
            // Few on a busy machine; without any nothing was tested.
            #expect(drivers.map(\.memory.facts.count).reduce(0, +) > kills / 4, "there was no load")
            print("bus loop: \(kills) kills of the bus, \(head) events; \(drivers.map(\.figures))")
        }
    }
}
