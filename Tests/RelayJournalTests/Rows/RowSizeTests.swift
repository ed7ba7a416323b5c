import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
@testable import RelayJournal

@Suite("What an event takes on disk", .heavy, .tags(.g3)) struct RowSizeTests {
    /// How much the file grows by each of so many events, whose bodies have `size` bytes.
    private func growth(_ size: Int, count: Int) async throws -> Double {
        let ledger = try Ledger(TestFolder(isInMemory: true), synchronous: .normal)
        let event = LedgerEncoder.booked(1, String(repeating: "x", count: size - Self.least))
        func book(_ count: Int) async throws {
            var left = count
            while left > 0 {
                let batch = min(left, max(1, (1 << 20) / size), 500)
                try await ledger.storage.commit(Array(repeating: event, count: batch))
                left -= batch
            }
        }
        func bytes() async throws -> Int {
            let (pages, _) = try await withCheckedThrowingContinuation { continuation in
                ledger.journal.storage.writer.submit(
                    .call { engine in
                        continuation.resume(
                            with: Result {
                                let numbers = try engine.sql.pages.integers() ?? []
                                return (numbers[1] - numbers[0], 0)
                            })
                    })
            }
            return Int(pages) * 4_096
        }
        try await book(count / 4)
        let before = try await bytes()
        try await book(count)
        let grown = Double(try await bytes() - before) / Double(count)
        let figures = try await ledger.storage.figures(of: Ledger1.name)
        let stored = Int(figures.first { $0.name == "bytes" }?.value ?? 0) / (count / 4 + count)
        #expect(stored == size)
        ledger.journal.close()
        return grown
    }
    /// Number, an empty text, and the stamp.
    private static let least = 8 + 5 + 3 + 24

    private static let sizes: [Int] =
        Array(stride(from: 40, to: 720, by: TestForm.rounds(24, soak: 8)))
        + Array(stride(from: 720, to: 9_000, by: TestForm.rounds(248, soak: 24)))
        + Array(stride(from: 9_000, to: 65_536, by: TestForm.rounds(11_000, soak: 568))) + [65_536]
    @Test("an event of any size takes its body, and at most 15 % and 60 bytes", arguments: sizes)
    func bound(size: Int) async throws {
        let size = size / 8 * 8
        let grown = try await growth(size, count: max(400, min(4_000, (4 << 20) / size)))
        #expect(grown <= Double(size) * 1.15 + 60)
    }
    @Test("so does one of a mebibyte, less what a message takes") func large() async throws {
        let size = (1 << 20) - 4_096
        #expect(try await growth(size, count: 12) <= Double(size) * 1.15 + 60)
    }
    @Test("long bodies are read as they were written, are pruned with their pieces, and are checked")
    func long() async throws {
        let directory = try TestFolder()
        let lengths = [0, 300, 344, 345, 700, 1_000, 4_000, 4_500, 9_000, 20_000, 70_000, 300_000, 1_000_000, 10]
        func check() async throws {
            let ledger = try Ledger(directory, epoch: UInt64.random(in: 2...(.max)))
            for (row, length) in zip(try await ledger.all(), lengths) {
                let text = row.body.dropFirst(12).prefix(length)
                #expect(text.count == length && text.allSatisfy { $0 == UInt8(ascii: "a") + UInt8(length % 23) })
                #expect(Stamped(row.body).sequence == row.sequence)
            }
            #expect(try await ledger.all(names: ["Closed"]).isEmpty)
            ledger.journal.close()
        }
        let ledger = try Ledger(directory)
        for length in lengths {
            let text = String(
                repeating: Character(UnicodeScalar(UInt8(ascii: "a") + UInt8(length % 23))), count: length)
            try await ledger.storage.commit([LedgerEncoder.booked(Int64(length), text)])
        }
        #expect(try await ledger.all().map(\.sequence) == Array(1...UInt64(lengths.count)))
        ledger.journal.close()
        try await check()
        #expect(try JournalInspection(directory: directory.path).check().events == lengths.count)
        // All but the last two go, and with them all pieces but those of the last long one.
        let short = try Ledger(directory, epoch: 9, retention: Retention(count: 2))
        #expect(await eventually { short.stream.pruned["Booked"] == UInt64(lengths.count - 2) })
        #expect(try await short.all().map(\.body.count).min() ?? 0 < 100)
        short.journal.close()
        let summary = try JournalInspection(directory: directory.path).check()
        #expect(summary.events == 2)
        let database = try Database(directory.database, isReadOnly: true, vfs: nil)
        #expect(try database.integers("SELECT count(*), max(length(body)) FROM relay_bodies") == [248, 4_056])
    }
    @Test(
        "bodies of all sizes are read as they were written, behind what was undone, and by the next start",
        arguments: Array(0..<TestForm.rounds(4, soak: 200) as Range<Int>))
    func mixed(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let disk = try FaultDisk()
        let directory = try TestFolder(isInMemory: true)
        var ledger = try Ledger(directory, faults: disk.faults, vfs: disk.name)
        var lengths: [Int] = []
        func text(_ length: Int) -> String {
            String(repeating: Character(UnicodeScalar(UInt8(ascii: "a") + UInt8(length % 23))), count: length)
        }
        func check() async throws {
            let rows = try await ledger.all()
            #expect(rows.map(\.sequence) == lengths.indices.map { UInt64($0 + 1) })
            let areRight = zip(rows, lengths).allSatisfy { row, length in
                row.body.count == (length + 44) / 8 * 8
                    && row.body.dropFirst(12).prefix(length).elementsEqual(text(length).utf8)
            }
            #expect(areRight)
        }
        for round in 2..<20 {
            let new = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                Int.random(in: 0..<([400, 1_000, 5_000].randomElement(using: &random) ?? 20_000), using: &random)
            }
            let isUndone = Int.random(in: 0..<3, using: &random) == 0
            if isUndone { disk.fail(.write, with: .readOnly, count: nil) }
            do {
                try await ledger.storage.commit(new.map { LedgerEncoder.booked(Int64($0), text($0)) })
                lengths += new
                #expect(!isUndone)
            } catch { #expect(isUndone, "\(error)") }
            disk.heal(.write)
            if Int.random(in: 0..<4, using: &random) == 0 {
                try await check()
                ledger.journal.close()
                ledger = try Ledger(directory, epoch: UInt64(round), faults: disk.faults, vfs: disk.name)
            }
        }
        try await check()
        ledger.journal.close()
        #expect(try JournalInspection(directory: directory.path).check().events == lengths.count)
    }
    @Test(
        "a long body that another program has spoilt is an error, and the events before it are read",
        arguments: [
            "DELETE FROM relay_bodies WHERE id % 2 = 1", "UPDATE relay_bodies SET body = x'00' WHERE id % 2 = 1",
            "UPDATE relay_events SET size = -1 WHERE sequence = 3",
            "UPDATE relay_events SET size = 9223372036854775807 WHERE sequence = 3",
            "UPDATE relay_events SET place = -9223372036854775808 WHERE sequence = 3",
            "UPDATE relay_events SET place = 9223372036854775807 WHERE sequence = 3",
        ])
    func spoilt(sql: String) async throws {
        let directory = try TestFolder()
        let ledger = try Ledger(directory)
        let text = String(repeating: "x", count: 3_000)
        try await ledger.storage.commit([1, 2, 3, 4].map { LedgerEncoder.booked($0, text) })
        try Database(directory.database, isReadOnly: false, vfs: nil).execute(sql)
        let error = await #expect(throws: RelayError.self) { try await ledger.all() }
        #expect(error?.message.contains("relay_bodies") == true, "\(error?.message ?? "")")
        #expect(try await ledger.page(limit: 1).events.map { Stamped($0.body).amount } == [1])
        ledger.journal.close()
    }
}
