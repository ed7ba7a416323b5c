import RelayCore
import RelayTool
import Synchronization

@testable import relay_cli
import RelayWire

/// A durable interface's journal, as a service would answer for it: what is told of one event, and the liars' ways.
final class FakeJournal: Sendable {
    struct Entry: Sendable {
        var name: String
        var schema: UInt32
        var sequence: UInt64
        var time: UInt64
        var fields: [UInt8]
    }
    static let interface = "org.eventrelay.Relocation1"
    static let epoch: UInt64 = 0xFEDC_BA98_7654_3210
    /// Microseconds: #1 is published at 09:15:04.
    static let start: UInt64 = 1_795_166_104_000_000

    struct State: Sendable {
        var entries: [Entry] = []
        var oldest: UInt64 = 1
        var schemas: [UInt32: EventSchema] = [:]
        var pageSize = 7
        /// Rows that a page looks at: past it the page ends early.
        var scanned = 20
        var durability = "durable"
        /// nil: a service of before there was one.
        var version: String?
        /// Makes a page in place of one of the entries.
        var make: @Sendable (StreamRead) throws -> LogPage? = { _ in nil }
        /// Why the disk refuses commits, as an errno.
        var storageError: UInt64?
        /// How many peers were refused a place at the ring; nil: it reports nothing of that.
        var ringLacking: UInt64?
        /// nil: it reports nothing of it.
        var isChecked: Bool? = true
        /// Changes an answer before it is sent.
        var forge: @Sendable (LogPage) -> LogPage = { $0 }
        /// Answers instead; for a call of any method.
        var intercept: @Sendable (OutgoingCall, Int) throws -> IncomingReply? = { _, _ in nil }
        var reads: [StreamRead] = []
    }
    let state: Mutex<State>

    static let schemas: [UInt32: EventSchema] = [
        1: EventSchema(event: "BoxProvisioned", fields: fields("boxID:x", "label:s")),
        2: EventSchema(event: "BoxProvisioned", fields: fields("boxID:x", "capacity:i", "title:s")),
        3: EventSchema(event: "Ping", fields: []),
        4: EventSchema(event: "TruckLoaded", fields: fields("shelves:a(label:s,height:?d)", "note:?s")),
        5: EventSchema(event: "BoxBurnt", fields: fields("boxID:x")),
    ]
    private static func fields(_ descriptions: String...) -> [WireField] {
        descriptions.compactMap { try? WireField(parsing: $0) }
    }

    init(_ entries: [Entry], schemas: [UInt32: EventSchema] = FakeJournal.schemas) {
        state = Mutex(State(entries: entries, schemas: schemas))
    }
    /// `count` events, of which every third is a Ping, a second apart.
    static func sample(_ count: UInt64) throws -> FakeJournal {
        FakeJournal(
            try (1...count).map { sequence in
                sequence % 3 == 0
                    ? ping(sequence) : try box(sequence, title: "Box \(sequence)")
            })
    }
    static func ping(_ sequence: UInt64) -> Entry {
        Entry(name: "Ping", schema: 3, sequence: sequence, time: start + sequence * 1_000_000, fields: [])
    }
    static func box(_ sequence: UInt64, title: String) throws -> Entry {
        let fields = try Samples.body { writer in
            writer.int64(Int64(sequence) * 10)
            writer.int32(5)
            try writer.string(title)
        }
        return Entry(
            name: "BoxProvisioned", schema: 2, sequence: sequence, time: start + sequence * 1_000_000, fields: fields)
    }
    /// As an older version of the event was.
    static func oldBox(_ sequence: UInt64, label: String) throws -> Entry {
        let fields = try Samples.body { writer in
            writer.int64(Int64(sequence) * 10)
            try writer.string(label)
        }
        return Entry(
            name: "BoxProvisioned", schema: 1, sequence: sequence, time: start + sequence * 1_000_000, fields: fields)
    }

    func change(_ body: @Sendable (inout State) -> Void) { state.withLock { body(&$0) } }
    var reads: [StreamRead] { state.withLock { $0.reads } }

