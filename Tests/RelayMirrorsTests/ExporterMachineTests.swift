import RelayCore
import TestTraits
import Testing

@testable import RelayMirrors

@Suite("What an exporter does next", .tags(.g6)) struct ExporterMachineTests {
    private static let runs = [StreamRun(epoch: 1, first: 1), StreamRun(epoch: 2, first: 6)]
    private static func page(_ events: ClosedRange<UInt64>, of epoch: UInt64 = 2, by writer: UInt64 = 7) -> MirrorNews {
        .page(.page(of: events, epoch: epoch, journal: 1, writer: writer))
    }
    private static func snapshot(_ number: UInt64, of runs: [StreamRun] = runs) -> FoundSnapshot {
        let epoch = runs.last?.epoch ?? 0
        return FoundSnapshot(
            number...number, .snapshot(at: 0, epoch: epoch, journal: 1, writer: 7), RunTable(runs))
    }
    /// One that has found a channel whose last message is a page, and has been answered by the origin.
    private static func machine(
        tail: MirrorNews, newest: FoundSnapshot? = snapshot(3), runs: [StreamRun] = runs,
        oldest: UInt64 = 1
    ) -> ExporterMachine {
        var machine = ExporterMachine(writer: 7)
        machine.connected()
        machine.found(ChannelBounds(first: 2, last: 9), newest: newest)
        machine.received(tail)
        machine.attached(runs: runs, oldest: oldest)
        return machine
    }

    @Test("it goes on behind the tail") func tail() {
        #expect(Self.machine(tail: Self.page(6...8)).demand == .read(after: 8))
        // The run before the origin's, whose snapshot is there already.
        #expect(Self.machine(tail: Self.page(4...5, of: 1)).demand == .read(after: 5))
    }
    @Test("a snapshot is due without one of the present run, and where the place is another")
    func snapshots() {
        func demand(_ position: UInt64, undone: Set<UInt64> = []) -> ExporterMachine.Demand {
            .appendSnapshot(position: position, RunTable(Self.runs, undone: undone), expecting: 9)
        }
        #expect(Self.machine(tail: Self.page(6...8), newest: nil).demand == demand(8))
        let older = Self.snapshot(3, of: [StreamRun(epoch: 1, first: 1)])
        #expect(Self.machine(tail: Self.page(4...5, of: 1), newest: older).demand == demand(5))
        // What came next was removed before it was exported.
        #expect(Self.machine(tail: Self.page(6...8), oldest: 12).demand == demand(11))
        // The tail is of a run that was undone: its history shows from where.
        let undone = Self.snapshot(3, of: [StreamRun(epoch: 1, first: 1), StreamRun(epoch: 9, first: 4)])
        #expect(Self.machine(tail: Self.page(4...8, of: 9), newest: undone).demand == demand(3, undone: [9]))
        #expect(Self.machine(tail: Self.page(4...8, of: 9), newest: nil).demand == demand(0, undone: [9]))
        #expect(Self.machine(tail: Self.page(4...8, of: 9), newest: nil, oldest: 3).demand == demand(2, undone: [9]))
    }
    @Test("the tail is the newest page or whole snapshot, looked for no further than the limit") func searching() {
        var machine = ExporterMachine(writer: 7)
        machine.connected()
        machine.found(ChannelBounds(first: 1, last: 5_000), newest: nil)
        var looked = 0
        while case .message(let number) = machine.demand, looked < 5_000 {
            #expect(number == 5_000 - UInt64(looked))
            looked += 1
            machine.received(.other)
        }
        #expect(looked == BackwardSearch.limit && machine.demand == .attach)
        machine.attached(runs: Self.runs, oldest: 1)
        #expect(machine.demand == .appendSnapshot(position: 0, RunTable(Self.runs), expecting: 5_000))
        // Foreign messages stand behind a snapshot.
        machine = ExporterMachine(writer: 7)
        machine.connected()
        machine.found(ChannelBounds(first: 1, last: 5), newest: Self.snapshot(3))
        for _ in 0..<3 { machine.received(.other) }
        machine.attached(runs: Self.runs, oldest: 1)
        #expect(machine.demand == .read(after: 0))
    }
    @Test("pages follow each other, and what is not certain is looked up") func appending() {
        var machine = Self.machine(tail: Self.page(6...8))
        machine.read(nil, epoch: 2, oldest: 1)
        #expect(machine.demand == .read(after: 8))
        machine.read(9...12, epoch: 2, oldest: 1)
        #expect(machine.demand == .appendPage(9...12, epoch: 2, expecting: 9))
        machine.appended(10)
        #expect(machine.demand == .read(after: 12))
        // Retention was faster.
        var pruned = machine
        pruned.read(20...22, epoch: 2, oldest: 20)
        #expect(pruned.demand == .appendSnapshot(position: 19, RunTable(Self.runs), expecting: 10))
        pruned.appended(12)
        #expect(pruned.demand == .read(after: 19))
        pruned.removed(below: 11)
        #expect(pruned.demand == .read(after: 19))
        pruned.removed(below: 12)
        #expect(pruned.demand == .appendSnapshot(position: 19, RunTable(Self.runs), expecting: 12))
        // Events of a run that no snapshot has.
        var early = machine
        early.read(13...13, epoch: 3, oldest: 1)
        #expect(early.demand == .look)
        machine.read(13...13, epoch: 2, oldest: 1)
        var lost = machine
        lost.appended(nil)
        #expect(lost.demand == .look)
        machine.originChanged()
        #expect(machine.demand == .look)
        // The answer comes after all: it changes nothing.
        machine.appended(11)
        #expect(machine.demand == .look)
        machine.disconnected()
        #expect(machine.demand == .connect)
    }
    @Test("one that has appended stops where another writer's snapshot takes its run for a former one")
    func conflict() {
        func again(
            _ writer: UInt64, _ runs: [StreamRun], undone: Set<UInt64> = [], hasAppended: Bool = true
        ) -> ExporterMachine {
            var machine = Self.machine(tail: Self.page(6...8))
            if hasAppended {
                machine.read(9...9, epoch: 2, oldest: 1)
                machine.appended(10)
            }
            machine.originChanged()
            let header = MirrorHeader.snapshot(at: 5, epoch: runs.last?.epoch ?? 0, journal: 1, writer: writer)
            let newest = FoundSnapshot(12...12, header, RunTable(runs, undone: undone))
            machine.found(ChannelBounds(first: 1, last: 12), newest: newest)
            machine.received(.snapshot(header, newest.table))
            machine.attached(runs: Self.runs, oldest: 1)
            return machine
        }
        let other = [StreamRun(epoch: 1, first: 1), StreamRun(epoch: 8, first: 6)]
        var stopped = again(99, other, undone: [2])
        #expect(stopped.demand == .stop(writer: 99))
        stopped.disconnected()
        stopped.connected()
        stopped.originChanged()
        #expect(stopped.demand == .stop(writer: 99))
        // Between the two runs of a clone: one that leads to both.
        #expect(again(99, Self.runs + [StreamRun(epoch: 8, first: 9)]).demand == .stop(writer: 99))
        // One that begins takes over, and its snapshot names the run of the other.
        let over = ExporterMachine.Demand.appendSnapshot(
            position: 5, RunTable(Self.runs, undone: [8]), expecting: 12)
        #expect(again(99, other, undone: [2], hasAppended: false).demand == over)
        // An older copy of the channel, and its own former run.
        #expect(again(99, other).demand == over)
        #expect(again(7, other, undone: [2]).demand == over)
        // Another exporter of the same origin.
        #expect(again(99, Self.runs).demand == .read(after: 5))
    }
}
