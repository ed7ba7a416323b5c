import RelayCore
import RelayTestKit

@testable import RelayJournal
import RelayWire

/// An origin, and what a replica of it must have: in memory.
struct ReplicaModel {
    static let interface = "org.example.Mirrored1"
    static let schemas: [UInt32: EventSchema] = [
        3: EventSchema(event: "Booked", fields: [WireField(name: "text", type: .string)]),
        7: EventSchema(event: "Closed", fields: [WireField(name: "year", type: .int32)]),
        9: EventSchema(event: "State", fields: [WireField(name: "text", type: .string)]),
    ]
    private static let document: UInt32 = 9

    struct Event: Hashable {
        let schema: UInt32
        let body: [UInt8]
    }
    struct Entry: Hashable {
        var sequence: UInt64
        var text: String
    }
    /// What the origin has published: from sequence 1 on.
    private(set) var origin: [(schema: UInt32, text: String)] = []
    private(set) var runs: [StreamRun] = []
    private(set) var base: UInt64 = 0
    private(set) var gaps: [ClosedRange<UInt64>] = []
    private(set) var events: [UInt64: Event] = [:]
    /// The document's state, as far as it came, and up to where no other one follows.
    private(set) var entry: Entry?
    private(set) var known: UInt64 = 0
    private(set) var state: [UInt8] = []
    private var epochs: UInt64 = 100

    var head: UInt64 { UInt64(origin.count) }
    var isUnknown: Bool {
        let gap = gaps.last?.upperBound ?? 0
        guard let entry else {
            let hasBeen = events.contains { $0.value.schema == Self.document }
            return base > 0 || hasBeen || gap > known
        }
        return gap > max(entry.sequence, known)
    }

    static func fields(_ schema: UInt32, _ text: String) -> [UInt8] {
        var writer = WireWriter()
        if schema == 7 { writer.int32(Int32(text.utf8.count)) } else { try? writer.string(text) }
        return writer.takeBytes()
    }
    static func body(_ schema: UInt32, _ text: String, _ sequence: UInt64, previous: UInt64) -> [UInt8] {
        var writer = WireWriter()
        writer.append(fields(schema, text))
        writer.align(8)
        Stamp(epoch: 0, sequence: sequence, previous: previous, publishedAt: Timestamp(microseconds: sequence * 10))
            .write(into: &writer)
        return writer.takeBytes()
    }
    private func last(_ schema: UInt32) -> UInt64 {
        UInt64((origin.lastIndex { $0.schema == schema } ?? -1) + 1)
    }

    // MARK: Parts

    mutating func beginRun(_ part: inout ReplicaTransaction.Part) {
        epochs += 1
        runs.append(StreamRun(epoch: epochs, first: head + 1))
        part.runs = runs
    }
    mutating func begin(behind count: Int, _ part: inout ReplicaTransaction.Part) {
        for number in 0..<count { origin.append((3, "before \(number)")) }
        (base, part.base) = (head, head)
    }
    mutating func truncate(to last: UInt64, _ part: inout ReplicaTransaction.Part) {
        if last >= head { return }
        part.keepsThrough = last
        origin.removeSubrange(Int(last)...)
        events = events.filter { $0.key <= last }
        gaps = gaps.filter { $0.lowerBound <= last }.map { $0.lowerBound...min($0.upperBound, last) }
        runs = runs.filter { $0.first - 1 <= last }
        (base, known) = (min(base, last), min(known, last))
        if let old = entry, old.sequence > last {
            let place = events.filter { $0.value.schema == Self.document }.keys.max()
            entry = place.map { Entry(sequence: $0, text: origin[Int($0) - 1].text) }
            // What a snapshot said was of the state that is gone.
            known = 0
        }
        beginRun(&part)
    }
    mutating func skip(_ count: Int, _ part: inout ReplicaTransaction.Part, _ random: inout some RandomNumberGenerator)
    {
        let gap = head + 1...head + UInt64(count)
        for _ in 0..<count { origin.append(([3, 7, 9].randomElement(using: &random) ?? 3, "lost \(count)")) }
        gaps.append(gap)
        part.gap = gap
    }
    mutating func publish(
        _ texts: [(schema: UInt32, text: String)], _ part: inout ReplicaTransaction.Part
    ) {
        let first = head + 1
        var (rows, bytes): ([ReplicaEvents.Event], [UInt8]) = ([], [])
        for (schema, text) in texts {
            let sequence = head + 1
            let body = Self.body(schema, text, sequence, previous: last(schema))
            origin.append((schema, text))
            events[sequence] = Event(schema: schema, body: body)
            if schema == Self.document { entry = Entry(sequence: sequence, text: text) }
            rows.append(.init(schema: schema, body: bytes.count..<bytes.count + body.count))
            bytes += body
        }
        part.schemas = Self.schemas.filter { number, _ in texts.contains { $0.schema == number } }
        part.events = ReplicaEvents(epoch: runs.last?.epoch ?? 0, first: first, rows, in: bytes)
    }
    mutating func snapshot(_ part: inout ReplicaTransaction.Part) {
        let sequence = last(Self.document)
        let text = sequence > 0 ? origin[Int(sequence) - 1].text : "initial"
        part.schemas = Self.schemas
        part.states = ReplicaStates(
            position: head, last: ["Booked": last(3), "Closed": last(7)],
            documents: [.init(name: "State", sequence: sequence, schema: 9, fields: Self.fields(9, text))])
        (entry, known) = (Entry(sequence: sequence, text: text), max(known, head))
    }
    mutating func keep(_ bytes: [UInt8], _ part: inout ReplicaTransaction.Part) { (state, part.state) = (bytes, bytes) }
}

