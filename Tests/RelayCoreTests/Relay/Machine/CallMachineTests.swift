import TestTraits
import Testing

@testable import RelayCore

@Suite("The calls of a relay, in every interleaving", .computing) struct CallMachineTests {
    struct Start: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let callsName: Bool
        let inputs: [CallWorld.Input]
        let free: [CallWorld.Input]
        var depth = 7
    }
    private static let anything: [CallWorld.Input] = [
        .call, .cancel, .route, .serve, .serveFormer, .bring, .exit, .crash, .replace, .upgrade, .cut, .tick,
    ]
    private static let learnt: [CallWorld.Input] = [.call, .route, .serve, .bring, .bring, .route, .serve, .bring]
    private static let begun: [CallWorld.Input] = [.replace, .bring] + learnt
    static let starts = [true, false].flatMap { callsName in
        let how = callsName ? "by name" : "to a verified owner"
        return [
            Start(testDescription: "nothing known, \(how)", callsName: callsName, inputs: [.call], free: anything),
            Start(
                testDescription: "two calls on their way to another contract, \(how)", callsName: callsName,
                inputs: begun + [.replace, .call, .call, .route, .route], free: anything),
            Start(
                testDescription: "a guess, \(how)", callsName: callsName, inputs: begun + [.upgrade, .exit],
                free: anything),
            Start(
                testDescription: "other kinds of calls, \(how)", callsName: callsName, inputs: [],
                free: [.call, .callOnce, .standard, .route, .serve, .bring, .replace, .crash, .tick, .cancel]),
            Start(
                testDescription: "a call that can be sent once, for a guess, \(how)", callsName: callsName,
                inputs: begun + [.replace, .callOnce, .call], free: anything),
        ]
    }

    @Test(
        "each call runs at most once, in order, for its own contract, and ends", arguments: starts)
    func explore(_ start: Start) {
        var first = CallWorld(callsName: start.callsName)
        for input in start.inputs { _ = first.apply(input) }
        var seen: Set<CallWorld> = [first]
        var level = [(world: first, path: [CallWorld.Input]())]
        var faults: [String] = []
        for step in 1...TestForm.rounds(start.depth, soak: start.depth + 2) {
            var next: [(world: CallWorld, path: [CallWorld.Input])] = []
            for (world, path) in level {
                for input in start.free where faults.count < 5 {
                    var world = world
                    if !world.apply(input) || !seen.insert(world).inserted { continue }
                    if step < start.depth { next.append((world, path + [input])) }
                    world.finish()
                    if !world.faults.isEmpty {
                        faults.append("\((path + [input]).map { "\($0)" }.joined(separator: " ")): \(world.faults)")
                    }
                }
            }
            level = next
        }
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
        #expect(seen.count > 1_000, "\(seen.count)")
    }
    @Test("the first call costs one question, later ones none, also under another owner of the same contract")
    func questions() {
        var world = CallWorld(callsName: true)
        func apply(_ inputs: [CallWorld.Input]) {
            for input in inputs {
                let applies = world.apply(input)
                #expect(applies, "\(input)")
            }
        }
        apply([.call, .route, .bring, .serve, .bring, .route, .serve, .bring])
        #expect(world.questions == 1 && world.ran == [0])
        apply([.exit, .bring, .call, .route, .serve, .bring, .bring])
        #expect(world.questions == 1 && world.ran == [0, 1])
    }
    @Test("pipelined calls that meet another contract are sent again in their order, before a later one")
    func resent() throws {
        var queue = Queue<String>()
        let isDirect = queue.direct("a")
        #expect(!isDirect)
        queue.wait("a", "b")
        let (first, none) = (queue.next(), queue.next())
        #expect(first == "ask" && none == nil)
        queue.machine.learned(1)
        let sent = [queue.next(), queue.next()]
        #expect(sent == ["a for 1", "b for 1"])
        let isAlsoDirect = queue.direct("c")
        #expect(isAlsoDirect)
        let refusedA = queue.refused("a", 1)
        queue.wait("d")
        let asks = [queue.next(), queue.next()]
        let refusedB = queue.refused("b", 1)
        #expect(refusedA == .waits && asks == ["ask", nil] && refusedB == .waits)
        queue.machine.learned(2)
        let again = [queue.next(), queue.next(), queue.next(), queue.next()]
        #expect(again == ["a for 2", "b for 2", "d for 2", nil])
    }
    @Test("a call is sent four times at the most; one that can be sent once is over") func hopeless() {
        var queue = Queue<String>()
        queue.wait("a")
        for contract in 1...4 {
            let step = queue.next()
            queue.machine.learned(contract)
            let sent = queue.next()
            let refusal = queue.refused("a", contract)
            #expect(step == "ask" && sent == "a for \(contract)")
            #expect(refusal == (contract == 4 ? .isHopeless : .waits))
        }
        let isOver = queue.machine.isEmpty
        #expect(isOver)
        queue.wait("b", kind: .commandOnce)
        let step = queue.next()
        queue.machine.learned(5)
        let (sent, refusal) = (queue.next(), queue.refused("b", 5))
        #expect(step == "ask" && sent == "b for 5" && refusal == .isOver)
    }
    @Test("a service that leaves three questions unanswered ends the calls that wait for the answer")
    func unanswered() {
        var queue = Queue<Int>()
        queue.wait(1)
        queue.wait(2, kind: .standard)
        queue.wait(3)
        for round in 1...3 {
            let (step, ended) = (queue.next(), queue.machine.failed(isPassing: true))
            #expect(step == "ask" && ended == (round == 3 ? [1, 3] : nil))
            queue.machine.resume()
        }
        #expect(queue.machine.waiting.map(\.call) == [2])
        // An answer that nobody asked for is none.
        queue.machine.learned(1)
        let unasked = queue.machine.failed(isPassing: false)
        #expect(queue.machine.contract == nil && unasked == nil)
        queue.wait(4)
        let (standard, step) = (queue.next(), queue.next())
        let ended = queue.machine.failed(isPassing: false)
        #expect(standard == "2" && step == "ask" && ended == [4])
    }
    @Test("no more calls wait than the limit") func limit() {
        var machine = CallMachine<Int, Int>()
        let taken = (0...CallMachine<Int, Int>.limit).map { machine.wait($0, .command) }
        #expect(taken.dropLast().allSatisfy { $0 } && taken.last == false)
        let all = machine.takeAll()
        #expect(all.count == CallMachine<Int, Int>.limit && machine.isEmpty)
    }
}

/// A machine in words, which keeps what it has sent.
private struct Queue<Call: Hashable & Sendable> {
    var machine = CallMachine<Call, Int>()
    private var sent: [Call: CallMachine<Call, Int>.Entry] = [:]

    mutating func wait(_ calls: Call..., kind: CallMachine<Call, Int>.Kind = .command) {
        for call in calls { _ = machine.wait(call, kind) }
    }
    mutating func direct(_ call: Call) -> Bool { name(machine.direct(call, .command)) != nil }
    mutating func next() -> String? { name(machine.next(mayAsk: true) { _ in true }) }
    mutating func refused(_ call: Call, _ contract: Int) -> CallMachine<Call, Int>.Refusal? {
        sent[call].map { machine.refused($0, for: contract) }
    }
    private mutating func name(_ step: CallMachine<Call, Int>.Step?) -> String? {
        switch step {
        case nil: return nil
        case .ask: return "ask"
        case .send(let entry, let contract):
            sent[entry.call] = entry
            return "\(entry.call)" + (contract.map { " for \($0)" } ?? "")
        }
    }
}
