import RelayCore
import TestTraits
import Testing

@testable import RelayMirrors

@Suite("What an exporter does next", .tags(.g6)) struct ExporterMachineTests {
    private static let runs = [StreamRun(epoch: 1, first: 1), StreamRun(epoch: 2, first: 6)]
    private static func page(_ events: ClosedRange<UInt64>, of epoch: UInt64 = 2, by writer: UInt64 = 7) -> MirrorNews {
        .page(.page(of: events, epoch: epoch, journal: 1, writer: writer))
    }
    private static func snapshot(_ number: UInt64, of runs: [StreamRun] = runs) -> ExporterMachine.Snapshot {
        let epoch = runs.last?.epoch ?? 0
        return ExporterMachine.Snapshot(
            number...number, .snapshot(at: 0, epoch: epoch, journal: 1, writer: 7), runs: runs)
    }
    /// One that has found a channel whose last message is a page, and has been answered by the origin.
    private static func machine(
        tail: MirrorNews, newest: ExporterMachine.Snapshot? = snapshot(3), runs: [StreamRun] = runs,
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
        func demand(_ position: UInt64) -> ExporterMachine.Demand {
            .appendSnapshot(position: position, expecting: 9)
        }
        #expect(Self.machine(tail: Self.page(6...8), newest: nil).demand == demand(8))
        let older = Self.snapshot(3, of: [StreamRun(epoch: 1, first: 1)])
        #expect(Self.machine(tail: Self.page(4...5, of: 1), newest: older).demand == demand(5))
        // What came next was removed before it was exported.
        #expect(Self.machine(tail: Self.page(6...8), oldest: 12).demand == demand(11))
        // The tail is of a run that was undone: its history shows from where.
        let undone = Self.snapshot(3, of: [StreamRun(epoch: 1, first: 1), StreamRun(epoch: 9, first: 4)])
        #expect(Self.machine(tail: Self.page(4...8, of: 9), newest: undone).demand == demand(3))
        #expect(Self.machine(tail: Self.page(4...8, of: 9), newest: nil).demand == demand(0))
        #expect(Self.machine(tail: Self.page(4...8, of: 9), newest: nil, oldest: 3).demand == demand(2))
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
        #expect(machine.demand == .appendSnapshot(position: 0, expecting: 5_000))
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
        #expect(pruned.demand == .appendSnapshot(position: 19, expecting: 10))
        pruned.appended(12)
        #expect(pruned.demand == .read(after: 19))
        pruned.removed(below: 11)
        #expect(pruned.demand == .read(after: 19))
        pruned.removed(below: 12)
        #expect(pruned.demand == .appendSnapshot(position: 19, expecting: 12))
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
    @Test("one that has appended stops where another writes another history; one that begins takes over")
    func conflict() {
        let (mine, others) = (Self.page(6...6, of: 8, by: 7), Self.page(6...6, of: 8, by: 99))
        func again(_ tail: MirrorNews, hasAppended: Bool) -> ExporterMachine {
            var machine = Self.machine(tail: Self.page(6...8))
            if hasAppended {
                machine.read(9...9, epoch: 2, oldest: 1)
                machine.appended(10)
            }
            machine.originChanged()
            machine.found(ChannelBounds(first: 1, last: 12), newest: nil)
            machine.received(tail)
            machine.attached(runs: Self.runs, oldest: 1)
            return machine
        }
        var stopped = again(others, hasAppended: true)
        #expect(stopped.demand == .stop(writer: 99))
        stopped.disconnected()
        stopped.connected()
        stopped.originChanged()
        #expect(stopped.demand == .stop(writer: 99))
        #expect(again(others, hasAppended: false).demand == .appendSnapshot(position: 0, expecting: 12))
        // Its own, and the origin was restored since.
        #expect(again(mine, hasAppended: true).demand == .appendSnapshot(position: 0, expecting: 12))
        // Another exporter of the same origin.
        let same = again(Self.page(9...11, of: 2, by: 99), hasAppended: true)
        #expect(same.demand == .appendSnapshot(position: 11, expecting: 12))
    }
}
