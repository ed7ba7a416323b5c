import RelayCore
import TestSupport

@testable import RelayMirrors
import RelayWire

/// Writes a channel of `Ledger1` as an exporter would, at a test's word.
final class ChannelAuthor {
    static let service = "org.example.Ledger"
    static let host = "kitchen"
    let sink: any MirrorSink
    private let codecs: (entry: WireCodec<Ledger1.Entry>, marked: WireCodec<Ledger1.Marked>)
    /// Of the origin, the present one last.
    var runs: [StreamRun]
    private(set) var position: UInt64 = 0
    private var last: [String: UInt64] = [:]
    private var number: UInt64 = 0
    private let contract: String

    /// - Parameter interface: another one, with the same events.
    init(
        _ carrier: FileCarrier, as interface: String = Ledger1.name,
        runs: [StreamRun] = [StreamRun(epoch: 7, first: 1)]
    ) throws {
        sink = try carrier.sink(
            of: try ChannelName(host: Self.host, service: Self.service, interface: interface))
        self.runs = runs
        contract = try ContractText(of: Ledger1.self).text.replacing(Ledger1.name, with: interface)
        codecs = (try WireCodec(event: Ledger1.Entry.self), try WireCodec(event: Ledger1.Marked.self))
    }
    private var epoch: UInt64 { runs.last?.epoch ?? 0 }
    var schemas: [UInt32: EventSchema] {
        [
            3: EventSchema(event: "Entry", fields: codecs.entry.schema.fields),
            5: EventSchema(event: "Marked", fields: codecs.marked.schema.fields),
        ]
    }
    private func append(_ message: MirrorMessage) async throws {
        number = try await sink.bounds().last
        guard try await sink.append(message.bytes, expecting: number) else {
            throw RelayError(.conflict, "somebody else has appended")
        }
    }
    /// Says that what follows the last message up to `position` never comes.
    func snapshot(at position: UInt64) async throws {
        // What never comes were entries.
        if position > self.position { last["Entry"] = position }
        var snapshot = MirrorSnapshot(RunTable(runs))
        (snapshot.schemas, snapshot.contract, snapshot.last) = (schemas, contract, last)
        let header = MirrorHeader.snapshot(at: position, epoch: epoch, journal: runs[0].epoch, writer: 1)
        for message in try snapshot.messages(header) { try await append(message) }
        self.position = position
    }
    /// A page of entries, which follow the position.
    func entries(_ numbers: ClosedRange<Int64>) async throws {
        try await page(numbers, schema: 3) { number, body in
            try codecs.entry.encode(Ledger1.Entry(number: number, text: "of run \(epoch)"), into: &body)
        }
    }
    /// The same by a later version of the origin: a schema that nobody knows yet.
    func laterEntries(_ numbers: ClosedRange<Int64>) async throws {
        let later = EventSchema(
            event: "Entry", fields: codecs.entry.schema.fields + [WireField(name: "pages", type: .int32)])
        try await page(numbers, schema: 8, schemas: schemas.merging([8: later]) { $1 }) { number, body in
            try codecs.entry.encode(Ledger1.Entry(number: number, text: "of run \(epoch)"), into: &body)
            body.align(4)
            body.int32(12)
        }
    }
    /// The same with bodies that do not fit their schema.
    func damagedEntries(_ numbers: ClosedRange<Int64>) async throws {
        try await page(numbers, schema: 3) { _, body in
            body.int64(1)
            body.uint32(1_000_000)
        }
    }
    private func page(
        _ numbers: ClosedRange<Int64>, schema: UInt32, schemas: [UInt32: EventSchema]? = nil,
        _ fields: (Int64, inout WireWriter) throws -> Void
    ) async throws {
        var pages = MirrorPageWriter(epoch: epoch, journal: runs[0].epoch, writer: 1)
        for number in numbers {
            position += 1
            var body = WireWriter()
            try fields(number, &body)
            body.align(8)
            Stamp(
                epoch: epoch, sequence: position, previous: last["Entry"] ?? 0,
                publishedAt: Timestamp(microseconds: UInt64(number))
            ).write(into: &body)
            last["Entry"] = position
            _ = body.withUnsafeBytes { pages.append(position, schema: schema, body: $0) }
        }
        if let page = try pages.take(schemas ?? self.schemas) { try await append(page) }
    }
    /// The origin has restarted.
    func restart(epoch: UInt64) async throws {
        runs.append(StreamRun(epoch: epoch, first: position + 1))
        try await snapshot(at: position)
    }
    /// The origin's journal was replaced by a copy that went up to a sequence.
    func restore(through sequence: UInt64, epoch: UInt64) async throws {
        runs = runs.filter { $0.first <= sequence } + [StreamRun(epoch: epoch, first: sequence + 1)]
        last = last.mapValues { min($0, sequence) }
        try await snapshot(at: sequence)
    }
}
