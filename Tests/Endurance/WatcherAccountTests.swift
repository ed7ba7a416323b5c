import Testing

/// The checkers see what they are there to see.
@Suite("The checkers of watchers") struct WatcherAccountTests {
    private func account(_ runs: [String]...) -> WatcherAccount {
        var account = WatcherAccount()
        for run in runs {
            account.beginRun()
            for line in run { account.take(line) }
        }
        return account
    }
    private func event(_ sequence: Int, _ title: String = "a", stream: String = "signal") -> String {
        #"{"event":"E","interface":"i","sequence":\#(sequence),"previous":0,"publishedAt":"t","transport":"\#(stream)","#
            + #""fields":{"title":"\#(title)"}}"#
    }
    private func events(_ range: ClosedRange<Int>) -> [String] { range.map { event($0) } }
    private func gap(_ first: Int, _ last: Int) -> String {
        #"{"gap":{"interface":"i","first":\#(first),"last":\#(last)}}"#
    }

    @Test("whole accounts pass: one run, runs that repeat, gaps, a cut line at a kill") func whole() {
        #expect(account(events(1...5)).fault(from: 1, through: 5) == nil)
        #expect(account(events(1...3), events(2...5), events(6...6)).fault(from: 1, through: 6) == nil)
        #expect(account(events(1...3), [], events(4...5)).fault(from: 1, through: 5) == nil)
        #expect(account(events(3...4) + [gap(5, 8)] + events(9...9)).fault(from: 3, through: 9) == nil)
        #expect(account(events(1...3) + [#"{"event":"E","inter"#], events(4...5)).fault(from: 1, through: 5) == nil)
    }

    @Test("a hole, a repetition, disorder, an end too soon, an event too early, and what cannot be read are faults")
    func faults() {
        for (runs, first, last) in [
            ([events(1...2) + events(4...5)], 1, 5), ([events(1...3) + events(3...5)], 1, 5),
            ([[event(2), event(1), event(3)]], 1, 3), ([events(1...4)], 1, 5), ([events(1...6)], 1, 5),
            ([events(1...5)], 2, 5), ([events(2...5)], 1, 5), ([events(1...2), events(4...5)], 1, 5),
            ([events(1...2) + [gap(2, 3)]], 1, 3), ([events(1...2) + ["?"] + events(3...3)], 1, 3),
            ([events(1...2) + [#"{"event"#]], 1, 2),
        ] {
            var account = WatcherAccount()
            for run in runs {
                account.beginRun()
                for line in run { account.take(line) }
            }
            #expect(account.fault(from: UInt64(first), through: UInt64(last)) != nil, "\(runs)")
        }
        let open = #"{"gap":{"interface":"i","first":3,"last":null}}"#
        #expect(account(events(1...2) + [open]).fault(from: 1, through: 2) != nil)
        #expect(account().fault(from: 0, through: 2) != nil)
    }

    @Test("a run after a kill may repeat, but its start never goes back; a run after an orderly end repeats nothing")
    func starts() {
        #expect(account(events(1...4), events(3...5), events(3...6)).fault(from: 1, through: 6) == nil)
        #expect(account(events(1...4), events(3...5), events(2...6)).fault(from: 1, through: 6) != nil)
        for (start, isRight) in [(4, true), (3, false)] {
            var account = account(events(1...3))
            account.beginRun(isExact: true)
            for line in events(start...5) { account.take(line) }
            #expect((account.fault(from: 1, through: 5) == nil) == isRight)
        }
    }

    @Test("an event that is shown twice must be the same, but for its stream") func contradiction() {
        #expect(account([event(1)], [event(1, stream: "journal")]).contradiction == nil)
        #expect(account([event(1)], [event(1, "b")]).contradiction != nil)
        #expect(account([event(1)]).texts[1] == account([event(1, stream: "journal")]).texts[1])
        #expect(account([event(1)]).texts[1]?.contains(#""t","fields""#) == true)
    }
}
