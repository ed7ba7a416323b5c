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
        for input: CallWorld.Input in [.call, .route, .serve, .bring, .bring, .route, .serve, .bring] {
            #expect(world.apply(input), "\(input)")
        }
        #expect(world.questions == 1 && world.ran == [0])
        for input: CallWorld.Input in [.exit, .bring, .call, .route, .serve, .bring, .bring] {
            #expect(world.apply(input), "\(input)")
        }
        #expect(world.questions == 1 && world.ran == [0, 1])
    }
    @Test("pipelined calls that meet another contract are sent again in their order, before a later one")
    func resent() {
        typealias Machine = CallMachine<String, Int>
        var machine = Machine()
        func sent(_ step: Machine.Step?) -> String? {
            if case .send(let entry, let contract)? = step { "\(entry.call)\(contract ?? -1)" } else { nil }
        }
        func entry(_ step: Machine.Step?) -> Machine.Entry? {
            if case .send(let entry, _)? = step { entry } else { nil }
        }
        #expect(machine.direct("a", .command) == nil && machine.wait("a", .command))
        #expect(machine.next(mayAsk: true) { _ in true } == .ask && machine.next(mayAsk: true) { _ in true } == nil)
        machine.learned(1)
        let (a, b) = (machine.next(mayAsk: true) { _ in true }, machine.direct("b", .command))
        #expect(sent(a) == "a1" && sent(b) == "b1")
        guard let a = entry(a), let b = entry(b) else { return }
        #expect(machine.refused(a, for: 1) == .waits && machine.wait("c", .command))
        #expect(machine.next(mayAsk: true) { _ in true } == .ask)
        #expect(machine.refused(b, for: 1) == .waits)
        machine.learned(2)
        #expect((1...3).map { _ in sent(machine.next(mayAsk: true) { _ in true }) } == ["a2", "b2", "c2"])
    }
    @Test("a service that leaves three questions unanswered ends the calls that wait for the answer") func unanswered()
    {
        var machine = CallMachine<Int, Int>()
        #expect(machine.wait(1, .command) && machine.wait(2, .standard) && machine.wait(3, .command))
        for round in 1...3 {
            #expect(machine.next(mayAsk: true) { _ in true } == .ask)
            #expect(machine.failed(isPassing: true) == (round == 3 ? [1, 3] : nil))
            machine.resume()
        }
        #expect(machine.waiting.map(\.call) == [2])
        // An answer that nobody asked for is none.
        machine.learned(1)
        #expect(machine.contract == nil && machine.failed(isPassing: false) == nil)
        #expect(machine.wait(4, .command))
        machine.ownerChanged()
        _ = machine.next(mayAsk: true) { _ in true }
        #expect(machine.next(mayAsk: true) { _ in true } == .ask)
        #expect(machine.failed(isPassing: false) == [4])
    }
    @Test("no more calls wait than the limit") func limit() {
        var machine = CallMachine<Int, Int>()
        for number in 1...CallMachine<Int, Int>.limit { #expect(machine.wait(number, .command)) }
        #expect(!machine.wait(0, .command))
        #expect(machine.takeAll().count == CallMachine<Int, Int>.limit && machine.isEmpty)
    }
}
