import TestTraits
import Testing

@testable import RelayCore

/// Two that count a document up, and its service, as a value.
private struct UpdateWorld: Hashable {
    enum Input: Hashable {
        /// The first or the second: reads and submits; its request is carried out, or lost; its reply arrives, or is
        /// lost.
        case begin(Int), arrive(Int), lose(Int), reply(Int), loseReply(Int)
        static let all: [Self] =
            (0...1).flatMap { [.begin($0), .arrive($0), .lose($0), .reply($0), .loseReply($0)] }
    }
    private struct Submission: Hashable {
        let state: Int
        let basis: Int
        let id: Int
    }
    private enum Phase: Hashable {
        case idle
        case sent(Submission)
        case answered(Submission, DocumentUpdate.Outcome)
        case over(DocumentUpdate.Outcome)
    }
    private var phases = [Phase.idle, .idle]
    private var lastID = 0
    // The service: durable.
    private var state = 0
    private var version = 0
    private var done: [Int: Int] = [:]

    var isOver: Bool { phases.allSatisfy { if case .over = $0 { true } else { false } } }
    /// Each that has succeeded counts once, and nobody else.
    var isRight: Bool {
        state
            == phases.count { phase in
                switch phase {
                case .over(.success): true
                case .sent(let submission), .answered(let submission, _): done[submission.id] != nil
                default: false
                }
            }
    }
    mutating func apply(_ input: Input) -> Bool {
        switch input {
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
        if done[submission.id] != nil { return .success }
        guard submission.basis == version else { return .conflict }
        (state, version) = (submission.state, version + 1)
        done[submission.id] = version
        return .success
    }
    private mutating func end(_ index: Int, _ submission: Submission, _ outcome: DocumentUpdate.Outcome) {
        switch DocumentUpdate.step(after: outcome, isTimeLeft: true) {
        case .begin: phases[index] = .idle
        case .repeat: phases[index] = .sent(submission)
        case .end: phases[index] = .over(outcome)
        }
    }
}

@Suite("An update of a document", .computing) struct DocumentUpdateTests {
    @Test("every interleaving of two updates, lost requests and lost replies: each is applied once")
    func explore() throws {
        var seen: Set<UpdateWorld> = []
        var worlds = [UpdateWorld()]
        var ends = 0
        for _ in 0..<TestForm.rounds(14, soak: 20) {
            var next: [UpdateWorld] = []
            for world in worlds {
                for input in UpdateWorld.Input.all {
                    var world = world
                    guard world.apply(input), seen.insert(world).inserted else { continue }
                    try #require(world.isRight, "\(world)")
                    if world.isOver { ends += 1 }
                    next.append(world)
                }
            }
            worlds = next
        }
        #expect(seen.count > 200 && ends > 0)
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
}
