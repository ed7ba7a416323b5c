import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// Each command line of the transcripts, run again against real programs on a bus of its own.
@Suite("Transcripts: what the programs print, as a whole", .tags(.g8))
struct TranscriptTests {
    /// Whose programs wait for half a minute in all, and take next to nothing: others need not wait for it.
    private static let sleepers = ["cli-stopped"]

    @Test(
        "the programs print what is recorded, and end with that code", .heavy,
        arguments: Recorded.names.filter { !sleepers.contains($0) })
    func working(_ name: String) async throws { try await replay(name) }

    @Test("so do those that wait for a service that is stopped", arguments: sleepers)
    func waiting(_ name: String) async throws { try await replay(name) }

    private func replay(_ name: String) async throws {
        let transcript = try Recorded.transcript(name)
        let stage = try Stage(policy: transcript.policy)
        let normal = try NormalForm(places: stage.places, rules: transcript.rules)
        var outcomes: [Transcript.Outcome] = []
        for step in transcript.steps {
            switch step {
            case .text: break
            case .start(let line): try await stage.start(line)
            case .end: await stage.endLast()
            case .run(let run):
                let outcome = normal.outcome(try await stage.run(run))
                outcomes.append(outcome)
                if Recorded.rewritten == nil {
                    #expect(outcome.lines == run.outcome.lines, "\(name):\(run.number): \(run.line)")
                }
            }
        }
        await stage.endAll()
        if Recorded.rewritten != nil { try Recorded.write(transcript.text(outcomes), as: name) }
    }
}
