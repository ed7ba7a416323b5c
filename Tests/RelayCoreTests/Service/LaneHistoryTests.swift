import Testing

@testable import RelayCore

@Suite struct LaneHistoryTests {
    /// Three runs before this one: 1…4, none, 5…9; this one begins at 10.
    private static let run = LoggedRun(
        head: 9, last: ["A": 9, "B": 7, "Gone": 3], pruned: ["A": 2, "Gone": 3],
        runs: [(11, 1), (12, 5), (13, 5), (14, 10)].map { LoggedRun.Run(epoch: $0.0, first: $0.1) }, schemas: [:])
    private let history = LaneHistory(run, names: ["A", "B"])

    @Test(
        "a subscriber goes on with what its run and this log have in common",
        arguments: [
            // Of this run: what it has, as far as the run has come.
            (14, 12, 12), (14, 15, 15), (14, 16, 15), (14, 0, 0),
            // Of a former run: as far as that came.
            (13, 9, 9), (13, 8, 8), (13, 12, 9), (12, 4, 4), (12, 5, 4), (11, 4, 4), (11, 9, 4), (11, 0, 0),
            // Of none: all before this run.
            (0, 0, 9), (0, 3, 9),
            // Of one that is not known: the same, but less than it has.
            (99, 400, 9), (99, 10, 9), (99, 9, 8), (99, 3, 2), (99, 1, 0), (99, 0, 0),
        ] as [(UInt64, UInt64, UInt64)])
    func from(epoch: UInt64, after: UInt64, expected: UInt64) {
        #expect(history.from(epoch: epoch, after: after, head: 15) == expected)
    }
    @Test("the first run of all has nothing before it") func first() {
        let fresh = LoggedRun(
            head: 0, last: [:], pruned: [:], runs: [LoggedRun.Run(epoch: 3, first: 1)], schemas: [:])
        let history = LaneHistory(fresh, names: ["A"])
        #expect(history.from(epoch: 0, after: 0, head: 0) == 0)
        #expect(history.from(epoch: 3, after: 7, head: 2) == 2)
        #expect(history.oldest(of: ["*"]) == 1)
        let none = LoggedRun(head: 0, last: [:], pruned: [:], runs: [], schemas: [:])
        #expect(LaneHistory(none, names: []).from(epoch: 1, after: 1, head: 1) == 0)
    }
    @Test("the oldest is behind what was removed of the names asked for, and moves up only") func oldest() {
        var history = history
        #expect(history.oldest(of: ["A"]) == 3 && history.oldest(of: ["B"]) == 1)
        #expect(history.oldest(of: ["A", "B"]) == 3 && history.oldest(of: ["*"]) == 4)
        #expect(history.oldest(of: ["B", "*"]) == 4 && history.oldest(of: ["Nobody"]) == 1)
        history.prune(["B": 6])
        #expect(history.oldest(of: ["A"]) == 3 && history.oldest(of: ["B"]) == 7)
        history.prune(["B": 5, "A": .max])
        #expect(history.oldest(of: ["B"]) == 7 && history.oldest(of: ["A"]) == .max)
    }
    @Test("what an earlier version's names came to is kept") func former() { #expect(history.former == ["Gone": 3]) }
}
