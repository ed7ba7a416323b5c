import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

@Suite("What a retention rule removes", .tags(.g2)) struct RetentionRuleTests {
    /// As many, from a sequence on.
    private func oldest(_ sequences: ClosedRange<UInt64>) -> [RetentionRule.Oldest] {
        sequences.map { .init(sequence: $0, bytes: 10) }
    }

    @Test("the first ones that are over any bound, and no further") func excess() {
        let count = RetentionRule(Retention(count: 3))
        #expect(count.excess(of: oldest(1...5), events: 5, bytes: 50, expired: 0) == 2)
        #expect(count.excess(of: oldest(1...3), events: 3, bytes: 30, expired: 0) == 0)
        let bytes = RetentionRule(Retention(bytes: 25))
        #expect(bytes.excess(of: oldest(1...5), events: 5, bytes: 50, expired: 0) == 3)
        let age = RetentionRule(Retention(age: .microseconds(10)))
        #expect(age.excess(of: oldest(8...11), events: 4, bytes: 40, expired: 9) == 2)
        #expect(age.excess(of: oldest(8...11), events: 4, bytes: 40, expired: 7) == 0)
        let all = RetentionRule(Retention(age: .microseconds(1), count: 4, bytes: 1_000))
        #expect(all.excess(of: oldest(1...6), events: 6, bytes: 60, expired: 1) == 2)
        #expect(RetentionRule(Retention()).excess(of: oldest(1...2), events: .max, bytes: .max, expired: 0) == 0)
        #expect(RetentionRule(Retention(count: 0)).excess(of: oldest(1...2), events: 2, bytes: 20, expired: 0) == 2)
        // Nonsense is no reason to trap.
        #expect(
            RetentionRule(Retention(age: .seconds(-1), count: -1, bytes: -1)).excess(
                of: oldest(1...1), events: 1, bytes: 10, expired: .max) == 1)
    }
    @Test("how urgent it is") func urgency() {
        let rule = RetentionRule(Retention(age: .seconds(10), count: 100, bytes: 1 << 20))
        func urgency(_ events: UInt64, _ bytes: UInt64, _ expiry: UInt64?, _ now: UInt64) -> RetentionRule.Urgency {
            rule.urgency(events: events, bytes: bytes, expiry: expiry, now: now)
        }
        #expect(urgency(100, 1 << 20, 10_000_005, 6) == .none(until: 10_000_005))
        #expect(urgency(0, 0, nil, 6) == .none(until: nil))
        #expect(urgency(101, 0, 7, 6) == .some && urgency(1, 1 << 20 + 1, 7, 6) == .some)
        #expect(urgency(1_100, 0, 7, 6) == .step && urgency(1, 2 << 20, 7, 6) == .step)
        #expect(urgency(4_100, 0, 7, 6) == .overdue && urgency(1, 5 << 20, 7, 6) == .overdue)
        #expect(urgency(1, 0, 5, 6) == .some && urgency(1, 0, 5, 1_000_006) == .overdue)
    }
}

@Suite("Retention", .heavy, .tags(.g2)) struct RetentionTests {
    @Test("keeps so many, tells what went, and oldest moves") func count() async throws {
        let directory = try TestFolder()
        do {
            let ledger = try Ledger(directory, retention: Retention(count: 10))
            try await ledger.storage.commit([LedgerEncoder().encode(Closed(year: 1))])
            for amount in 0..<50 { try await ledger.book(Int64(amount)) }
            #expect(await eventually { ledger.stream.pruned == ["Booked": 41, "Closed": 1] })
            let page = try await ledger.page()
            #expect(page.oldest == 42 && page.head == 51 && page.events.map(\.sequence) == Array(42...51))
            let rare = try await ledger.page(names: ["Closed"])
            #expect(rare.oldest == 2 && rare.events.isEmpty && rare.through == 51)
        }
        // Kept over the restart.
        let ledger = try Ledger(directory, epoch: 2)
        #expect(ledger.run.pruned == ["Booked": 41, "Closed": 1] && ledger.run.last == ["Booked": 51, "Closed": 1])
    }
    @Test("keeps so many bytes") func bytes() async throws {
        let ledger = try Ledger(TestFolder(), retention: Retention(bytes: 100_000))
        let text = String(repeating: "x", count: 1_000)
        for amount in 0..<300 { try await ledger.storage.commit([LedgerEncoder.booked(Int64(amount), text)]) }
        let size = ledger.stream.emitted[0].body.count
        let kept = 100_000 / size
        #expect(await eventually { ledger.stream.pruned == ["Booked": UInt64(300 - kept)] })
        let figures = try await ledger.storage.figures(of: Ledger1.name)
        #expect(figures.first { $0.name == "bytes" }?.value == UInt64(kept * size))
    }
    @Test("keeps so long, without any further event") func age() async throws {
        let ledger = try Ledger(TestFolder(), retention: Retention(age: .milliseconds(50)))
        try await ledger.book(1, 2, 3)
        #expect(await eventually { ledger.stream.pruned == ["Booked": 3] })
        let page = try await ledger.page()
        #expect(page.oldest == 4 && page.events.isEmpty && page.through == 3)
        try await ledger.book(4)
        #expect(ledger.stream.sequences == [1, 2, 3, 4])
    }
    @Test("the file and its WAL stop growing") func growth() async throws {
        let ledger = try Ledger(TestFolder(), retention: Retention(count: 2_000))
        let text = String(repeating: "x", count: 200)
        func size(_ suffix: String) -> Int {
            var status = stat()
            return stat(ledger.directory.database + suffix, &status) == 0 ? Int(status.st_size) : 0
        }
        var sizes: [Int] = []
        for round in 0..<40 {
            let events = (0..<1_000).map { LedgerEncoder.booked(Int64(round * 1_000 + $0), text) }
            for part in 0..<10 { try await ledger.storage.commit(Array(events[part * 100..<(part + 1) * 100])) }
            sizes.append(size("") + size("-wal"))
        }
        // 40,000 events of some 250 bytes went in: 10 MB. 2,000 are kept, and those that wait to be removed.
        #expect((sizes.max() ?? 0) < 14 << 20 && size("") < 4 << 20, "\(sizes)")
        #expect(await eventually { ledger.stream.pruned == ["Booked": 38_000] })
        #expect(try await ledger.all().map(\.sequence) == Array(38_001...40_000))
    }
    @Test("free pages are given back") func vacuum() async throws {
        let directory = try TestFolder()
        let text = String(repeating: "x", count: 2_000)
        do {
            let ledger = try Ledger(directory)
            for _ in 0..<20 { try await ledger.storage.commit((0..<500).map { LedgerEncoder.booked($0, text) }) }
            ledger.journal.close()
        }
        let ledger = try Ledger(directory, epoch: 2, retention: Retention(count: 100))
        #expect(await eventually { ledger.stream.pruned == ["Booked": 9_900] })
        let other = try Database(directory.database, isReadOnly: true, vfs: nil)
        #expect(
            await eventually {
                let pages = try? other.integers("PRAGMA page_count")?.first
                return pages.map { $0 < 1_000 } ?? false
            })
        ledger.journal.close()
        var status = stat()
        #expect(stat(directory.database, &status) == 0 && status.st_size < 4 << 20)
    }
}
