import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal

@Suite("Ages are measured by what has certainly passed", .tags(.g2)) struct RetentionClockTests {
    private static let minute: UInt64 = 60_000_000
    private static let day = 1_440 * minute

    /// A machine with clocks that can be wrong.
    private struct Machine {
        /// The true time, and what the system's clock is off by.
        var now: UInt64 = RetentionClock.earliest + 400 * RetentionClockTests.day
        var error: Int64 = 0
        var booted: UInt64 = 0
        var boot = 0
        var isSynchronized = false
        /// How long the clock has been off by this much in this boot.
        var stepped: UInt64 = 0

        init() { (booted, stepped) = (now, now) }
        var reading: RetentionClock.Reading {
            RetentionClock.Reading(
                boot: "\(boot)", uptime: now - booted, wall: UInt64(max(0, Int64(now) + error)),
                isSynchronized: isSynchronized)
        }
        /// The clock is wrong, and has kept step for so long that it is believed.
        var lies: Bool { error != 0 && now - stepped >= RetentionClock.patience }
    }
    private enum Step: CaseIterable {
        case shortly, long, reboot, rebootUnsynchronized, ahead, to1970, synchronize

        func apply(to machine: inout Machine) {
            switch self {
            case .shortly: machine.now += 2 * RetentionClockTests.minute
            case .long: machine.now += 20 * RetentionClockTests.minute
            case .reboot, .rebootUnsynchronized:
                machine.now += RetentionClockTests.day
                machine.boot += 1
                (machine.booted, machine.stepped) = (machine.now, machine.now)
                if self == .rebootUnsynchronized { machine.isSynchronized = false }
            case .ahead: set(&machine, 40 * Int64(RetentionClockTests.day))
            case .to1970: set(&machine, -Int64(machine.now))
            case .synchronize:
                set(&machine, 0)
                machine.isSynchronized = true
            }
        }
        private func set(_ machine: inout Machine, _ error: Int64) {
            (machine.error, machine.stepped, machine.isSynchronized) = (error, machine.now, false)
        }
    }

    @Test("no order of reboots, steps and synchronisations makes an event older than it is")
    func exhaustive() {
        var count = 0
        func explore(
            _ machine: Machine, _ clock: RetentionClock, _ marks: [(UInt64, RetentionClock.Mark, Int)], _ lied: Bool,
            _ depth: Int
        ) {
            if depth == 0 { return }
            for step in Step.allCases {
                var (machine, clock, marks) = (machine, clock, marks)
                step.apply(to: &machine)
                clock.read(machine.reading)
                for index in marks.indices { marks[index].1 = clock.better(marks[index].1) ?? marks[index].1 }
                let lied = lied || machine.lies
                for (time, mark, boot) in marks where !lied || boot == machine.boot {
                    count += 1
                    if clock.age(of: mark) > machine.now - time {
                        Issue.record("\(step): \(mark) at \(time), \(clock)")
                    }
                }
                marks.append((machine.now, clock.mark, machine.boot))
                explore(machine, clock, marks, lied, depth - 1)
            }
        }
        var (machine, clock) = (Machine(), RetentionClock())
        for isSynchronized in [false, true] {
            machine.isSynchronized = isSynchronized
            clock.read(machine.reading)
            explore(machine, clock, [(machine.now, clock.mark, 0)], false, 5)
        }
        #expect(count > 50_000)
    }
    @Test("over reboots a synchronised clock counts all that passed, one that nobody set only what is certain")
    func reboots() {
        for (isSynchronized, age) in [(true, 10 * Self.day), (false, 5 * Self.minute + 1)] {
            var (machine, clock) = (Machine(), RetentionClock())
            machine.isSynchronized = isSynchronized
            if !isSynchronized { machine.error = -Int64(machine.now) }
            clock.read(machine.reading)
            let mark = clock.mark
            machine.now += 5 * Self.minute
            clock.read(machine.reading)
            machine.now += 10 * Self.day - 5 * Self.minute
            (machine.boot, machine.booted) = (1, machine.now)
            clock.read(machine.reading)
            #expect(clock.age(of: mark) == age)
        }
    }
    @Test("trust that grew over several runs of one boot counts, and gives earlier marks a time") func trust() {
        var machine = Machine()
        var clock = RetentionClock()
        clock.read(machine.reading)
        var mark = clock.mark
        #expect(mark.trust == .none)
        for run in 1...6 {
            machine.now += 2 * Self.minute
            // As the file has it.
            clock = RetentionClock(
                elapsed: clock.elapsed, elapsedAtBoot: clock.elapsedAtBoot, boot: clock.boot, uptime: clock.uptime,
                stepsSince: clock.stepsSince, offset: clock.offset)
            clock.read(machine.reading)
            #expect(clock.trust == (run < 5 ? .none : .agreed))
        }
        mark = clock.better(mark) ?? mark
        #expect(mark.trust == .agreed && mark.wall == machine.now - 12 * Self.minute)
        // After a reboot, and ten minutes.
        machine.now += 3 * Self.day
        (machine.boot, machine.booted) = (1, machine.now)
        clock.read(machine.reading)
        #expect(clock.age(of: mark) == 12 * Self.minute + 1)
        machine.now += 10 * Self.minute
        clock.read(machine.reading)
        #expect(clock.age(of: mark) == 3 * Self.day + 22 * Self.minute)
    }
    @Test("nonsense does not trap") func nonsense() {
        let numbers: [UInt64] = [0, 1, 1 << 62, 1 << 63, .max]
        for a in numbers {
            for b in numbers {
                var clock = RetentionClock(
                    elapsed: a, elapsedAtBoot: b, boot: "x", uptime: b, stepsSince: a, offset: Int64(bitPattern: a))
                for wall in numbers {
                    for isSynchronized in [false, true] {
                        clock.read(.init(boot: "x", uptime: a, wall: wall, isSynchronized: isSynchronized))
                        let mark = RetentionClock.Mark(elapsed: b, wall: a, trust: .agreed)
                        _ = (clock.age(of: mark), clock.better(mark), clock.elapsed(at: b))
                        var ages = EventAges([.init(sequence: b, moment: mark)], age: wall, last: a)
                        ages.update(clock, head: a, isEmpty: false)
                        ages.committed(nil, at: b, head: a)
                        _ = (ages.expired(clock, head: a), ages.wantsMark(at: b), ages.improve(clock))
                    }
                }
            }
        }
    }
}

