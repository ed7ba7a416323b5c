import TestTraits
import Testing

@testable import RelayCore

@Suite("The stream machine, in every interleaving", .computing, .tags(.g1, .g2)) struct StreamMachineTests {
    /// Where an exploration begins: what was done before, and how many free inputs follow.
    struct Start: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let inputs: [StreamWorld.Input]
        let depth: Int
        var hasRings = false
    }
    private static let onRing: [StreamWorld.Input] = [.serve, .bring, .serve, .bring, .publishA, .fetch]
    static let ringStarts = [
        Start(
            testDescription: "a ring, all wanted of a service to come", inputs: [.wantAll, .start, .bring], depth: 3,
            hasRings: true),
        Start(
            testDescription: "on the ring, all wanted", inputs: [.start, .bring, .wantAll] + onRing, depth: 4,
            hasRings: true),
        Start(
            testDescription: "on the ring, one wanted", inputs: [.start, .bring, .wantA] + onRing, depth: 4,
            hasRings: true),
        Start(
            testDescription: "on the ring, widening",
            inputs: [.start, .bring, .wantA] + onRing + [.publishB, .wantAll, .publishB], depth: 4, hasRings: true),
        Start(
            testDescription: "on the ring, after a crash",
            inputs: [.wantAll, .start, .bring] + onRing + [.publishB, .crash], depth: 4, hasRings: true),
    ]
    static let starts = [
        Start(testDescription: "nothing there, nothing wanted", inputs: [], depth: 5),
        Start(testDescription: "all wanted of a service to come", inputs: [.wantAll], depth: 5),
        Start(testDescription: "one wanted of a service to come", inputs: [.wantA], depth: 5),
        Start(
            testDescription: "all wanted, live", inputs: [.start, .bring, .wantAll, .serve, .bring, .publishA, .bring],
            depth: 5),
        Start(
            testDescription: "one wanted, live", inputs: [.start, .bring, .wantA, .serve, .bring, .publishA, .bring],
            depth: 5),
        Start(
            testDescription: "widening", inputs: [.start, .bring, .wantA, .serve, .bring, .publishA, .wantAll],
            depth: 5),
        Start(
            testDescription: "after a crash", inputs: [.wantAll, .start, .bring, .serve, .bring, .publishA, .crash],
            depth: 5),
        Start(
            testDescription: "the bus gone", inputs: [.wantA, .start, .bring, .serve, .bring, .publishA, .cut],
            depth: 5),
    ]

    @Test(
        "every interleaving is in order, whole or reported, and nothing is reported that arrived",
        arguments: starts + ringStarts)
    func explore(_ start: Start) {
        var world = StreamWorld(hasRings: start.hasRings)
        for input in start.inputs {
            let applies = world.apply(input)
            #expect(applies)
        }
        var faults: [String] = []
        var count = 0
        let depth = TestForm.rounds(min(start.depth, 4), soak: start.depth)
        Self.explore(world, start.inputs, depth, start.hasRings, &count, &faults)
        #expect(faults == [])
        #expect(count > (start.hasRings ? 400 : TestForm.rounds(500, soak: 5_000)))
    }
    /// What the bus loses is none of a ring's.
    private static let withoutRings: [StreamWorld.Input] = [.loseA, .loseB, .loseHead, .wantB]
    private static func explore(
        _ world: StreamWorld, _ done: [StreamWorld.Input], _ depth: Int, _ hasRings: Bool, _ count: inout Int,
        _ faults: inout [String]
    ) {
        if faults.count >= 5 { return }
        if depth == 0 || !world.faults.isEmpty {
            var world = world
            if world.faults.isEmpty { world.finish() }
            count += 1
            if !world.faults.isEmpty {
                faults.append("\(done.map { "\($0)" }.joined(separator: " ")): \(world.faults)")
            }
            return
        }
        for input in StreamWorld.Input.allCases where !hasRings || !withoutRings.contains(input) {
            var next = world
            if next.apply(input) { explore(next, done + [input], depth - 1, hasRings, &count, &faults) }
        }
    }

    // MARK: Bounds

    private static func joined(at position: UInt64, _ names: Set<String>?) -> StreamMachine<Int> {
        var machine = StreamMachine<Int>()
        _ = machine.want(names)
        _ = machine.ownerAppeared(isNew: false)
        _ = machine.finishAttach(Attachment(epoch: 7, from: 0, oldest: .max, head: position, last: [:]))
        return machine
    }

    @Test("machines that go on alike are equal, whatever they followed before") func equality() {
        let wide = Self.joined(at: 3, nil)
        var narrow = Self.joined(at: 3, ["A"])
        _ = narrow.want([])
        _ = narrow.want(nil)
        _ = narrow.finishAttach(Attachment(epoch: 7, from: 0, oldest: .max, head: 3, last: [:]))
        #expect(narrow == wide)
        #expect(narrow.hashValue == wide.hashValue)
    }
    @Test("the largest sequences trap nowhere") func extremes() {
        for names: Set<String>? in [nil, ["A"]] {
            for position in [0, 1, UInt64.max - 1, .max] {
                for (sequence, previous) in [(UInt64.max, UInt64.max - 1), (.max, .max), (.max, 0), (0, .max), (1, 0)] {
                    var machine = Self.joined(at: position, names)
                    _ = machine.receive("A", sequence, previous)
                    _ = machine.receive("A", sequence, previous)
                    let head = machine.head(epoch: 7, sequence: .max, last: ["A": .max])
                    #expect(machine.position?.sequence == .max)
                    _ = head.gaps.map(\.count)
                    _ = machine.finishAttach(Attachment(epoch: 7, from: .max, oldest: .max, head: 0, last: ["A": .max]))
                    #expect(machine.ownerVanished().gaps == [], "nothing can follow the last sequence")
                }
            }
        }
        var machine = Self.joined(at: 0, nil)
        let gap = machine.head(epoch: 7, sequence: .max, last: [:]).gaps.first
        #expect(gap?.sequences == 1...UInt64.max && gap?.count == .max)
    }
    @Test("a gap tells how many are missing where that is known") func counts() {
        var all = Self.joined(at: 3, nil)
        #expect(all.receive("A", 7, 2) == .deliver(epoch: 7, after: Gap(4...6, epoch: 7, count: 3, reason: .lost)))
        var one = Self.joined(at: 3, ["A"])
        #expect(one.receive("A", 9, 6) == .deliver(epoch: 7, after: Gap(4...6, epoch: 7, count: nil, reason: .lost)))
        #expect(one.receive("A", 12, 10) == .deliver(epoch: 7, after: Gap(10...10, epoch: 7, count: 1, reason: .lost)))
    }
    @Test("what comes before the answer is held up to a bound, and reported past it", arguments: [true, false])
    func held(byCount: Bool) {
        var machine = StreamMachine<Int>()
        _ = machine.want(nil)
        _ = machine.ownerAppeared(isNew: true)
        let count = UInt64(StreamMachine<Int>.heldLimit)
        let cost = byCount ? 0 : StreamMachine<Int>.heldCostLimit / 8
        let fitting = byCount ? count : 8
        for number in 1...fitting + 1 where machine.receive("A", number, number - 1) == .hold {
            _ = machine.hold("A", number, number - 1, Int(number), cost: cost)
        }
        let answer = Attachment(epoch: 7, from: 0, oldest: .max, head: fitting + 1, last: ["A": fitting + 1])
        #expect(machine.finishAttach(answer).gaps.map(\.sequences) == [1...fitting + 1])

        machine = StreamMachine<Int>()
        _ = machine.want(nil)
        _ = machine.ownerAppeared(isNew: true)
        for number in 1...fitting where machine.receive("A", number, number - 1) == .hold {
            _ = machine.hold("A", number, number - 1, Int(number), cost: cost)
        }
        let whole = Attachment(epoch: 7, from: 0, oldest: .max, head: fitting, last: ["A": fitting])
        let action = machine.finishAttach(whole)
        #expect(action.steps.count == Int(fitting) && action.gaps == [])
    }
    @Test("a run's last word counts, even if it comes before the answer") func lastWord() {
        var machine = StreamMachine<Int>()
        _ = machine.want(nil)
        _ = machine.ownerAppeared(isNew: true)
        #expect(machine.receive("A", 1, 0) == .hold)
        _ = machine.hold("A", 1, 0, 1)
        _ = machine.head(epoch: 7, sequence: 2, last: ["A": 2], isLast: true)
        let action = machine.ownerVanished()
        #expect(action.steps.count == 2)
        #expect(action.gaps == [Gap(2...2, epoch: 7, count: 1, reason: .lost)])
    }
    @Test("owners that leave or refuse before they answer say nothing of where a stream begins: the first answer does")
    func unansweredPlace() {
        for durable in [true, false] {
            var machine = StreamMachine<Int>(from: .after(epoch: 7, sequence: 4))
            _ = machine.want(nil)
            _ = machine.ownerAppeared(isNew: false)
            #expect(machine.ownerVanished().steps.isEmpty)
            _ = machine.ownerAppeared(isNew: true)
            #expect(machine.refused() == .nothing && machine.ownerVanished().steps.isEmpty)
            #expect(machine.ownerAppeared(isNew: true) == .attach(epoch: 7, after: 4))
            let (from, oldest): (UInt64, UInt64) = durable ? (4, 1) : (0, .max)
            let answer = Attachment(epoch: 9, from: from, oldest: oldest, head: 4, last: ["A": 4])
            let gaps = machine.finishAttach(answer).gaps
            let unknown = Gap(5...UInt64.max, epoch: 7, count: nil, reason: .epochChanged)
            #expect(gaps.first == (durable ? nil : unknown))
            #expect(machine.isSettled)
        }
    }
    @Test("an answer that does not come is asked for again, and a tick asks once") func silence() {
        var machine = Self.joined(at: 3, nil)
        #expect(machine.tick() == .nothing && !machine.needsTick)
        _ = machine.receive("A", 4, 0)
        #expect(machine.needsTick)
        #expect(machine.tick() == .nothing && machine.needsTick)
        #expect(machine.tick() == .attach(epoch: 7, after: 4))
        #expect(machine.tick() == .nothing && !machine.needsTick)
        machine.suspectLoss()
        #expect(machine.tick() == .attach(epoch: 7, after: 4))
        #expect(machine.unanswered() == .attach(epoch: 7, after: 4))
    }
    @Test("what a ring brings needs no confirmation; what it lost is asked about once, behind any answer before")
    func ringSilence() {
        var machine = Self.joined(at: 3, ["A"])
        machine.reportsLoss = true
        #expect(machine.receive("A", 4, 0) == .deliver(epoch: 7, after: nil) && !machine.needsTick)
        machine.suspectLoss()
        _ = machine.head(epoch: 7, sequence: 4, last: ["A": 4])
        // What was lost may be younger than that word.
        #expect(machine.needsTick && machine.tick() == .nothing && machine.needsTick)
        #expect(machine.tick() == .attach(epoch: 7, after: 4) && !machine.needsTick)
        // While it waits for an answer, too.
        _ = machine.unanswered()
        machine.suspectLoss()
        _ = machine.finishAttach(Attachment(epoch: 7, from: 0, oldest: .max, head: 4, last: ["A": 4]))
        #expect(machine.needsTick)
    }
    @Test("a stream that its owner refuses rests until the next owner, whose run it takes from the first event")
    func refused() {
        var machine = StreamMachine<Int>()
        _ = machine.want(["A"])
        machine.ownerAbsent()
        _ = machine.ownerAppeared(isNew: true)
        #expect(machine.receive("A", 1, 0) == .hold)
        _ = machine.hold("A", 1, 0, 1)
        #expect(machine.refused().gaps == [] && !machine.isSettled)
        #expect(machine.receive("A", 2, 1) == .nothing)
        #expect(machine.unanswered() == .nothing && machine.want(nil) == .nothing)
        #expect(machine.finishAttach(Attachment(epoch: 7, from: 0, oldest: .max, head: 9, last: [:])).steps.isEmpty)
        #expect(!machine.needsTick && machine.tick() == .nothing && machine.ownerVanished().gaps == [])
        #expect(machine.ownerAppeared(isNew: true) == .attach(epoch: 0, after: 0))
        #expect(machine.receive("A", 1, 0) == .hold)
        _ = machine.hold("A", 1, 0, 1)
        let action = machine.finishAttach(Attachment(epoch: 8, from: 0, oldest: .max, head: 1, last: ["A": 1]))
        guard case .deliver(1, epoch: 8)? = action.output.first, action.request == nil, machine.isSettled else {
            Issue.record("\(action)")
            return
        }
        // Nobody wants it: it is in step, and asks anew when somebody does.
        _ = machine.refused()
        _ = machine.want([])
        #expect(machine.isSettled && machine.want(nil) == .attach(epoch: 0, after: 0))
    }
}
