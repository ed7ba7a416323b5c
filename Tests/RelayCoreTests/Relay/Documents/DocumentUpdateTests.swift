import TestTraits
import Testing

@testable import RelayCore

/// Two that count a document up, and its service, as a value.
private struct UpdateWorld: Hashable {
    enum Input: Hashable {
        /// The first or the second: reads and submits; its request is carried out, or lost; its reply arrives, or is
        /// lost.
        case begin(Int), arrive(Int), lose(Int), reply(Int), loseReply(Int)
        /// The service drops all replies that it has kept.
        case forget
        static let all: [Self] =
            [.forget] + (0...1).flatMap { [.begin($0), .arrive($0), .lose($0), .reply($0), .loseReply($0)] }
    }
    private struct Submission: Hashable {
        let state: Int
        let basis: Int
        let id: Int
        /// An attempt has ended without an answer.
        var isInDoubt = false
    }
    private enum Phase: Hashable {
        case idle
        case sent(Submission)
        case answered(Submission, DocumentUpdate.Outcome)
        case over(DocumentUpdate.Outcome, id: Int)
    }
    private var phases = [Phase.idle, .idle]
    private var lastID = 0
    // The service: durable.
    private var state = 0
    private var version = 0
    private var kept: Set<Int> = []
    /// The highest version of a reply that was dropped.
    private var forgotten = 0
    /// What has been applied, whatever the service knows.
    private var applied: Set<Int> = []

    var isOver: Bool { phases.allSatisfy { if case .over = $0 { true } else { false } } }
    /// Each that has succeeded counts once, and nobody else; of those that end in doubt nobody says whether they do.
    var isRight: Bool {
        state
            == phases.count { phase in
                switch phase {
                case .over(.success, _): true
                case .over(.forgotten, let id): applied.contains(id)
                case .sent(let submission), .answered(let submission, _): applied.contains(submission.id)
                default: false
                }
            }
    }
    var hasForgotten: Bool { phases.contains { if case .over(.forgotten, _) = $0 { true } else { false } } }
    mutating func apply(_ input: Input) -> Bool {
        switch input {
        case .forget:
            guard !kept.isEmpty else { return false }
            (kept, forgotten) = ([], version)
        case .begin(let index):
            guard phases[index] == .idle else { return false }
            lastID += 1
            phases[index] = .sent(Submission(state: state + 1, basis: version, id: lastID))
        case .arrive(let index):
            guard case .sent(let submission) = phases[index] else { return false }
            phases[index] = .answered(submission, carryOut(submission))
        case .lose(let index):
            guard case .sent(let submission) = phases[index] else { return false }
            phases[index] = .answered(submission, .failed(.unavailable))
        case .reply(let index):
            guard case .answered(let submission, let outcome) = phases[index] else { return false }
            end(index, submission, outcome)
        case .loseReply(let index):
            guard case .answered(let submission, _) = phases[index] else { return false }
            end(index, submission, .failed(.timedOut))
        }
        return true
    }
    private mutating func carryOut(_ submission: Submission) -> DocumentUpdate.Outcome {
        if kept.contains(submission.id) { return .success }
        guard submission.basis == version else {
            // A first attempt is a conflict in any case.
            return forgotten > submission.basis && submission.isInDoubt ? .forgotten : .conflict
        }
        (state, version) = (submission.state, version + 1)
        kept.insert(submission.id)
        applied.insert(submission.id)
        return .success
    }
    private mutating func end(_ index: Int, _ submission: Submission, _ outcome: DocumentUpdate.Outcome) {
        var submission = submission
        if case .failed = outcome { submission.isInDoubt = true }
        switch DocumentUpdate.step(after: outcome, isTimeLeft: true) {
        case .begin: phases[index] = .idle
        case .repeat: phases[index] = .sent(submission)
        case .end: phases[index] = .over(outcome, id: submission.id)
        }
    }
}

@Suite("An update of a document", .computing) struct DocumentUpdateTests {
    @Test("every interleaving of two updates, lost requests, lost and forgotten replies: each is applied once")
    func explore() throws {
        var seen: Set<UpdateWorld> = []
        var worlds = [UpdateWorld()]
        var (ends, doubts) = (0, 0)
        for _ in 0..<TestForm.rounds(14, soak: 20) {
            var next: [UpdateWorld] = []
            for world in worlds {
                for input in UpdateWorld.Input.all {
                    var world = world
                    guard world.apply(input), seen.insert(world).inserted else { continue }
                    try #require(world.isRight, "\(world)")
                    if world.isOver { ends += 1 }
                    if world.hasForgotten { doubts += 1 }
                    next.append(world)
                }
            }
            worlds = next
        }
        #expect(seen.count > 200 && ends > 0 && doubts > 0)
    }
    @Test("what no attempt mends ends it, and so does the time")
    func ends() {
        for code in [RelayError.Code.notPermitted, .schemaMismatch, .tooLarge, .notFound, .cancelled] {
            #expect(DocumentUpdate.step(after: .failed(code), isTimeLeft: true) == .end)
        }
        for outcome in [DocumentUpdate.Outcome.conflict, .failed(.unavailable), .failed(.timedOut)] {
            #expect(DocumentUpdate.step(after: outcome, isTimeLeft: false) == .end)
        }
        #expect(DocumentUpdate.step(after: .refused, isTimeLeft: true) == .end)
    }
    private enum Counting1: EventInterface {
        static let name = "org.example.Counting1"
        static var contract: Contract<Self> { Count.self }
    }
    private struct Count: EditableDocument {
        typealias Interface = Counting1
        var value: Int64
        static let initial = Self(value: 0)
    }
    @Test("a forgotten operation is a conflict the first time, and in doubt when it is repeated") func forgotten() {
        let first = SubmitOutcome<Count>(.refused(.forgotten), isRepeated: false)
        #expect(first == .conflict && first.kind == .conflict)
        let repeated = SubmitOutcome<Count>(.refused(.forgotten), isRepeated: true)
        #expect(repeated.kind == .forgotten)
        #expect { _ = try repeated.get() } throws: { error in
            .outcomeUnknown ~= error && (error as? RelayError)?.mayHaveRun == true
        }
        #expect(SubmitOutcome<Count>(.refused(.conflict), isRepeated: true) == .conflict)
    }
}
