import RelayCore
import RelayJournal
import RelayTestKit
import Relocation
import RelocationDomain
import TestSupport

/// A store with what it has emitted: whatever is true of one kind must be true of the other.
struct TestedStore: RelocationStore {
    enum Kind: CaseIterable, Sendable { case memory, journal }
    private let base: any RelocationStore
    private let log = EventLog()
    /// That of the journal, until the store goes.
    private let folder: TestFolder?

    /// An empty one, with the next ids after those given.
    init(_ kind: Kind, lastBoxID: Int64 = 0, lastItemID: Int64 = 0) async throws {
        switch kind {
        case .memory:
            folder = nil
            base = MemoryStore(MemoryState(lastBoxID: lastBoxID, lastItemID: lastItemID)) { [log] in log.append($0) }
        case .journal:
            let folder = try TestFolder()
            self.folder = folder
            // No test of these takes the power away.
            let journal = try EventJournal(directory: folder.path, synchronous: .normal)
            base = try await JournalStore(journal)
            try Self.open(journal, log)
            try await journal.unitOfWork { unit in
                for (kind, last) in [("box", lastBoxID), ("item", lastItemID)] {
                    try unit.execute(
                        SQL("UPDATE relocation_ids SET last = ? WHERE kind = ?", [.integer(last), .text(kind)]))
                }
            }
        }
    }
    /// What a service does with its journal when it starts.
    static func open(_ journal: EventJournal, _ log: EventLog, epoch: UInt64 = 1) throws {
        _ = try journal.access.storage.open(
            [try RelocationEncoder.interface(RecordingStream(log), epoch: epoch)], encoder: RelocationEncoder())
    }

    var events: [any RelocationEvent] { log.events }
    /// All of it, by as many pages as it takes.
    var contents: Warehouse {
        get async throws { try await Warehouse { try await RelocationCommands(store: self).handle($0) } }
    }
    func stock(after place: Contents.Place, count: Int) async throws -> Stock {
        try await base.stock(after: place, count: count)
    }
    func perform<Work: RelocationWork>(_ work: Work) async throws -> Work.Outcome { try await base.perform(work) }
}
