import Glibc
import RelayCore
import RelayTestKit
import TestSupport
import TestTraits
import Testing

/// A volatile service is killed again and again while it publishes, with subscribers on its ring.
@Suite("Kills of a volatile service", .serialized, .heavy, .tags(.g2, .g6)) struct VolatileKillTests {
    @Test(
        "every subscriber has all that the ring held of each run, in order, once, and as it was published; or an exact gap"
    )
    func killed() async throws {
        let kills = Endurance.count(20, soak: 500)
        print("volatile kills: seed \(Endurance.seed)")
        try await Site.with { site in
            var random = SeededGenerator(seed: Endurance.seed)
            let followers = try (0..<4).map { _ in
                try site.launch(Programs.runPeer, ["follow", "--bus", site.address])
            }
            for follower in followers { try await follower.line(containing: "following") }
            for number in 1...kills + 1 {
                let service = try site.launch(Programs.runPeer, ["serve", "--bus", site.address])
                // All of them are on its ring, at the latest with the next event but one.
                for follower in followers { try await follower.line(containing: "live ", count: number) }
                if number > kills { break }
                // One is held up: until it is lapped, now and then, and in any case while the service dies.
                followers[0].signal(SIGSTOP)
                if number % 5 == 0 {
                    // From one report to the next the service has put a whole ring's worth into its ring.
                    let reports = service.output.count { $0.hasPrefix("published ") }
                    try await service.line(containing: "published ", count: reports + 2)
                } else {
                    let pause = Int.random(in: 0...30_000, using: &random)
                    try await Task.sleep(for: .microseconds(pause))
                }
                service.signal(SIGKILL)
                #expect(await service.outcome().exit == .signal(SIGKILL))
                followers[0].signal(SIGCONT)
            }
            let accounts = followers.map(Account.init)
            for account in accounts {
                #expect(account.faults == [])
                #expect(account.runs.count == kills)
            }
            // What the ring held at the end all have alike, however late they come to it.
            for account in accounts.dropFirst() { #expect(account.runs.map(\.end) == accounts[0].runs.map(\.end)) }
            for account in accounts.dropFirst() { #expect(account.runs.map(\.epoch) == accounts[0].runs.map(\.epoch)) }
            #expect(accounts[0].runs.contains { $0.gaps > 1 }, "it was never lapped")
            print(
                "volatile kills: \(kills), events \(accounts.map { $0.runs.map(\.events).reduce(0, +) }),",
                "gaps \(accounts.map { $0.runs.map(\.gaps).reduce(0, +) })")
        }
    }

    /// What a follower has said.
    private struct Account {
        struct Run {
            let epoch: Substring
            let end: Int
            let events: Int
            let gaps: Int
        }
        let runs: [Run]
        let faults: [String]

        init(_ follower: RunningProgram) {
            let lines = follower.output
            faults = lines.filter { $0.hasPrefix("fault") } + follower.errors
            runs = lines.filter { $0.hasPrefix("run ") }.map { line in
                let words = line.split(separator: " ")
                return Run(
                    epoch: words[1], end: Int(words[3]) ?? -1, events: Int(words[5]) ?? -1, gaps: Int(words[7]) ?? -1)
            }
        }
    }
}
