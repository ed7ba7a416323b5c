import TestTraits
import Testing

@testable import RelayCore

/// Durable streams, by hand: what the enumeration's small worlds do not have.
@Suite("The stream machine of a durable interface, step by step", .heavy, .tags(.g2)) struct StreamReadingTests {
    typealias Machine = StreamMachine<Int>

    /// Actions as text, to be compared.
    static func text(_ action: Machine.Action) -> [String] {
        action.steps.map { step in
            switch step {
            case .show(.deliver(let payload, let epoch)): "deliver \(epoch)#\(payload)"
            case .show(.gap(let gap)): text(gap)
            case .attach(let epoch, let after): "attach \(epoch)#\(after)"
            case .read(let after): "read \(after)"
            }
        }
    }
    static func text(_ gap: Gap) -> String {
        let count = gap.count.map { " (\($0))" } ?? ""
        return "\(gap.reason.rawValue) \(gap.epoch)#\(gap.sequences)\(count)"
    }
    static func answer(
        _ epoch: UInt64 = 7, from: UInt64 = 0, oldest: UInt64 = 1, head: UInt64, last: [String: UInt64] = [:]
    ) -> RelayCore.Attachment { RelayCore.Attachment(epoch: epoch, from: from, oldest: oldest, head: head, last: last) }

    /// Attached to run 7 of a durable service that it found at this head.
    static func live(at head: UInt64, _ names: Set<String>? = nil) -> Machine {
        var machine = Machine()
        _ = machine.want(names)
        _ = machine.ownerAppeared(isNew: false)
        _ = machine.finishAttach(answer(head: head, last: ["A": head]))
        return machine
    }
    static func come(_ machine: inout Machine, _ sequence: UInt64, _ previous: UInt64? = nil) -> [String] {
        let previous = previous ?? sequence - min(sequence, 1)
        let action = machine.receive("A", sequence, previous)
        switch action.event {
        case .drop: return text(action) + ["drop"]
        case .hold: return text(action) + ["hold"] + text(machine.hold("A", sequence, previous, Int(sequence)))
        case .deliver(let epoch): return text(action) + ["deliver \(epoch)#\(sequence)"]
        }
    }
    /// A page; what of it is delivered, and what to do then.
    static func page(
        _ machine: inout Machine, _ events: [UInt64], of epoch: UInt64 = 7, oldest: UInt64 = 1, through: UInt64,
        head: UInt64
    ) -> [String] {
        var all = text(machine.pageBegan(epoch: epoch, oldest: oldest))
        for sequence in events where machine.pageEvent("A", sequence) { all.append("page \(epoch)#\(sequence)") }
        return all + text(machine.pageEnded(through: through, head: head))
    }

    // MARK: Holes

    @Test("a hole is read, and what came meanwhile follows") func hole() {
        var machine = Self.live(at: 3)
        #expect(Self.come(&machine, 4) == ["deliver 7#4"])
        #expect(Self.come(&machine, 7) == ["hold", "read 4"])
        #expect(Self.come(&machine, 8) == ["hold"] && !machine.isSettled)
        #expect(Self.page(&machine, [5, 6], through: 6, head: 8) == ["page 7#5", "page 7#6", "read 6"])
        #expect(Self.come(&machine, 9) == ["hold"])
        #expect(Self.page(&machine, [7, 8], through: 8, head: 8) == ["page 7#7", "page 7#8", "deliver 7#9"])
        #expect(machine.isSettled && Self.come(&machine, 9) == ["drop"] && Self.come(&machine, 10) == ["deliver 7#10"])
    }
    @Test("a hole among what was held is read, too") func heldHole() {
        var machine = Self.live(at: 3)
        #expect(Self.come(&machine, 5) == ["hold", "read 3"])
        #expect(Self.come(&machine, 8) == ["hold"])
        #expect(Self.page(&machine, [4], through: 5, head: 5) == ["page 7#4", "read 5"])
        #expect(Self.page(&machine, [6, 7, 8], through: 8, head: 8).suffix(1) == ["page 7#8"])
        #expect(machine.isSettled)
    }
    @Test("more than can be held is dropped, and read: the newest join") func overflow() {
        var machine = Machine(isDurable: true, heldLimit: 4)
        _ = machine.want(nil)
        _ = machine.ownerAppeared(isNew: false)
        for number: UInt64 in 1...9 { _ = Self.come(&machine, number) }
        #expect(Self.text(machine.finishAttach(Self.answer(head: 9))) == [])
        #expect(Self.come(&machine, 11) == ["hold", "read 9"])
        for number: UInt64 in 12...17 { #expect(Self.come(&machine, number) == ["hold"]) }
        // 11 to 14 had to go for 15.
        #expect(Self.page(&machine, [10], through: 11, head: 11) == ["page 7#10", "read 11"])
        #expect(
            Self.page(&machine, [12, 13, 14], through: 14, head: 14).suffix(3)
                == ["deliver 7#15", "deliver 7#16", "deliver 7#17"])
        #expect(machine.isSettled)
    }
    @Test("what overflowed before the answer is read") func overflowBeforeAnswer() {
        var machine = Machine(from: .at(2), isDurable: true, heldLimit: 2)
        _ = machine.want(nil)
        #expect(Self.text(machine.ownerAppeared(isNew: true)) == ["attach 0#2"])
        for number: UInt64 in 3...6 { _ = Self.come(&machine, number) }
        #expect(Self.text(machine.finishAttach(Self.answer(from: 0, head: 6))) == ["read 2"])
        #expect(Self.page(&machine, [3, 4, 5, 6], through: 6, head: 6).count == 4)
        #expect(machine.isSettled)
    }
    @Test("a head, an end and an answer that are ahead are read up to") func heads() {
        var machine = Self.live(at: 3)
        #expect(Self.text(machine.head(epoch: 7, sequence: 5, last: [:])) == ["read 3"])
        #expect(Self.text(machine.head(epoch: 7, sequence: 6, last: [:], isLast: true)) == [])
        #expect(Self.page(&machine, [4, 5], through: 5, head: 5) == ["page 7#4", "page 7#5", "read 5"])
        #expect(Self.text(machine.finishAttach(Self.answer(head: 9))) == [])
        #expect(Self.page(&machine, [6], through: 6, head: 6) == ["page 7#6", "read 6"])
        #expect(Self.page(&machine, [7, 8, 9], through: 9, head: 9).count == 3)
        #expect(machine.isSettled)
        #expect(Self.text(machine.head(epoch: 8, sequence: 50, last: [:])) == [], "another run's")
        #expect(Self.text(machine.head(epoch: 7, sequence: 2, last: [:])) == [], "a head that goes back")
    }
    @Test("the last event and its head are lost while a hole is read: it is asked") func silence() {
        var machine = Self.live(at: 3)
        #expect(!machine.needsTick)
        #expect(Self.come(&machine, 5) == ["hold", "read 3"])
        #expect(!machine.needsTick)
        #expect(Self.page(&machine, [4, 5], through: 5, head: 5).count == 2)
        #expect(machine.needsTick)
        #expect([machine.tick(), machine.tick()].contains(.attach(epoch: 7, after: 5)))
        #expect(Self.text(machine.finishAttach(Self.answer(from: 5, head: 6))) == ["read 5"])
    }
    @Test("a page that nobody waits for has no effect") func strayPages() {
        var machine = Self.live(at: 3)
        let before = machine
        #expect(Self.page(&machine, [4, 5], oldest: 4, through: 5, head: 9) == [] && machine == before)
        _ = machine.ownerVanished()
        #expect(Self.page(&machine, [4, 5], oldest: 4, through: 5, head: 9) == [])
        _ = machine.ownerAppeared(isNew: true)
        #expect(Self.page(&machine, [4, 5], oldest: 4, through: 5, head: 9) == [])
        #expect(machine.position?.sequence == 3)
    }
    @Test("who does not answer is asked again for what was asked last") func unanswered() {
        var machine = Self.live(at: 3)
        #expect(Self.text(machine.unanswered()) == ["attach 7#3"])
        _ = Self.come(&machine, 5)
        #expect(Self.text(machine.unanswered()) == ["read 3"])
    }
    @Test("where nothing can be read after all, holes are gaps") func refusal() {
        var machine = Self.live(at: 3)
        #expect(Self.come(&machine, 6) == ["hold", "read 3"])
        #expect(Self.come(&machine, 9) == ["hold"])
        #expect(
            Self.text(machine.readRefused()) == [
                "lost 7#4...5 (2)", "deliver 7#6", "lost 7#7...8 (2)", "deliver 7#9",
            ])
        #expect(machine.isSettled && Self.text(machine.readRefused()) == [])
    }
    @Test("a service that says there is more and gives none is asked twice") func fruitless() {
        var machine = Self.live(at: 3)
        #expect(Self.come(&machine, 6) == ["hold", "read 3"])
        #expect(Self.page(&machine, [], through: 3, head: 9) == ["read 3"])
        #expect(Self.page(&machine, [], through: 0, head: 9) == ["lost 7#4...5 (2)", "deliver 7#6"])
        // A page between the two counts anew.
        #expect(Self.come(&machine, 9) == ["hold", "read 6"])
        #expect(Self.page(&machine, [], through: 6, head: 9) == ["read 6"])
        #expect(Self.page(&machine, [7], through: 7, head: 9) == ["page 7#7", "read 7"])
        #expect(Self.page(&machine, [], through: 7, head: 9) == ["read 7"])
        #expect(Self.page(&machine, [8, 9], through: 9, head: 9).count == 2 && machine.isSettled)
    }
    @Test("what a page claims beyond the head is not accounted for") func claims() {
        var machine = Self.live(at: 3)
        _ = Self.come(&machine, 5)
        #expect(Self.page(&machine, [4], through: .max, head: 5) == ["page 7#4"])
        #expect(Self.come(&machine, 6) == ["deliver 7#6"])
    }

    // MARK: What is gone

    @Test("what was removed is a gap, exactly") func pruned() {
        var machine = Self.live(at: 3)
        _ = Self.come(&machine, 9)
        #expect(
            Self.page(&machine, [6, 7], oldest: 6, through: 7, head: 9)
                == ["expired 7#4...5 (2)", "page 7#6", "page 7#7", "read 7"])
        #expect(Self.page(&machine, [9], oldest: 9, through: 9, head: 9) == ["expired 7#8...8 (1)", "page 7#9"])
    }
    @Test("a rare name misses only what was removed of it, across a restart") func rareName() {
        var machine = Self.live(at: 3, ["A"])
        // Others flow: the head tells, and nothing is missing.
        #expect(Self.text(machine.head(epoch: 7, sequence: 500, last: ["A": 3, "B": 500])) == [])
        _ = machine.ownerVanished()
        #expect(Self.text(machine.ownerAppeared(isNew: true)) == ["attach 7#500"])
        #expect(Self.text(machine.finishAttach(Self.answer(8, from: 500, oldest: 4, head: 900, last: ["A": 3]))) == [])
        #expect(machine.isSettled)
        #expect(Self.come(&machine, 950, 3) == ["deliver 8#950"])
        #expect(Self.come(&machine, 990, 970) == ["hold", "read 950"])
        #expect(
            Self.page(&machine, [990], of: 8, oldest: 971, through: 990, head: 990)
                == ["expired 8#951...970", "page 8#990"])
    }
    @Test("an older backup is a gap, and its new events are none that came before", arguments: [nil, ["A"]])
    func restored(_ names: Set<String>?) {
        var machine = Self.live(at: 3, names)
        for number: UInt64 in 4...9 { _ = Self.come(&machine, number) }
        _ = machine.ownerVanished()
        #expect(Self.text(machine.ownerAppeared(isNew: true)) == ["attach 7#9"])
        #expect(Self.come(&machine, 6) == ["hold"])
        #expect(
            Self.text(machine.finishAttach(Self.answer(8, from: 5, head: 6, last: ["A": 6]))) == [
                "historyReplaced 7#10...18446744073709551615", "deliver 8#6",
            ])
        #expect(Self.come(&machine, 7) == ["deliver 8#7"])
        // The same once more: this history is the one in which it stands.
        _ = machine.ownerVanished()
        _ = machine.ownerAppeared(isNew: true)
        #expect(Self.text(machine.finishAttach(Self.answer(9, from: 7, head: 7, last: ["A": 7]))) == [])
    }
    @Test("a mirror that goes on otherwise below one that waits for it shows that at once", arguments: [false, true])
    func mirrorTurns(byHead: Bool) {
        let runs = [StreamRun(epoch: 7, first: 1), StreamRun(epoch: 8, first: 4)]
        func answer(_ epoch: UInt64, from: UInt64, head: UInt64, _ runs: [StreamRun]) -> RelayCore.Attachment {
            RelayCore.Attachment(
                epoch: epoch, from: from, oldest: 1, head: head, last: ["A": head],
                details: AttachOptions(runs: runs, isOpen: true))
        }
        // It stands at #6 of run 8, and is ahead of a mirror that is at #2 of run 7, which led there.
        var machine = Machine(from: .after(epoch: 8, sequence: 6, runs: runs), isDurable: true)
        _ = machine.want(nil)
        _ = machine.ownerAppeared(isNew: false)
        #expect(Self.text(machine.finishAttach(answer(7, from: 2, head: 2, [runs[0]]))) == [])
        #expect(Self.come(&machine, 3) == ["drop"])
        // The next run there is another one, and has an event in place of one that was delivered.
        _ = machine.ownerVanished()
        _ = machine.ownerAppeared(isNew: true)
        let others = [runs[0], StreamRun(epoch: 9, first: 4)]
        #expect(Self.text(machine.finishAttach(answer(9, from: 3, head: 3, others))) == [])
        #expect(Self.text(machine.head(epoch: 9, sequence: 3, last: ["A": 3])) == [])
        let asked = byHead ? Self.text(machine.head(epoch: 9, sequence: 4, last: ["A": 4])) : Self.come(&machine, 4)
        #expect(asked.first == "attach 8#6")
        #expect(
            Self.text(machine.finishAttach(answer(9, from: 3, head: 4, others))).first
                == "historyReplaced 8#7...18446744073709551615")
        #expect(machine.position?.sequence == 3)
    }
    @Test("a service that dies between commit and emission: what was read ahead is no other history") func ahead() {
        var machine = Self.live(at: 3)
        _ = Self.come(&machine, 5)
        #expect(Self.page(&machine, [4, 5, 6], through: 6, head: 6).count == 3)
        // The same run counts what it emitted only.
        #expect(Self.text(machine.finishAttach(Self.answer(from: 5, head: 5))) == [])
        #expect(machine.position?.sequence == 6)
        #expect(Self.text(machine.ownerVanished()) == [])
        _ = machine.ownerAppeared(isNew: true)
        #expect(Self.text(machine.finishAttach(Self.answer(8, from: 6, head: 7))) == ["read 6"])
    }
    @Test("neither the owner's leaving nor the bus's is a gap, wherever it finds the stream") func departures() {
        let all: [(inout Machine) -> [String]] = [
            { Self.text($0.ownerVanished()) }, { Self.text($0.disconnected()) },
        ]
        for leaving in all {
            var machine = Self.live(at: 3)
            #expect(leaving(&machine) == [])
            _ = machine.ownerAppeared(isNew: true)
            #expect(leaving(&machine) == [])
            _ = machine.ownerAppeared(isNew: true)
            #expect(Self.text(machine.finishAttach(Self.answer(8, from: 3, head: 9))) == ["read 3"])
            #expect(Self.page(&machine, [4], of: 8, through: 4, head: 9) == ["page 8#4", "read 4"])
            #expect(leaving(&machine) == [])
            _ = machine.ownerAppeared(isNew: true)
            #expect(Self.text(machine.refused()) == [])
            #expect(leaving(&machine) == [])
            #expect(Self.text(machine.ownerAppeared(isNew: true)) == ["attach 8#4"])
        }
    }

    // MARK: Room

    @Test("a consumer without room: what comes is read when it has room again") func room() {
        var machine = Self.live(at: 3)
        machine.fellBehind()
        #expect(Self.come(&machine, 4) == ["drop"] && Self.come(&machine, 5) == ["drop"])
        #expect(Self.text(machine.head(epoch: 7, sequence: 5, last: [:])) == [] && !machine.needsTick)
        #expect(Self.text(machine.resume()) == ["read 3"] && Self.text(machine.resume()) == [])
        #expect(Self.page(&machine, [4, 5], through: 5, head: 5) == ["page 7#4", "page 7#5"])
        // In the middle of a page.
        _ = Self.come(&machine, 8)
        #expect(
            machine.pageBegan(epoch: 7, oldest: 1) == .nothing && machine.pageEvent("A", 6) && machine.pageEvent("A", 7)
        )
        machine.fellBehind(before: 7)
        #expect(!machine.pageEvent("A", 8) && Self.text(machine.pageEnded(through: 8, head: 8)) == [])
        #expect(Self.text(machine.resume()) == ["read 6"])
        // While nobody is there; and the next owner does not make it read.
        _ = machine.ownerVanished()
        machine.fellBehind()
        _ = machine.ownerAppeared(isNew: true)
        #expect(Self.text(machine.finishAttach(Self.answer(8, from: 6, head: 8))) == [])
        #expect(Self.text(machine.resume()) == ["read 6"])
        // A volatile stream has no choice.
        var other = Self.started(.now)
        _ = other.finishAttach(Self.answer(oldest: .max, head: 9))
        other.fellBehind()
        #expect(Self.come(&other, 10) == ["deliver 7#10"])
    }

    // MARK: Nonsense

    @Test("no numbers trap, and none make it ask without end") func nonsense() {
        let numbers: [UInt64] = [0, 1, 2, 3, 4, 5, 9, .max - 1, .max]
        var generator = SeededGenerator(seed: 1)
        func next(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
        func number() -> UInt64 { numbers[next(numbers.count)] }
        for round in 0..<300 {
            let starts: [StreamStart] = [.now, .oldest, .at(number()), .after(epoch: number(), sequence: number())]
            var machine = Machine(from: starts[round % 4], isDurable: round % 3 == 0, heldLimit: 3)
            for _ in 0..<100 {
                let (a, b, last) = (number(), number(), ["A": number(), "B": number()])
                let count: Int
                switch next(15) {
                case 0: count = machine.want([nil, [], ["A"], ["B"], ["A", "B"]][next(5)]).steps.count
                case 1: count = machine.ownerAppeared(isNew: a > 2).steps.count
                case 2: count = machine.ownerVanished().steps.count
                case 3: count = machine.disconnected().steps.count
                case 4:
                    let answer = Attachment(epoch: number(), from: a, oldest: number(), head: b, last: last)
                    count = machine.finishAttach(answer).steps.count
                case 5: count = machine.head(epoch: number(), sequence: a, last: last, isLast: b > 3).steps.count
                case 6:
                    let counts = [
                        machine.refused().steps.count, machine.unanswered().steps.count, machine.resume().steps.count,
                    ]
                    count = counts[next(3)]
                case 7: count = machine.readRefused().steps.count
                case 8:
                    machine.fellBehind(before: a)
                    count = machine.resume().steps.count
                case 9...11:
                    _ = machine.pageBegan(epoch: number(), oldest: number())
                    for _ in 0..<next(3) { _ = machine.pageEvent("A", number()) }
                    count = machine.pageEnded(through: a, head: b).steps.count
                    // A service that answers so is not asked for ever.
                    var copy = machine
                    var pages = 0
                    while copy.isReading, !copy.isBehind, pages < 10 {
                        _ = copy.pageBegan(epoch: 7, oldest: 0)
                        _ = copy.pageEnded(through: a, head: .max)
                        pages += 1
                    }
                    #expect(pages <= 4)
                default:
                    count =
                        machine.receive("A", a, b) == .hold
                        ? machine.hold("A", a, b, 0, cost: Int.max).steps.count : 0
                }
                #expect(count < 16)
                _ = (machine.tick(), machine.needsTick, machine.isSettled)
            }
        }
    }
}
