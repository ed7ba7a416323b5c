import CSQLite
import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

/// A directory with the files of a journal, as they were at one moment.
struct JournalCopy {
    let directory: TestFolder
    var path: String { directory.database }
    var wal: String { path + "-wal" }

    /// A journal with 200 events, a part of them in the WAL alone: as a kill leaves it.
    static func killed() async throws -> JournalCopy {
        let ledger = try Ledger(TestFolder())
        try await ledger.storage.commit((0..<100).map { LedgerEncoder.booked($0, "\($0)") })
        guard let storage = ledger.storage as? JournalStorage else { throw RelayError(.internalFailure, "no storage") }
        await storage.call { _ = try? $0.database.checkpoint(.passive) }
        try await ledger.storage.commit((100..<200).map { LedgerEncoder.booked($0, "\($0)") })
        let copy = JournalCopy(directory: try TestFolder())
        for suffix in ["", "-wal"] {
            copy.write(copy.bytes(ledger.directory.database + suffix), to: copy.path + suffix)
        }
        return copy
    }
    /// The same, after it was ended in good order.
    static func ended() async throws -> JournalCopy {
        let ledger = try Ledger(TestFolder())
        try await ledger.storage.commit((0..<200).map { LedgerEncoder.booked($0, "\($0)") })
        ledger.journal.close()
        return JournalCopy(directory: ledger.directory)
    }

    /// What another program does to it, without moving the WAL.
    func edit(_ sql: String) throws {
        let database = try Database(path, isReadOnly: false, vfs: nil)
        database.keepLogAtClose(access(wal, F_OK) == 0)
        try database.execute(sql)
    }
    func bytes(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Int(max(0, lseek(descriptor, 0, SEEK_END))))
        _ = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return bytes
    }
    func write(_ bytes: [UInt8], to path: String, at offset: Int = 0) {
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        close(descriptor)
    }
    /// File and WAL; nil for one that is not there.
    var state: [[UInt8]?] { [path, wal].map { access($0, F_OK) == 0 ? bytes($0) : nil } }

    /// The error of an opening that leaves both files as they were.
    func refusal(_ location: SourceLocation = #_sourceLocation) -> RelayError? {
        let before = state
        let error = #expect(throws: RelayError.self, sourceLocation: location) {
            _ = try EventJournal(directory: directory.path)
        }
        let isSame = state == before
        #expect(isSame, "changed by a refusal", sourceLocation: location)
        return error
    }
}

