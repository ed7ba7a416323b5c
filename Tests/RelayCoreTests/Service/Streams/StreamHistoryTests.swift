import TestTraits
import Testing

@testable import RelayCore

@Suite("The history that a subscriber and a log share", .tags(.g6)) struct StreamHistoryTests {
    /// Three runs before this one: 1…4, none, 5…9; this one begins at 10.
    private static let run = LogSnapshot(
        head: 9, last: ["A": 9, "B": 7, "Gone": 3], pruned: ["A": 2, "Gone": 3],
        runs: [(11, 1), (12, 5), (13, 5), (14, 10)].map { StreamRun(epoch: $0.0, first: $0.1) }, schemas: [:])
    private let history = StreamHistory(run, names: ["A", "B"])

    @Test(
        "a subscriber goes on with what its run and this log have in common",
        arguments: [
            // Of this run: what it has, as far as the run has come.
            (14, 12, 12), (14, 15, 15), (14, 16, 15), (14, 0, 0),
            // Of a former run: as far as that came.
            (13, 9, 9), (13, 8, 8), (13, 12, 9), (12, 4, 4), (12, 5, 4), (11, 4, 4), (11, 9, 4), (11, 0, 0),
            // Of none, or of one that is not known: nothing is certain.
            (0, 0, 0), (0, 3, 0), (99, 400, 0), (99, 10, 0), (99, 9, 0), (99, 1, 0), (99, 0, 0),
        ] as [(UInt64, UInt64, UInt64)])
    func from(epoch: UInt64, after: UInt64, expected: UInt64) {
        #expect(history.from(epoch: epoch, after: after, head: 15) == expected)
    }
    @Test(
        "with runs that this log does not know: as far as the newest one goes that both know",
        arguments: [
            // A copy of the log, made in the run 13 after 7, served the runs 21, from 8, and 22, from 12.
            (22, 15, 7), (22, 12, 7), (22, 3, 3), (21, 11, 7), (21, 8, 7), (21, 7, 7), (21, 0, 0),
            // What the subscriber has of 13 was longer than the copy; and its runs do not matter where its own is known.
            (13, 9, 9), (13, 8, 8), (11, 3, 3), (11, 9, 4),
            // None of its runs leads to the one that it names.
            (30, 9, 0),
        ] as [(UInt64, UInt64, UInt64)])
    func parted(epoch: UInt64, after: UInt64, expected: UInt64) {
        let ancestry = [(11, 1), (13, 5), (21, 8), (22, 12)].map { StreamRun(epoch: $0.0, first: $0.1) }
        #expect(history.from(epoch: epoch, after: after, ancestry: ancestry, head: 15) == expected)
    }
    @Test("the log ends the common run, too; other runs of the same number, and nonsense, are in common with nothing")
    func partedEarlier() {
        func from(_ epoch: UInt64, _ after: UInt64, _ runs: [(UInt64, UInt64)]) -> UInt64 {
            history.from(
                epoch: epoch, after: after, ancestry: runs.map { StreamRun(epoch: $0.0, first: $0.1) }, head: 15)
        }
        // This log is the copy: it ends run 11 at 4, where the subscriber's went on to 6.
        #expect(from(21, 9, [(11, 1), (21, 7)]) == 4)
        #expect(from(21, 9, [(14, 10), (21, 14)]) == 9 && from(21, 90, [(14, 10), (21, 14)]) == 13)
        #expect(from(21, 90, [(14, 10), (21, 40)]) == 15)
        #expect(from(14, 12, [(14, 11)]) == 0 && from(21, 12, [(14, 11), (21, 12)]) == 0)
        #expect(from(21, 9, [(21, 1)]) == 0 && from(21, .max, [(0, 0), (21, .max)]) == 0)
        #expect(from(21, 9, [(14, 10), (21, 0)]) == 0 && from(0, 9, [(14, 10), (0, 12)]) == 0)
    }
    @Test("a list of runs reports those that have events, and this one") func sample() {
        #expect(history.sample.map(\.epoch) == [11, 13, 14])
    }
    @Test("what the list of a subscriber leaves out is not taken for the run before it") func omission() {
        // 11 went on up to 6 there; 12 to 39 were left out of the list.
        let runs = [StreamRun(epoch: 11, first: 1), .omission(from: 4), StreamRun(epoch: 40, first: 50)]
        #expect(history.from(epoch: 40, after: 60, ancestry: runs, head: 15) == 3)
        #expect(RunQuestion(epoch: 0, after: 60, ancestry: runs).candidates.isEmpty)
    }
    @Test("a log with more runs than are known here is asked about the others") func older() {
        let run = LogSnapshot(
            head: 9, last: [:], pruned: [:], runs: [(13, 5), (14, 10)].map { StreamRun(epoch: $0.0, first: $0.1) },
            schemas: [:], sample: [(11, 1), (13, 5), (14, 10)].map { StreamRun(epoch: $0.0, first: $0.1) })
        let history = StreamHistory(run, names: [])
        #expect(history.sample.map(\.epoch) == [11, 13, 14])
        let question = RunQuestion(epoch: 11, after: 9)
        #expect(history.common(question) == .unknown && history.common(RunQuestion(epoch: 0, after: 0)) == .known(nil))
        #expect(history.common(RunQuestion(epoch: 13, after: 12)) == .known(CommonRun(limit: 12, end: 9)))
        #expect(history.common(RunQuestion(epoch: 14, after: 12)) == .known(CommonRun(limit: 12, end: nil)))
        let other = RunQuestion(epoch: 13, after: 12, ancestry: [StreamRun(epoch: 13, first: 6)])
        #expect(history.common(other) == .unknown, "a run of the same number, and another one")
        let common = question.common { epoch in epoch == 11 ? LoggedRun(first: 1, end: 4) : nil }
        #expect(common?.from(head: 15) == 4)
    }
    @Test("the first run of all has nothing before it") func first() {
        let fresh = LogSnapshot(
            head: 0, last: [:], pruned: [:], runs: [StreamRun(epoch: 3, first: 1)], schemas: [:])
        let history = StreamHistory(fresh, names: ["A"])
        #expect(history.from(epoch: 0, after: 0, head: 0) == 0 && history.first == 1)
        #expect(history.from(epoch: 3, after: 7, head: 2) == 2)
        #expect(history.oldest(of: ["*"]) == 1)
        let none = LogSnapshot(head: 0, last: [:], pruned: [:], runs: [], schemas: [:])
        #expect(StreamHistory(none, names: []).from(epoch: 1, after: 1, head: 1) == 0)
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
