import RelayCore
import RelayTestKit
import Scores
import Testing

@MainActor private final class Shown { var lines: [String] = [] }

@MainActor @Suite("One document, several views") struct ScoreTests {
    private func site(_ harness: TestHarness) async throws -> EventService {
        let service = try EventService(name: "org.example.Scores", on: harness.bus, exporting: Scores1.self)
        try await harness.start(service)
        return service
    }
    private func relay(_ harness: TestHarness) throws -> EventRelay {
        let relay = try EventRelay(following: "org.example.Scores", on: harness.bus, interfaces: Scores1.self)
        relay.activate()
        return relay
    }

    @Test(
        "views of two kinds show every state; one that is added shows the present one, one removed hears nothing more")
    func views() async throws {
        let harness = TestHarness()
        let service = try await site(harness)
        let (relay, score) = (try relay(harness), LocalDocument(Score.initial))
        let (lines, leaders) = (Shown(), Shown())
        let line = ScoreLine { lines.lines.append($0) }
        let leader = LeaderLabel { leaders.lines.append($0) }
        score.addView(line, key: "line")
        let following = try relay.follow(Score.self, into: score) { Issue.record($0) }
        #expect(await eventually { lines.lines == ["0 : 0"] })
        for home in Int32(1)...2 {
            try service.document(Score.self).set(Score(home: home, away: 0))
            #expect(await eventually { lines.lines.last == "\(home) : 0" })
        }
        #expect(lines.lines == ["0 : 0", "1 : 0", "2 : 0"])
        score.addView(leader, key: "leader")
        #expect(await eventually { leaders.lines == ["home leads"] })
        score.removeView(key: "leader")
        try service.document(Score.self).set(Score(home: 2, away: 3))
        #expect(await eventually { lines.lines.last == "2 : 3" })
        #expect(leaders.lines == ["home leads"])
        withExtendedLifetime((following, leader)) {}
    }
    @Test("goals of two front ends at once are all counted, and what is based on an old score is a conflict")
    func updates() async throws {
        let harness = TestHarness()
        let service = try await site(harness)
        let (first, second) = (try relay(harness), try relay(harness))
        let seen = try await first.snapshot(of: Score.self)
        try await withThrowingTaskGroup { group in
            for relay in [first, second] {
                group.addTask { for _ in 1...20 { try await relay.update(Score.self) { $0.home += 1 } } }
            }
            try await group.waitForAll()
        }
        #expect(try await second.snapshot(of: Score.self).state == Score(home: 40, away: 0))
        await #expect {
            try await first.submit(Score(home: 0, away: 0), basedOn: seen.version)
        } throws: {
            .conflict ~= $0
        }
        withExtendedLifetime(service) {}
    }
}
