import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal
import RelayInspection

@Suite("A journal's figures and its failure", .heavy, .tags(.g5)) struct StatisticsTests {
    @Test("the figures are those of what was committed") func figures() async throws {
        let ledger = try Ledger(TestFolder())
        var figures = try await ledger.journal.statistics(of: Ledger1.self)
        #expect((figures.head, figures.oldest, figures.events, figures.bytes) == (0, 1, 0, 0))
        #expect(figures.isChecked && figures.fileBytes > 0)
        try await ledger.book(1, 2, 3)
        figures = try await ledger.journal.statistics(of: Ledger1.self)
        let bytes = ledger.stream.emitted.reduce(0) { $0 + $1.body.count }
        #expect((figures.head, figures.oldest, figures.events, figures.bytes) == (3, 1, 3, bytes))
        #expect(figures.walBytes > 0 && figures.fileBytes > figures.walBytes)
        let error = await #expect(throws: RelayError.self) { _ = try await ledger.journal.statistics(of: Gauge1.self) }
        #expect(error?.code == .notFound)
    }
    @Test("a failure is there for who asks, and for who waits") func failure() async throws {
        let (folder, disk) = (try TestFolder(), try FaultDisk())
        let ledger = try Ledger(folder, faults: disk.faults, vfs: disk.name)
        let told = Mutex<[RelayError.Code]>([])
        ledger.storage.onFailure { error in told.withLock { $0.append(error.code) } }
        try await ledger.book(1)
        #expect(ledger.journal.failure == nil && told.withLock { $0.isEmpty })
        disk.fail(.sync, with: .syncing, of: "-wal")
        await #expect(throws: RelayError.self) { try await ledger.book(2) }
        #expect(ledger.journal.failure?.code == .outcomeUnknown)
        #expect(await eventually { told.withLock { $0 } == [.outcomeUnknown] })
        // At once, now that it is known.
        ledger.storage.onFailure { error in told.withLock { $0.append(error.code) } }
        #expect(told.withLock { $0.count } == 2)
        ledger.journal.close()
        withExtendedLifetime(disk) {}
    }
}
