import Glibc
import RelayCore
import RelayTestKit
import TestSupport
import TestTraits
import Testing

@testable import RelayJournal

@Suite("Torn writes", .heavy, .tags(.g5, .g8)) struct TornWriteTests {
    /// A live journal, as it was at one moment.
    private struct Snapshot {
        let file: [UInt8]
        let wal: [UInt8]
        let bodies: [UInt64: [UInt8]]
    }
    private static let copies = TestForm.rounds(60, soak: 1_000)

    private static func read(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Int(max(0, lseek(descriptor, 0, SEEK_END))))
        _ = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return bytes
    }
    private static func write(_ bytes: [UInt8], to path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        close(descriptor)
    }

    /// - Parameter isCheckpointed: a part of the WAL was copied into the file already, and the WAL goes on behind it.
    private func snapshot(isCheckpointed: Bool) async throws -> Snapshot {
        let directory = try TestFolder()
        let ledger = try Ledger(directory, retention: Retention(count: 300))
        try await ledger.journal.unitOfWork { unit in
            try unit.execute("CREATE TABLE balance (total INTEGER)")
            try unit.execute("INSERT INTO balance VALUES (0)")
        }
        let reader = try Database(directory.database, isReadOnly: true, vfs: nil)
        for amount in 1...500 {
            try await ledger.journal.unitOfWork { unit in
                try unit.execute(SQL("UPDATE balance SET total = total + ?", [.integer(Int64(amount))]))
                // Some have pages of their own.
                let length = amount.isMultiple(of: 7) ? 3_000 : amount % 90
                try unit.publish(Booked(amount: Int64(amount), text: String(repeating: "t", count: length)))
            }
            if isCheckpointed && amount == 200 {
                try reader.execute("BEGIN")
                _ = try reader.integers("SELECT count(*) FROM relay_events")
            }
            if isCheckpointed && (amount == 250 || amount == 400) {
                guard let storage = ledger.storage as? JournalStorage else { break }
                await storage.call { _ = try? $0.database.checkpoint(.passive) }
                if amount == 250 {
                    try reader.execute("ROLLBACK; BEGIN")
                    _ = try reader.integers("SELECT count(*) FROM relay_events")
                }
            }
        }
        #expect(await eventually { ledger.stream.pruned["Booked"] == 200 })
        // Within a unit, so that nothing moves.
        return try await ledger.journal.unitOfWork { _ in
            Snapshot(
                file: Self.read(directory.database), wal: Self.read(directory.database + "-wal"),
                bodies: Dictionary(
                    uniqueKeysWithValues: zip(ledger.stream.sequences, ledger.stream.emitted.map(\.body))))
        }
    }

    private func damage(_ wal: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var wal = wal
        if !random.chance(3) { wal.removeSubrange(random.below(wal.count + 1)...) }
        if random.chance(2) && !wal.isEmpty {
            for _ in 0...random.below(8) {
                let place = random.below(wal.count)
                switch random.below(3) {
                case 0: wal[place] ^= 1 << UInt8(random.below(8))
                case 1: wal[place] = UInt8(random.below(256))
                default: for index in place..<min(place + 512, wal.count) { wal[index] = 0 }
                }
            }
        }
        return wal
    }

    @Test(
        "a journal whose WAL was cut or flipped opens to a clean prefix, or is refused or stopped",
        arguments: [false, true])
    func torn(isCheckpointed: Bool) async throws {
        let snapshot = try await snapshot(isCheckpointed: isCheckpointed)
        #expect(snapshot.wal.count > 500_000 && snapshot.bodies.count == 500)
        let seed = UInt64.random(in: 0...(.max))
        var random = SeededGenerator(seed: seed)
        var (opened, refused, heads): (Int, Int, Set<UInt64>) = (0, 0, [])
        for copy in 0..<Self.copies {
            let directory = try TestFolder()
            Self.write(snapshot.file, to: directory.database)
            Self.write(copy == 0 ? snapshot.wal : damage(snapshot.wal, &random), to: directory.database + "-wal")
            let ledger: Ledger
            do {
                ledger = try Ledger(directory, epoch: 2)
            } catch let error as RelayError where error.code == .unavailable && error.message.contains("is damaged") {
                refused += 1
                continue
            }
            // What the look-ups at the start cannot see, the check beside the running service does: it stops that.
            let check = (ledger.storage as? JournalStorage)?.check
            if let check {
                #expect(await eventually { check.outcome != nil })
                if case .damaged? = check.outcome {
                    refused += 1
                    continue
                }
            }
            opened += 1
            let head = ledger.run.head
            heads.insert(head)
            let events = try await ledger.all()
            let oldest = (ledger.run.pruned["Booked"] ?? 0) + 1
            // No hole, and nothing that was not written.
            #expect(
                events.map(\.sequence) == (oldest...max(oldest, head)).filter { $0 <= head }, "seed \(seed), \(copy)")
            #expect(events.allSatisfy { snapshot.bodies[$0.sequence] == $0.body }, "seed \(seed), \(copy)")
            #expect(ledger.run.last["Booked"] ?? 0 == head, "seed \(seed), \(copy)")
            // The state of the same moment. Before its table there was no event.
            let total = try? await ledger.journal.unitOfWork { unit in
                try unit.query("SELECT total FROM balance") { $0.integer(0) }
            }
            #expect((total?.first ?? 0) == Int64(head * (head + 1) / 2), "seed \(seed), \(copy)")
            if copy == 0 { #expect(head == 500) }
            // And it goes on.
            try await ledger.book(1)
            #expect(ledger.stream.sequences == [head + 1])
        }
        let said: Comment = "seed \(seed): \(opened) opened, \(refused) refused, \(heads.count) heads"
        #expect(opened + refused == Self.copies, said)
        // A WAL alone is whole up to some commit. Over a file that has later pages already it may be none: that is refused.
        #expect(isCheckpointed || refused == 0, said)
        // The cuts were made all over the WAL, and most copies could be served.
        #expect(heads.count > 10 && opened > refused, said)
    }
}

extension SeededGenerator {
    fileprivate mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
    fileprivate mutating func chance(_ one: Int) -> Bool { below(one) == 0 }
}
