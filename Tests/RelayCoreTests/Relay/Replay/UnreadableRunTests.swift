import TestTraits
import Testing

@testable import RelayCore

@Suite("Runs of unreadable events", .tags(.g2)) struct UnreadableRunTests {
    private typealias Run = UnreadableRun<Gap?>
    private func gap(_ sequence: UInt64, _ detail: String = "a", epoch: UInt64 = 1) -> Gap {
        Gap(sequence...sequence, epoch: epoch, count: 1, reason: .schemaMismatch, detail: detail)
    }
    private func place(_ sequence: UInt64, epoch: UInt64 = 1) -> ReplayBuffer.Place {
        ReplayBuffer.Place(epoch: epoch, sequence: sequence)
    }
    private let event = Run.Item(taken: nil, place: ReplayBuffer.Place(epoch: 1, sequence: 9))

    @Test("events in a row are one gap, which comes before what is behind them, with the last one's place")
    func run() {
        var run = Run { $0 }
        #expect(run.isEmpty)
        for sequence in [2, 5, 7] as [UInt64] {
            #expect(run.add(gap(sequence), place(sequence), isReplay: true) == nil)
        }
        #expect(!run.isEmpty)
        let first = run.first(before: event)
        #expect(first.taken == Gap(2...7, epoch: 1, count: 3, reason: .schemaMismatch, detail: "a"))
        #expect(first.place == place(7) && !run.isEmpty)
        let second = run.takeBehind()
        #expect(second?.taken == .some(nil) && second?.place == place(9))
        #expect(run.isEmpty && run.takeBehind() == nil && run.takeRun(isClosing: true) == nil)
        #expect(run.first(before: event).place == place(9) && run.isEmpty)
    }
    @Test("a replay's run waits for the next page; a live one, one behind the replay, or at the end, does not")
    func waits() {
        for (isReplay, isCaughtUp, isClosing, waits) in [
            (true, false, false, true), (true, true, false, false), (true, false, true, false),
            (false, false, false, false),
        ] {
            var run = Run { $0 }
            run.isCaughtUp = isCaughtUp
            _ = run.add(gap(3), place(3), isReplay: isReplay)
            #expect((run.takeRun(isClosing: isClosing) == nil) == waits)
            #expect(run.isEmpty == !waits)
        }
    }
    @Test("what two loops find behind two gaps is given, each once, in its order") func shared() {
        var run = Run { $0 }
        let events = (9...10).map { Run.Item(taken: nil, place: place($0)) }
        for (event, sequence) in zip(events, [3, 5] as [UInt64]) {
            _ = run.add(gap(sequence), nil, isReplay: false)
            #expect(run.first(before: event).taken == gap(sequence))
        }
        #expect(run.takeBehind()?.place == place(9) && !run.isEmpty)
        #expect(run.takeBehind()?.place == place(10) && run.isEmpty)
        #expect(run.takeBehind()?.place == nil)
    }
    @Test("another run of the service begins another gap") func epochs() {
        var run = Run { $0 }
        _ = run.add(gap(3), place(3), isReplay: true)
        let ready = run.add(gap(1, epoch: 2), place(1, epoch: 2), isReplay: true)
        #expect(ready?.taken == gap(3) && ready?.place == place(3))
        #expect(run.takeRun(isClosing: true)?.taken == gap(1, epoch: 2))
    }
    @Test("three reasons are told, each once") func reasons() {
        func detail(_ details: [String]) -> String? {
            var run = Run { $0 }
            for (index, detail) in details.enumerated() {
                _ = run.add(gap(UInt64(index + 1), detail), nil, isReplay: true)
            }
            return run.takeRun(isClosing: true)?.taken?.detail
        }
        #expect(detail(["a", "a"]) == "a")
        #expect(detail(["a", "b", "a", "c"]) == "a; b; c")
        #expect(detail(["a", "b", "c", "d", "e", "f"]) == "a; b; c; and for other reasons")
    }
}
