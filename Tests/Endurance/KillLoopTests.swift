import Glibc
import RelayCore
import RelayTestKit
import Relocation
import TestSupport
import TestTraits
import Testing

/// Processes are killed at random moments while commands and events flow.
@Suite("Kills at random moments", .serialized, .heavy, .tags(.g2, .g5, .g6)) struct KillLoopTests {
    /// Kills and starts again a watcher until the task is cancelled.
    private func harass(_ watcher: Watcher, seed: UInt64) async throws -> Int {
        var random = SeededGenerator(seed: seed)
        var kills = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(Int.random(in: 0...800, using: &random)))
            await watcher.kill()
            try watcher.start()
            kills += 1
        }
        return kills
    }

    @Test(
        "a service that is killed at any moment loses nothing that it confirmed, and no watcher misses or repeats an event"
    )
    func service() async throws {
        let kills = Endurance.count(20, soak: 2_000)
        print("kill loop: seed \(Endurance.seed)")
        try await Site.with { site in
            var random = SeededGenerator(seed: Endurance.seed)
            let loaded = try LoadedSite(site)
            let (load, live) = (loaded.load, loaded.live)
            try loaded.first.start()
            try loaded.resuming.start()
            let harassing = Task { try await harass(loaded.resuming, seed: Endurance.seed) }
            var starting: [Duration] = []
            for number in 1...kills {
                let began = ContinuousClock.now
                let service = try site.launchService()
                if Int.random(in: 0..<5, using: &random) == 0 {
                    // Somewhere in its start.
                    try await Task.sleep(for: .microseconds(Int.random(in: 0...30_000, using: &random)))
                } else {
                    try await service.line(containing: "ready")
                    starting.append(ContinuousClock.now - began)
                    if number >= 10 && live.beginning == nil { try await live.startLive() }
                    // Most die while commands are under way, however slow the machine is; the others soon after their start.
                    if number % 4 != 0 {
                        let commands = load.commands
                        _ = await eventually { load.commands > commands }
                    }
                    try await Task.sleep(for: .microseconds(Int.random(in: 0...50_000, using: &random)))
                }
                service.signal(SIGKILL)
                let outcome = await service.outcome()
                // Anything else is an end of its own.
                #expect(outcome.exit == .signal(SIGKILL), "\(outcome)")
            }
            let last = try await site.startService()
            harassing.cancel()
            let watcherKills = try await harassing.value
            let (head, figures) = try await loaded.finish(with: last, after: kills)
            // A call whose answer was lost was in flight when the service was killed. One kill can hit one of each driver.
            let (ran, didNot) = (figures.map(\.lostAndRan).reduce(0, +), figures.map(\.lostAndDidNot).reduce(0, +))
            #expect(ran > 0 && didNot > 0 && ran + didNot >= kills / 4, "the kills hit \(ran) and \(didNot) commands")
            try #require(!starting.isEmpty)
            let median = starting.sorted()[starting.count / 2]
            print(
                "kill loop: \(ran + didNot) commands in flight were hit, \(ran) of which had run; \(kills) kills of the service, \(watcherKills) of a watcher, \(head) events; ready after",
                "\(median); \(figures)")
        }
    }
}
