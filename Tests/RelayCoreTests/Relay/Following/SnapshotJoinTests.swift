import TestTraits
import Testing

@testable import RelayCore

@Suite("The join of a snapshot and the stream behind it", .computing, .tags(.g1, .g2))
struct SnapshotJoinTests {
    @Test(
        "every interleaving: each state is a snapshot and exactly the events after it, and the last one is the service's",
        arguments: [true, false])
    func explore(isDurable: Bool) throws {
        try JoinWorld.explore(isDurable: isDurable, rounds: TestForm.rounds(6, soak: 9))
    }
    @Test("an event that the snapshot includes is skipped, and the next one applies: without another snapshot")
    func plain() {
        var join = SnapshotJoin()
        #expect(join.needsSnapshot)
        join.snapshot(epoch: 7, sequence: 3)
        let steps = (2...5).map { sequence in
            join.event(Stamp(epoch: 7, sequence: sequence, previous: 0, publishedAt: Timestamp(microseconds: 0)))
        }
        #expect(steps == [.skip, .skip, .apply, .apply] && !join.needsSnapshot)
        #expect(join.position == .init(epoch: 7, sequence: 5))
    }
    @Test("a gap that the state includes costs nothing; any other costs one snapshot")
    func gaps() {
        var join = SnapshotJoin()
        join.snapshot(epoch: 7, sequence: 5)
        let old = Gap(2...5, epoch: 7, count: nil, reason: .lost)
        let new = Gap(6...9, epoch: 7, count: nil, reason: .lost)
        let open = Gap(10...UInt64.max, epoch: 7, count: nil, reason: .schemaMismatch)
        #expect(join.gap(old) == .skip && join.gap(new) == .ask && join.needsSnapshot)
        // It does not cover all of it: as if there had been none.
        join.snapshot(epoch: 7, sequence: 8)
        #expect(join.gap(new) == .ask)
        join.snapshot(epoch: 7, sequence: 9)
        #expect(join.gap(new) == .skip && join.gap(open) == .ask)
        join.snapshot(epoch: 7, sequence: 9)
        #expect(join.gap(open) == .skip && !join.needsSnapshot)
    }
    @Test(
        "a history that was replaced costs a snapshot, whichever run the state and the gap are of", arguments: [7, 8])
    func replaced(epoch: UInt64) {
        var join = SnapshotJoin(eventsAreStates: true)
        join.snapshot(epoch: 7, sequence: 5)
        #expect(join.gap(Gap(6...9, epoch: 7, count: nil, reason: .lost)) == .ask)
        // The service was started anew before it answered, and published nothing: the stream still names the run before.
        join.snapshot(epoch: epoch, sequence: 9)
        #expect(join.gap(Gap(6...9, epoch: 7, count: nil, reason: .lost)) == .skip)
        let gap = Gap(10...UInt64.max, epoch: 7, count: nil, reason: .historyReplaced, commonThrough: 4)
        #expect(join.gap(gap) == .ask && join.needsSnapshot)
        join.snapshot(epoch: 9, sequence: 4)
        #expect(join.gap(gap) == .skip && !join.needsSnapshot)
    }
}
