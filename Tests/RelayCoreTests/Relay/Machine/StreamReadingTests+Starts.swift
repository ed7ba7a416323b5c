import TestTraits
import Testing

@testable import RelayCore

/// Where a stream starts.
extension StreamReadingTests {
    static func started(_ start: StreamStart, _ names: Set<String>? = nil) -> Machine {
        var machine = Machine(from: start)
        _ = machine.want(names)
        _ = machine.ownerAppeared(isNew: false)
        return machine
    }
    @Test("from the oldest: what was removed before is no loss, what is removed since is") func oldest() {
        var machine = Self.started(.oldest)
        #expect(Self.text(machine.finishAttach(Self.answer(from: 6, oldest: 4, head: 9))) == ["read 0"])
        _ = machine.ownerVanished()
        #expect(Self.text(machine.ownerAppeared(isNew: true)) == ["attach 0#0"])
        #expect(Self.text(machine.finishAttach(Self.answer(8, from: 9, oldest: 5, head: 9))) == ["read 0"])
        #expect(
            Self.page(&machine, [5, 6], of: 7, oldest: 5, through: 6, head: 9) == ["page 7#5", "page 7#6", "read 6"])
        #expect(Self.page(&machine, [9], of: 8, oldest: 9, through: 9, head: 9) == ["expired 8#7...8 (2)", "page 8#9"])

        machine = Self.started(.oldest)
        #expect(Self.text(machine.finishAttach(Self.answer(head: 0))) == [] && machine.isSettled)
        #expect(Self.come(&machine, 2) == ["hold", "read 0"])
        #expect(Self.page(&machine, [2], oldest: 2, through: 2, head: 2) == ["expired 7#1...1 (1)", "page 7#2"])
    }
    @Test("at a sequence, and after one of a run") func positions() {
        var machine = Self.started(.at(4))
        #expect(Self.text(machine.finishAttach(Self.answer(from: 7, head: 9))) == ["read 4"])
        #expect(Self.page(&machine, [7, 9], oldest: 7, through: 9, head: 9).first == "expired 7#5...6 (2)")
        machine = Self.started(.at(40))
        #expect(machine.place(inRun: 7) == 0, "nothing is passed over in a ring that has not come as far")
        #expect(Self.text(machine.finishAttach(Self.answer(from: 7, head: 9))) == [], "beyond the head: from now on")
        #expect(Self.come(&machine, 10) == ["deliver 7#10"])

        machine = Self.started(.after(epoch: 6, sequence: 4))
        #expect(Self.text(machine.finishAttach(Self.answer(from: 4, head: 9))) == ["read 4"])
        for from: UInt64 in [2, 8] {
            machine = Self.started(.after(epoch: 6, sequence: 4))
            let gap = "historyReplaced 6#5...18446744073709551615"
            #expect(Self.text(machine.finishAttach(Self.answer(from: from, head: 9))) == [gap, "read \(from)"])
        }
    }
    @Test(
        "a backup that was served for a while, and the original again: what is only there is read, and what is undone is told"
    )
    func undoneRestore() {
        let five = StreamRun(epoch: 5, first: 1)
        var machine = Self.started(.after(epoch: 6, sequence: 850, runs: [five, StreamRun(epoch: 6, first: 801)]))
        #expect(machine.ancestry(of: 6).map(\.epoch) == [5, 6])
        var answer = Self.answer(from: 800, head: 1_000)
        answer.details.runs = [five, StreamRun(epoch: 7, first: 1_001)]
        let action = machine.finishAttach(answer)
        #expect(Self.text(action) == ["historyReplaced 6#851...18446744073709551615", "read 800"])
        guard case .gap(let gap)? = action.output.first else { return }
        #expect(gap.detail?.contains("the same up to #800") == true && gap.commonThrough == 800)
        #expect(Self.page(&machine, [801], of: 5, through: 801, head: 1_000) == ["page 5#801", "read 801"])
        // It stands in the original's history now.
        #expect(machine.position?.epoch == 5 && machine.ancestry(of: 5) == [five])
        // The same without runs: nothing is known to be common, and nothing is left out.
        machine = Self.started(.after(epoch: 6, sequence: 850))
        #expect(Self.text(machine.finishAttach(Self.answer(from: 0, head: 1_000))).last == "read 0")
    }
    @Test("where nothing is kept, a start is as good as can be") func startsOnVolatile() {
        var machine = Self.started(.oldest)
        #expect(Self.text(machine.finishAttach(Self.answer(oldest: .max, head: 9))) == [] && !machine.isDurable)
        #expect(Self.come(&machine, 11) == ["lost 7#10...10 (1)", "deliver 7#11"])
        machine = Self.started(.at(4))
        #expect(Self.text(machine.finishAttach(Self.answer(oldest: .max, head: 9))) == ["lost 7#5...9 (5)"])
        machine = Self.started(.at(40))
        #expect(Self.text(machine.finishAttach(Self.answer(oldest: .max, head: 9))) == [])
        machine = Self.started(.after(epoch: 7, sequence: 8))
        #expect(Self.text(machine.finishAttach(Self.answer(oldest: .max, head: 9))) == ["lost 7#9...9 (1)"])
        machine = Self.started(.after(epoch: 6, sequence: 8))
        #expect(
            Self.text(machine.finishAttach(Self.answer(oldest: .max, head: 2)))
                == ["epochChanged 6#9...18446744073709551615", "lost 7#1...2 (2)"])
        // The hint was wrong.
        machine = Machine(isDurable: true)
        _ = machine.want(nil)
        _ = machine.ownerAppeared(isNew: true)
        #expect(Self.text(machine.finishAttach(Self.answer(oldest: .max, head: 1))) == ["lost 7#1...1 (1)"])
        #expect(Self.text(machine.ownerVanished()) == ["epochChanged 7#2...18446744073709551615"])
    }
}