@Suite("A refused journal is left as it is", .heavy, .tags(.g8)) struct RefusedFileTests {
    /// What was done to the tables, and what the refusal says of it.
    static let contradictions = [
        ("UPDATE relay_names SET last = 0", "its last event is #200, of its names' #0"),
        ("UPDATE relay_names SET last = 201", "the last event of Booked is none of its 200"),
        ("UPDATE relay_names SET last = -1", "the last event of Booked is none of its 200"),
        ("UPDATE relay_names SET last = 'x'", "the last event of Booked is none of its 200"),
        ("UPDATE relay_names SET last = 200 WHERE name = 'Closed'", "#200 is no event of Closed"),
        ("UPDATE relay_names SET pruned = 7 WHERE name = 'Booked'", "Booked was removed up to #7"),
        ("DELETE FROM relay_names", "its last event is #200, of its names' #0"),
        ("UPDATE relay_interfaces SET sequence = -1", "a counter is no number from 0 to"),
        ("UPDATE relay_interfaces SET sequence = 9223372036854775807", "a counter is no number from 0 to"),
        ("UPDATE relay_interfaces SET events = 1.5", "a counter is no number from 0 to"),
        ("UPDATE relay_interfaces SET events = 'many'", "a counter is no number from 0 to"),
        ("UPDATE relay_interfaces SET bytes = -1", "a counter is no number from 0 to"),
        ("UPDATE relay_interfaces SET tail = -1", "has long bodies where none can be, up to -1"),
        ("UPDATE relay_interfaces SET tail = 1 << 60", "has long bodies where none can be, up to"),
        ("UPDATE relay_interfaces SET tail = 7", "the end of its long bodies, at 7, is not there"),
        (
            "UPDATE relay_interfaces SET tail = 7; INSERT INTO relay_bodies VALUES (1 << 43, x'00')",
            "the end of its long bodies, at 7, is not there"
        ),
        ("UPDATE relay_interfaces SET id = 1 << 20", "has long bodies where none can be"),
        ("UPDATE relay_interfaces SET events = 201", "keeps 201 events of 200"),
        ("UPDATE relay_interfaces SET events = 0, bytes = 0", "events are there where its counter says that none"),
        ("UPDATE relay_interfaces SET events = 0", "bytes of no events"),
        ("UPDATE relay_interfaces SET sequence = 201", "its last event is #200 where its counter says #201"),
        ("UPDATE relay_interfaces SET events = 199", "its first event is #1 where its counters say #2"),
        ("UPDATE relay_interfaces SET id = id + 1", "rows of an interface 1 that does not exist"),
        ("DELETE FROM relay_interfaces", "rows of an interface 1 that does not exist"),
        ("DELETE FROM relay_events", "no event is there where its counter says 200"),
        ("DELETE FROM relay_events WHERE sequence = 1", "its first event is #2 where its counters say #1"),
        ("DELETE FROM relay_events WHERE sequence = 200", "its last event is #199 where its counter says #200"),
        (
            "INSERT INTO relay_events VALUES (9, 1, 1, 1, NULL, NULL, x'00')",
            "rows of an interface 9 that does not exist"
        ),
        ("INSERT INTO relay_events VALUES (1, 201, 1, 1, NULL, NULL, x'00')", "its last event is #201 where"),
        ("INSERT INTO relay_events VALUES (1, -5, 1, 1, NULL, NULL, x'00')", "its first event is #-5 where"),
        ("UPDATE relay_runs SET first = 202", "a run began at #202"),
        ("UPDATE relay_runs SET first = -3", "a run began at #-3"),
        (
            "INSERT INTO relay_runs VALUES (1, 5, 150, 0), (1, 6, 100, 0)",
            "a run began at #100, behind one that began at #150"
        ),
        (
            "INSERT INTO relay_reply_costs VALUES (1, 4611686018427387904), (2, 4611686018427387904)",
            "the kept replies of user 2 count for no number from 0 to"
        ),
        (
            "INSERT INTO relay_reply_costs VALUES (1, -9223372036854775808)",
            "the kept replies of user 1 count for no number"
        ),
        ("UPDATE relay_schemas SET fields = 'nonsense'", "schema 1"),
        ("UPDATE relay_schemas SET number = -number", "has no number of 32 bits"),
        ("INSERT INTO relay_gaps VALUES (1, 300, 250)", "the gap up to #300 contradicts its sequences"),
        ("INSERT INTO relay_gaps VALUES (1, 20, 30)", "the gap up to #20 contradicts its sequences"),
        ("INSERT INTO relay_gaps VALUES (1, 20, 10), (1, 30, 20)", "the gap up to #30 contradicts"),
        ("INSERT INTO relay_gaps VALUES (1, 20, 10)", "its first event is #1 where its counters say #-10"),
        ("INSERT INTO relay_gaps VALUES (9, 20, 10)", "rows of an interface 9 that does not exist"),
        ("DROP TABLE relay_names", "it has no table relay_names"),
        ("DROP TABLE relay_events", "it has no tables of the journal's"),
        ("ALTER TABLE relay_names RENAME COLUMN last TO latest", "relay_names is defined otherwise than version 1"),
        (
            "DELETE FROM relay_events; UPDATE relay_interfaces SET sequence = -1, events = 0, bytes = 0",
            "a counter is no number from 0 to"
        ),
    ]
    @Test("tables that contradict each other", arguments: contradictions)
    func contradiction(sql: String, reason: String) async throws {
        for copy in [try await JournalCopy.killed(), try await JournalCopy.ended()] {
            try copy.edit(sql)
            let error = copy.refusal()
            #expect(
                error?.code == .unavailable && error?.message.hasPrefix("\(copy.path) is damaged (") == true
                    && error?.message.contains(reason) == true && error.map(UnfitJournal.explains) == true,
                "\(sql): \(String(describing: error))")
        }
    }
    @Test(
        "a newer version, one of an earlier form, and a file of something else, with what is in their WAL",
        arguments: [
            ("PRAGMA user_version = 9", "made by a newer release"), ("PRAGMA application_id = 5", "of something else"),
            (
                "PRAGMA application_id = 0x526C794A",
                "has the form of an earlier program, which this one does not read: move it and its -wal away"
            ),
        ])
    func foreign(sql: String, words: String) async throws {
        let copy = try await JournalCopy.killed()
        try copy.edit(sql)
        let error = copy.refusal()
        #expect(error?.code == .invalidArgument && error?.message.contains(words) == true, "\(error as Any)")
    }
    @Test("damaged pages, with a WAL that is sound", arguments: [0, 4_096 * 2])
    func pages(offset: Int) async throws {
        let copy = try await JournalCopy.killed()
        // All pages from there on: none of the WAL's is among those that a look-up reads first.
        let size = copy.bytes(copy.path).count
        copy.write([UInt8](repeating: 0x55, count: size - offset), to: copy.path, at: offset)
        // No part of what is needed is in the WAL's pages.
        try #require(copy.bytes(copy.wal).count > 0)
        let error = copy.refusal()
        #expect(error?.message.hasPrefix("\(copy.path) is damaged (") == true, "\(String(describing: error))")
    }
    @Test("a transaction of another program's that was never finished is not undone") func unfinished() async throws {
        let copy = try await JournalCopy.ended()
        try copy.edit("PRAGMA journal_mode = DELETE; PRAGMA application_id = 77")
        copy.write([UInt8](repeating: 1, count: 1_000), to: copy.path + "-journal")
        let error = copy.refusal()
        #expect(error?.code == .invalidArgument && error?.message.contains("left in a transaction") == true)
        #expect(copy.bytes(copy.path + "-journal").count == 1_000)
    }
    @Test("a disk that is refused by its owner's error leaves the WAL, too") func failing() async throws {
        let copy = try await JournalCopy.killed()
        let before = copy.state
        let disk = try FaultDisk()
        disk.fail(.write, with: .inputOutput, count: nil)
        disk.fail(.sync, with: .syncing, count: nil)
        #expect(throws: RelayError.self) {
            _ = try Ledger(copy.directory, epoch: 2, faults: disk.faults, vfs: disk.name)
        }
        #expect(copy.state == before)
        disk.heal(.write)
        disk.heal(.sync)
        #expect(try Ledger(copy.directory, epoch: 2).run.head == 200)
    }
}