@Suite("Retention, with clocks that are wrong", .heavy, .tags(.g2)) struct WrongClockTests {
    /// The clocks of a machine under test.
    private final class Clocks: Sendable {
        let reading = Mutex(
            RetentionClock.Reading(
                boot: "one", uptime: 1_000_000_000, wall: RetentionClock.earliest + 1_000_000_000_000,
                isSynchronized: true))
        var faults: JournalFaults {
            var faults = JournalFaults()
            faults.clock = { self.reading.withLock { $0 } }
            return faults
        }
        func change(_ body: (inout RetentionClock.Reading) -> Void) { reading.withLock { body(&$0) } }
    }
    private static let day: UInt64 = 86_400_000_000
    private static let retention = Retention(age: .seconds(30 * 86_400))

    private func prune(_ ledger: Ledger) async throws -> UInt64? {
        let storage = try #require(ledger.storage as? JournalStorage)
        await storage.call { while $0.maintain(isIdle: true) == 0 {} }
        return ledger.stream.pruned["Booked"]
    }

    @Test("a clock that is set 40 days ahead deletes nothing, synchronised or not, in this run or the next")
    func ahead() async throws {
        let (clocks, directory) = (Clocks(), try TestFolder())
        do {
            let ledger = try Ledger(directory, retention: Self.retention, faults: clocks.faults)
            for amount in 0..<80 { try await ledger.book(Int64(amount)) }
            clocks.change { $0.wall += 40 * Self.day }
            #expect(try await prune(ledger) == nil)
            clocks.change { ($0.wall, $0.uptime) = ($0.wall + 3_600_000_000, $0.uptime + 3_600_000_000) }
            #expect(try await prune(ledger) == nil)
            try await ledger.book(80)
            ledger.journal.close()
        }
        let ledger = try Ledger(directory, epoch: 2, retention: Self.retention, faults: clocks.faults)
        #expect(try await prune(ledger) == nil)
        #expect(try await ledger.all().count == 81)
        // Time that passes does.
        clocks.change { ($0.wall, $0.uptime) = ($0.wall + 31 * Self.day, $0.uptime + 31 * Self.day) }
        #expect(try await prune(ledger) == 81)
    }
    @Test("events of a machine that thinks it is 1970 stay when the clock is synchronised") func in1970() async throws {
        let clocks = Clocks()
        clocks.change { ($0.wall, $0.isSynchronized) = (5_000_000, false) }
        let ledger = try Ledger(TestFolder(), retention: Self.retention, faults: clocks.faults)
        for amount in 0..<80 { try await ledger.book(Int64(amount)) }
        clocks.change { ($0.wall, $0.isSynchronized) = (RetentionClock.earliest + 500 * Self.day, true) }
        #expect(try await prune(ledger) == nil)
        #expect(try await ledger.all().count == 80)
    }
    @Test("one stamp from the future does not keep what came before and after it") func future() async throws {
        let clocks = Clocks()
        let ledger = try Ledger(TestFolder(), retention: Self.retention, faults: clocks.faults)
        try await ledger.book(1)
        clocks.change { ($0.wall, $0.uptime) = ($0.wall + 4_000 * Self.day, $0.uptime + Self.day) }
        try await ledger.book(2)
        clocks.change { ($0.wall, $0.uptime) = ($0.wall - 3_999 * Self.day, $0.uptime + Self.day) }
        try await ledger.book(3)
        clocks.change { ($0.wall, $0.uptime) = ($0.wall + 30 * Self.day, $0.uptime + 30 * Self.day) }
        #expect(try await prune(ledger) == 2)
        clocks.change { ($0.wall, $0.uptime) = ($0.wall + Self.day, $0.uptime + Self.day) }
        #expect(try await prune(ledger) == 3)
    }
    @Test("marks of events that an administrator removed are no work for ever") func emptied() async throws {
        let (clocks, directory) = (Clocks(), try TestFolder())
        do {
            let ledger = try Ledger(directory, retention: Self.retention, faults: clocks.faults)
            try await ledger.book(1, 2, 3)
            ledger.journal.close()
        }
        // As docs/OPERATING.md has it.
        try Database(directory.database, isReadOnly: false, vfs: nil).execute(
            """
            BEGIN IMMEDIATE; DELETE FROM relay_events; UPDATE relay_names SET pruned = last;
            UPDATE relay_interfaces SET events = 0, bytes = 0; COMMIT
            """)
        let ledger = try Ledger(directory, epoch: 2, retention: Self.retention, faults: clocks.faults)
        clocks.change { ($0.wall, $0.uptime) = ($0.wall + 20 * Self.day, $0.uptime + 20 * Self.day) }
        try await ledger.book(4)
        clocks.change { ($0.wall, $0.uptime) = ($0.wall + 20 * Self.day, $0.uptime + 20 * Self.day) }
        #expect(try await prune(ledger) == nil)
        #expect(try await ledger.all().map(\.sequence) == [4])
    }
    @Test("days that the machine was off count, when its clock is right; so does a service that ends when it is idle")
    func off() async throws {
        let (clocks, directory) = (Clocks(), try TestFolder())
        for run in 1...20 {
            let ledger = try Ledger(directory, epoch: UInt64(run), retention: Self.retention, faults: clocks.faults)
            try await ledger.book(Int64(run))
            #expect(try await prune(ledger) == nil || run > 15)
            // Two minutes, then two days without power.
            clocks.change { ($0.wall, $0.uptime) = ($0.wall + 120_000_000, $0.uptime + 120_000_000) }
            ledger.journal.close()
            clocks.change { ($0.boot, $0.wall, $0.uptime) = ("\(run)", $0.wall + 2 * Self.day, 1_000_000) }
        }
        let ledger = try Ledger(directory, epoch: 21, retention: Self.retention, faults: clocks.faults)
        _ = try await prune(ledger)
        let kept = try await ledger.all().map(\.sequence)
        // Of 20 runs at two days, those of the last 30 days.
        #expect(kept == Array(7...20), "\(kept)")
    }
}

