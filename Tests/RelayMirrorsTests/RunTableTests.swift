import RelayCore
import TestTraits
import Testing

@testable import RelayMirrors

@Suite("The runs that a replica knows", .tags(.g2)) struct RunTableTests {
    private static func runs(_ runs: KeyValuePairs<UInt64, UInt64>, undone: Set<UInt64> = []) -> RunTable {
        RunTable(runs.map { StreamRun(epoch: $0.key, first: $0.value) }, undone: undone)
    }
    @Test("a run reaches up to the next one, and the last has no end") func ranges() {
        let table = Self.runs([1: 1, 2: 4, 3: 4, 4: 9])
        #expect(table.events(of: 1) == 1...3 && table.events(of: 2) == nil && table.events(of: 3) == 4...8)
        #expect(table.events(of: 4) == 9...MirrorHeader.lastSequence && table.events(of: 5) == nil)
        #expect([0, 2, 3, 7, 8, 100].map { table.present(at: $0)?.epoch } == [1, 1, 3, 3, 4, 4])
        #expect(RunTable().present(at: 0) == nil)
    }
    @Test("what a snapshot says of the past, or again, changes nothing") func past() {
        var table = Self.runs([1: 1, 2: 4])
        let before = table
        let same = table.learn(Self.runs([1: 1, 2: 4]), at: 6)
        let older = table.learn(Self.runs([1: 1]), at: 6)
        #expect(same == nil && older == nil && table == before)
        let nothing = table.learn(RunTable(), at: 6)
        #expect(nothing == nil && table == before)
    }
    @Test("a run that goes on keeps everything") func next() {
        var table = Self.runs([1: 1, 2: 4])
        let common = table.learn(Self.runs([1: 1, 2: 4, 3: 8]), at: 6)
        #expect(common == 6 && table.undone.isEmpty && table.present(at: 6)?.epoch == 2)
    }
    @Test("another history keeps what both have, and its runs are undone until they come back") func other() {
        var table = Self.runs([1: 1, 2: 4])
        let restored = table.learn(Self.runs([1: 1, 3: 3], undone: [2]), at: 6)
        #expect(restored == 2 && table.undone == [2] && table.present(at: 2)?.epoch == 3)
        // Late news of what was undone.
        let late = table.learn(Self.runs([1: 1, 2: 4]), at: 4)
        #expect(late == nil && table.runs.last?.epoch == 3)
        let back = table.learn(Self.runs([1: 1, 2: 4, 4: 9], undone: [3]), at: 4)
        #expect(back == 2 && table.undone == [3] && table.present(at: 2)?.epoch == 1)
        // A run that does not name another, but one that does.
        let next = table.learn(Self.runs([1: 1, 2: 4, 4: 9, 5: 10]), at: 4)
        #expect(next == 4 && table.undone == [3])
    }
    @Test("what a snapshot names is older than its run, whatever came first") func order() {
        // Nobody has told this one of run 2; the channel has lost its tail, and shows the snapshot before.
        var table = Self.runs([1: 1, 3: 3], undone: [2])
        let former = table.learn(Self.runs([1: 1, 2: 4]), at: 6)
        #expect(former == nil && table.runs.last?.epoch == 3)
        // Neither names the other: that which is there now counts, until one that knows both comes.
        var late = Self.runs([1: 1, 3: 3])
        let taken = late.learn(Self.runs([1: 1, 2: 4]), at: 6)
        #expect(taken == 2 && late.runs.last?.epoch == 2 && late.undone.isEmpty)
        let certain = late.learn(Self.runs([1: 1, 3: 3], undone: [2]), at: 6)
        #expect(certain == 2 && late.runs.last?.epoch == 3 && late.undone == [2])
        // The same run's snapshot, by an exporter that knows more.
        let more = late.learn(Self.runs([1: 1, 3: 3], undone: [2, 7]), at: 6)
        #expect(more == nil && late.undone == [2, 7])
        let earlier = late.learn(Self.runs([1: 1, 7: 2]), at: 6)
        #expect(earlier == nil && late.runs.last?.epoch == 3)
    }
    @Test("another journal's runs take the place of all") func foreign() {
        var table = Self.runs([1: 1, 2: 4], undone: [3])
        let silent = table.isUndone(by: Self.runs([11: 1]))
        let common = table.learn(Self.runs([11: 1], undone: [1, 2]), at: 9)
        #expect(silent && common == 0 && table.undone == [1, 2, 3])
    }
    @Test("a table that is behind the runs that it knows keeps what it has come to") func behind() {
        var table = Self.runs([1: 1, 2: 4, 3: 8])
        let common = table.learn(Self.runs([1: 1, 2: 4, 4: 6], undone: [3]), at: 2)
        #expect(common == 2 && table.undone == [3])
    }
}