/// A replica, and a service that reads it.
struct ReplicaReader {
    let journal: ReplicaJournal
    let stream = RecordingStream()
    init(_ journal: ReplicaJournal) { self.journal = journal }

    func attach(epoch: UInt64, documents: Set<Int> = [2]) throws -> LogSnapshot {
        let interface = LoggedInterface(
            name: ReplicaModel.interface, epoch: epoch, retention: Retention(),
            events: ReplicaModel.schemas.sorted { $0.key < $1.key }.map(\.value), documents: documents, stream: stream,
            isOpen: true)
        return try journal.log.access.storage.open([interface], encoder: LedgerEncoder())[0]
    }
    func page(after: UInt64) async throws -> LogPage {
        try await withCheckedThrowingContinuation { continuation in
            journal.log.access.storage.read(
                LogRequest(
                    interface: ReplicaModel.interface, names: nil, after: after, limit: .max, byteLimit: 1 << 20)
            ) { continuation.resume(with: $0) }
        }
    }
    /// What differs from the model; nil: nothing.
    func difference(from model: ReplicaModel) async throws -> String? {
        let states = try await journal.states()
        if states[ReplicaModel.interface] ?? [] != model.state { return "the mirror's state" }
        guard let run = model.runs.last else { return nil }
        let snapshot = try attach(epoch: run.epoch)
        let difference = try await difference(of: snapshot, from: model)
        await journal.detach()
        return difference
    }
    private func difference(of snapshot: LogSnapshot, from model: ReplicaModel) async throws -> String? {
        if snapshot.head != model.head { return "head \(snapshot.head) of \(model.head)" }
        if snapshot.runs != model.runs.suffix(64) { return "runs \(snapshot.runs) of \(model.runs)" }
        if snapshot.gaps != model.gaps { return "gaps \(snapshot.gaps) of \(model.gaps)" }
        if snapshot.journal != model.runs.first?.epoch { return "the identity \(snapshot.journal)" }
        if snapshot.unknownDocuments.contains("State") != model.isUnknown {
            return
                "unknown: \(snapshot.unknownDocuments), not \(model.isUnknown); entry \(String(describing: model.entry))"
        }
        let entry = model.isUnknown ? nil : model.entry
        let found = snapshot.documents["State"]
        if found?.sequence != entry?.sequence { return "a document #\(String(describing: found?.sequence))" }
        if let found, let entry {
            let fields = ReplicaModel.fields(9, entry.text)
            if found.schema != 9 || found.body.prefix(fields.count) != fields[...] { return "a document's state" }
        }
        var (after, seen): (UInt64, [UInt64: ReplicaModel.Event]) = (0, [:])
        while true {
            let page = try await page(after: after)
            for event in page.events {
                seen[event.sequence] = .init(schema: event.schema, body: event.body)
                if model.runs.last(where: { $0.first <= event.sequence })?.epoch != page.epoch {
                    return "#\(event.sequence) in run \(page.epoch)"
                }
            }
            if page.through >= page.head {
                if page.oldest > model.base + 1 { return "oldest \(page.oldest) of \(model.base + 1)" }
                break
            }
            after = page.through
        }
        return seen == model.events ? nil : "\(seen.count) events of \(model.events.count)"
    }
}