    /// For `FakeService`.
    var answer: @Sendable (OutgoingCall) throws -> IncomingReply {
        { call in
            let (intercept, count) = self.state.withLock { ($0.intercept, $0.reads.count) }
            if let reply = try intercept(call, count) { return reply }
            switch call.member {
            case "Get":
                let state = self.state.withLock { $0 }
                let name = try call.body.withUnsafeBytes { bytes in
                    var reader = WireReader(bytes)
                    _ = try reader.string()
                    return try reader.string()
                }
                let body = try Samples.body { writer in
                    writer.signature(try Signature(name == "Durability" ? "s" : "t"))
                    switch name {
                    case "Sequence": writer.uint64(state.entries.last?.sequence ?? 0)
                    case "Epoch": writer.uint64(Self.epoch)
                    default: try writer.string(state.durability)
                    }
                }
                return IncomingReply(signature: "v", body: body)
            case "Schemas":
                let schemas = self.state.withLock { $0.schemas }
                return IncomingReply(
                    signature: Stream1.schemasSignature,
                    body: try Samples.body { try Stream1.write(schemas, into: &$0) })
            case "Status":
                let state = self.state.withLock { $0 }
                return IncomingReply(
                    signature: "a{sv}", body: try Self.status(state))
            case "Read": return try self.read(call)
            default: throw CLIFailure(.software, "not expected: \(call.member)")
            }
        }
    }

    private static func status(_ state: State) throws -> [UInt8] {
        try Samples.body { writer in
            let array = writer.beginArray(elementAlignment: 8)
            func entry(_ name: String, _ signature: String, _ value: (inout WireWriter) throws -> Void) throws {
                writer.align(8)
                try writer.string(name)
                writer.signature(try Signature(signature))
                try value(&writer)
            }
            if let version = state.version { try entry("Version", "s") { try $0.string(version) } }
            for (name, value) in [
                ("Epoch", epoch), ("Head", 40), ("Oldest", 3), ("RingCapacity", 4 << 20), ("Events", 38),
                ("Bytes", 1_234), ("FileBytes", 9 << 20), ("WalBytes", 1 << 20), ("FreeBytes", 3 << 30),
            ] as [(String, UInt64)] {
                try entry(name, "t") { $0.uint64(value) }
            }
            if let isChecked = state.isChecked { try entry("Checked", "t") { $0.uint64(isChecked ? 1 : 0) } }
            if let storageError = state.storageError { try entry("StorageError", "t") { $0.uint64(storageError) } }
            try entry("RingOpen", "b") { $0.bool(true) }
            if let ringLacking = state.ringLacking { try entry("RingLacking", "t") { $0.uint64(ringLacking) } }
            try entry("SignalsPaused", "b") { $0.bool(false) }
            try entry("Subscribers", "a(sasst)") { writer in
                let peers = writer.beginArray(elementAlignment: 8)
                for (peer, name, transport, sequence) in [
                    (":1.7", "*", "ring", 40), (":1.8", "Ping", "ring", 28), (":1.9", "*", "signal", 0),
                ] as [(String, String, String, UInt64)] {
                    writer.align(8)
                    try writer.string(peer)
                    let names = writer.beginArray(elementAlignment: 4)
                    try writer.string(name)
                    try writer.endArray(names)
                    try writer.string(transport)
                    writer.uint64(sequence)
                }
                try writer.endArray(peers)
            }
            try writer.endArray(array)
        }
    }

    private func read(_ call: OutgoingCall) throws -> IncomingReply {
        let read = try call.body.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return try Stream1.readRead(&reader)
        }
        let (page, schemas) = try state.withLock { state in
            state.reads.append(read)
            return (state.forge(try state.make(read) ?? Self.page(read, state)), state.schemas)
        }
        var signatures: [UInt32: Signature] = [:]
        for (number, schema) in schemas { signatures[number] = try Stream1.bodySignature(schema.fields) }
        for event in page.events where signatures[event.schema] == nil {
            signatures[event.schema] = try Signature("(ttt)")
        }
        return IncomingReply(
            signature: Stream1.pageSignature,
            body: try Samples.body { try Stream1.write(page, signatures: signatures, into: &$0) })
    }

    private static func page(_ read: StreamRead, _ state: State) -> LogPage {
        let names = read.names == [Stream1.allNames] ? nil : Set(read.names)
        let head = state.entries.last?.sequence ?? 0
        let rows = state.entries.filter { $0.sequence > read.after && $0.sequence >= state.oldest }.prefix(
            state.scanned)
        let wanted = rows.filter { names?.contains($0.name) ?? true }
        let limit = min(read.limit == 0 ? .max : Int(read.limit), state.pageSize)
        let events = Array(wanted.prefix(limit))
        let through =
            wanted.count > limit ? events.last?.sequence ?? 0 : rows.last?.sequence ?? max(head, read.after)
        return LogPage(
            epoch: epoch,
            events: events.map {
                LogPage.Event(name: $0.name, schema: $0.schema, sequence: $0.sequence, body: body($0))
            },
            oldest: state.oldest, through: through, head: head)
    }
    static func body(_ entry: Entry) -> [UInt8] {
        var body = entry.fields
        while body.count % 8 != 0 { body.append(0) }
        return body
            + Samples.body { for stamp in [entry.sequence, entry.sequence - 1, entry.time] { $0.uint64(stamp) } }
    }
}
