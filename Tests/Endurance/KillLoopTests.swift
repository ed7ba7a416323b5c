import Glibc
import RelayCore
import RelayTestKit
import Relocation
import TestSupport
import Testing

/// Processes are killed at random moments while commands and events flow.
@Suite(.serialized) struct KillLoopTests {
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
        "a service that is killed at any moment loses nothing that it confirmed, and no watcher misses or repeats an event",
        .timeLimit(.minutes(Endurance.isSoak ? 40 : 4)))
    func service() async throws {
        let kills = Endurance.count(200, soak: 2_000)
        print("kill loop: seed \(Endurance.seed)")
        try await Site.with { site in
            var random = SeededGenerator(seed: Endurance.seed)
            let load = try Load(site, drivers: 3, seed: Endurance.seed)
            let first = Watcher(site, "--since", "start")
            let resuming = Watcher(site, "--resume", "endurance")
            let live = Watcher(site)
            try first.start()
            try resuming.start()
            let harassing = Task { try await harass(resuming, seed: Endurance.seed) }
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
                    try await Task.sleep(for: .microseconds(Int.random(in: 0...50_000, using: &random)))
                }
                if number == 10 { try live.start() }
                service.signal(SIGKILL)
                let outcome = await service.outcome()
                // Anything else is an end of its own.
                #expect(outcome.exit == .signal(SIGKILL), "\(outcome)")
            }
            let last = try await site.startService()
            harassing.cancel()
            let watcherKills = try await harassing.value
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
            let median = starting.sorted()[starting.count / 2]
            print(
                "kill loop: \(kills) kills of the service, \(watcherKills) of a watcher, \(head) events; ready after",
                "\(median); \(drivers.map(\.figures))")
        }
    }
}