@Suite("A foreign writer", .heavy, .tags(.g5, .g8)) struct ForeignWriterTests {
    @Test(
        "rows in the journal's tables end the journal with a clear error",
        arguments: [
            "INSERT INTO relay_events VALUES (1, 2, 1, 1, NULL, NULL, x'00')",
            "UPDATE relay_interfaces SET sequence = 7",
            "DELETE FROM relay_interfaces",
        ]) func rows(sql: String) async throws
    {
        let ledger = try Ledger(TestFolder())
        try await ledger.book(1)
        let failures = Mutex<[RelayError]>([])
        ledger.storage.onFailure { error in failures.withLock { $0.append(error) } }
        let other = try Database(ledger.directory.database, isReadOnly: false, vfs: nil)
        try other.execute(sql)
        let error = await #expect(throws: RelayError.self) { try await ledger.book(2) }
        #expect(
            error?.code == .unavailable
                && error?.message.contains("another program has written to the journal's tables") == true
                && error.map(UnfitJournal.explains) == true, "\(String(describing: error))")
        #expect(await eventually { failures.withLock { $0.count } == 1 })
        let later = await #expect(throws: RelayError.self) { try await ledger.book(3) }
        #expect(later?.code == .unavailable)
        #expect(ledger.stream.sequences == [1])
    }
}
