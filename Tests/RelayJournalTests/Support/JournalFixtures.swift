import Glibc
import RelayCore
import RelayTestKit
import Synchronization

@testable import RelayJournal
import RelayWire

extension TestFolder {
    /// The journal's file.
    var database: String { path + "/journal.sqlite" }
}

/// Writes down what leaves.
final class RecordingStream: CommittedEventSink {
    struct State {
        var emitted: [(event: LoggedEvent, stamp: Stamp)] = []
        var pruned: [String: UInt64] = [:]
    }
    let state = Mutex(State())
    func emit(_ events: [(event: LoggedEvent, stamp: Stamp)]) { state.withLock { $0.emitted += events } }
    func pruned(_ last: [String: UInt64]) {
        state.withLock { state in state.pruned.merge(last) { max($0, $1) } }
    }
    var emitted: [LoggedEvent] { state.withLock { $0.emitted.map { $0.event } } }
    var sequences: [UInt64] { state.withLock { $0.emitted.map { $0.stamp.sequence } } }
    var pruned: [String: UInt64] { state.withLock { $0.pruned } }
}

enum Ledger1: EventInterface {
    static let name = "org.example.Ledger1"
    static var contract: Contract<Self> {
        Booked.self
        Closed.self
    }
}
struct Booked: DomainEvent {
    typealias Interface = Ledger1
    let amount: Int64
    let text: String
}
struct Closed: DomainEvent {
    typealias Interface = Ledger1
    let year: Int32
}
enum Gauge1: EventInterface {
    static let name = "org.example.Gauge1"
    static var contract: Contract<Self> { Moved.self }
    static var durability: Volatile { Volatile() }
}
struct Moved: DomainEvent {
    typealias Interface = Gauge1
    let place: Int64
}

/// Encodes the events above, as interface 0: booked 0, closed 1.
struct LedgerEncoder: EventEncoder {
    var moved: @Sendable (Int64) -> Void = { _ in }

    func encode<E: StreamEntry>(_ event: E) throws -> EncodedEvent {
        switch event {
        case let event as Booked: return Self.booked(event.amount, event.text)
        case let event as Closed:
            var writer = WireWriter()
            writer.int32(event.year)
            return .durable(interface: 0, LoggedEvent(1, &writer))
        case let event as Moved: return .volatile { [moved] in moved(event.place) }
        default: throw RelayError(.notFound, "no such event")
        }
    }
    static func booked(_ amount: Int64, _ text: String = "") -> EncodedEvent {
        var writer = WireWriter()
        writer.int64(amount)
        try? writer.string(text)
        return .durable(interface: 0, LoggedEvent(0, &writer))
    }
    static let schemas = [
        EventSchema(
            event: "Booked", fields: [WireField(name: "amount", type: .int64), WireField(name: "text", type: .string)]),
        EventSchema(event: "Closed", fields: [WireField(name: "year", type: .int32)]),
    ]
}

/// What a body says, read back.
struct Stamped: Hashable {
    let amount: Int64
    let sequence: UInt64
    let previous: UInt64
    let time: UInt64

    init(_ body: [UInt8]) {
        func number(_ offset: Int) -> UInt64 {
            body.count < offset + 8 || offset < 0
                ? .max : body.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        }
        amount = Int64(bitPattern: number(0))
        (sequence, previous, time) = (number(body.count - 24), number(body.count - 16), number(body.count - 8))
    }
}

/// A journal as a service has it.
struct Ledger {
    let directory: TestFolder
    let journal: EventJournal
    let stream = RecordingStream()
    let run: LogSnapshot
    var storage: any EventLogStorage { journal.access.storage }

    init(
        _ directory: TestFolder, epoch: UInt64 = 1, retention: Retention = Retention(),
        schemas: [EventSchema] = LedgerEncoder.schemas, encoder: LedgerEncoder = LedgerEncoder(),
        synchronous: EventJournal.Synchronous = .full, faults: JournalFaults = JournalFaults(), vfs: String? = nil,
        permit: CommitPermit? = .process
    ) throws {
        self.directory = directory
        journal = try EventJournal(
            directory: directory.path, synchronous: synchronous, faults: faults, vfs: vfs, permit: permit)
        let interface = LoggedInterface(
            name: Ledger1.name, epoch: epoch, retention: retention, events: schemas, stream: stream)
        run = try journal.access.storage.open([interface], encoder: encoder)[0]
    }
    func book(_ amounts: Int64...) async throws {
        try await storage.commit(amounts.map { LedgerEncoder.booked($0) })
    }
    func page(
        names: Set<String>? = nil, after: UInt64 = 0, limit: Int = .max, bytes: Int = 256 << 10
    ) async throws -> LogPage {
        try await withCheckedThrowingContinuation { continuation in
            storage.read(
                LogRequest(interface: Ledger1.name, names: names, after: after, limit: limit, byteLimit: bytes)
            ) { continuation.resume(with: $0) }
        }
    }
    /// All that there is, by pages.
    func all(names: Set<String>? = nil) async throws -> [LogPage.Event] {
        var (events, after): ([LogPage.Event], UInt64) = ([], 0)
        while true {
            let page = try await page(names: names, after: after)
            events += page.events
            if page.through >= page.head { return events }
            after = page.through
        }
    }
}
