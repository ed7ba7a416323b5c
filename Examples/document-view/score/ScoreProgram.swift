import Dispatch
import RelayCore
import Scores

/// The service, and its front ends: one program for all, so that it is read in one go.
@main @MainActor struct ScoreProgram: RelayProgram {
    static func run() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch (words.first, words.dropFirst().first) {
        case ("serve", nil): try await EventService(name: "org.example.Scores", exporting: Scores1.self).run()
        case ("window", let name?): try await window(name)
        case ("goal", let team?): try await goal(team)
        case ("correct", nil): try await correct()
        default: throw RelayError(.invalidArgument, "serve, window NAME, goal home, goal away, or correct?")
        }
    }
    private static func relay() throws -> EventRelay {
        let relay = try EventRelay(following: "org.example.Scores", interfaces: Scores1.self)
        relay.activate()
        return relay
    }
    /// One document, which the relay keeps as the service has it, and two views. A line of the input adds the second one, and
    /// another line removes it.
    private static func window(_ name: String) async throws {
        let relay = try relay()
        let score = LocalDocument(Score.initial)
        let line = ScoreLine { print("\(name), line: \($0)") }
        let leader = LeaderLabel { print("\(name), leader: \($0)") }
        score.addView(line, key: "line")
        let following = try relay.follow(Score.self, into: score) { print("\(name): \($0.message)") }
        let input = AsyncStream<String> { lines in
            // Waiting for input must not stop the main actor.
            DispatchQueue.global().async {
                while let line = readLine() { lines.yield(line) }
                lines.finish()
            }
        }
        for await line in input {
            if line == "add" { score.addView(leader, key: "leader") } else { score.removeView(key: "leader") }
            print("\(name): \(line)")
        }
        withExtendedLifetime(following) {}
    }
    private static func goal(_ team: String) async throws {
        guard ["home", "away"].contains(team) else {
            throw RelayError(.invalidArgument, "\(team) is no team: home, or away")
        }
        // Begins again if somebody else was first: two goals at once are two goals.
        try await relay().update(Score.self) { if team == "home" { $0.home += 1 } else { $0.away += 1 } }
    }
    /// Somebody looks at the score, thinks, and takes the last goal of the home team back. What they looked at may be old by then.
    private static func correct() async throws {
        let relay = try relay()
        let seen = try await relay.snapshot(of: Score.self)
        print("seen: \(seen.state.home) : \(seen.state.away)")
        _ = readLine()
        let corrected = Score(home: seen.state.home - 1, away: seen.state.away)
        do {
            try await relay.submit(corrected, basedOn: seen.version)
            print("corrected")
        } catch .conflict {
            print("somebody else was first: look again")
        }
    }
}
