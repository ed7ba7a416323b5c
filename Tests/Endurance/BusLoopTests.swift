import Glibc
import RelayTestKit
import Relocation
import TestSupport
import TestTraits
import Testing

/// The bus is killed at random moments while commands and events flow.
@Suite("A bus that is killed", .serialized, .heavy, .tags(.g2, .g6)) struct BusLoopTests {
    @Test(
        "a bus that is killed and comes back at its address costs no confirmed command, and no watcher an event")
    func bus() async throws {
        let kills = Endurance.count(15, soak: 500)
        print("bus loop: seed \(Endurance.seed)")
        try await Site.with { site in
            var random = SeededGenerator(seed: Endurance.seed)
            let loaded = try LoadedSite(site)
            let early = try await site.startService()
            try await loaded.live.startLive()
            for watcher in [loaded.first, loaded.resuming] {
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
            let (head, figures) = try await loaded.finish(with: last, after: kills)
            print("bus loop: \(kills) kills of the bus, \(head) events; \(figures)")
        }
    }
}
