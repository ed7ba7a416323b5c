package import RelayWire

/// `org.eventrelay.Stream1`: the messages with which relay and service keep a stream whole. See docs/internals/PROTOCOL.md.
package enum Stream1 {
    package static let name = "org.eventrelay.Stream1"

    /// The object that carries an interface: its name with slashes.
    package static func path(of interface: String) -> String {
        "/" + interface.split(separator: ".").joined(separator: "/")
    }

    package static let description = InterfaceDescription(
        name,
        methods: [
            .init(
                "Attach",
                in: [.init("epoch", "t"), .init("after", "t"), .init("names", "as"), .init("options", "a{sv}")],
                out: [
                    .init("epoch", "t"), .init("from", "t"), .init("oldest", "t"), .init("head", "t"),
                    .init("last", "a{st}"), .init("details", "a{sv}"),
                ]),
            .init(
                "Read",
                in: [.init("names", "as"), .init("after", "t"), .init("limit", "u")],
                out: [
                    .init("epoch", "t"), .init("events", "a(suv)"), .init("gaps", "a(tt)"), .init("oldest", "t"),
                    .init("through", "t"), .init("head", "t"),
                ]),
            .init("Runs", in: [.init("after", "t"), .init("limit", "u")], out: [.init("runs", "a(tt)")]),
            .init("OpenReplay", in: [.init("socket", "h")]),
            .init(
                "Replay", in: [.init("names", "as"), .init("after", "t"), .init("limit", "u")],
                out: [.init("bytes", "u")]),
            .init("OpenRing", out: [.init("ring", "h"), .init("waitPage", "h")]),
            .init("CloseRing"),
            .init("Barrier", out: [.init("epoch", "t"), .init("sequence", "t"), .init("last", "a{st}")]),
            .init(
                "GetDocument", in: [.init("name", "s")],
                out: [.init("epoch", "t"), .init("sequence", "t"), .init("schema", "u"), .init("state", "v")]),
            .init("Cancel", in: [.init("serial", "u")]),
            .init("Received", in: [.init("serial", "u")]),
            .init("Schemas", out: [.init("schemas", "a{u(sas)}")]),
            .init("Contract", out: [.init("id", "s"), .init("contracts", "a{ss}")]),
            .init("Status", out: [.init("status", "a{sv}")]),
        ],
        signals: [
            .init("Head", [.init("epoch", "t"), .init("sequence", "t"), .init("last", "a{st}")]),
            .init(progress, [.init("serial", "u"), .init("progress", "v")]),
            .init("End", [.init("epoch", "t"), .init("sequence", "t"), .init("last", "a{st}")]),
            .init("Reattach", []),
        ],
        properties: [
            .init(.init("Epoch", "t"), emits: .constant),
            .init(.init("Durability", "s"), emits: .constant),
            .init(.init("Sequence", "t"), emits: .never),
        ])

    package static let attachSignature = "ttasa{sv}"
    package static let attachmentSignature = "tttta{st}a{sv}"
    package static let readSignature = "astu"
    package static let pageSignature = "ta(suv)a(tt)ttt"
    package static let runsSignature = "tu"
    package static let runPageSignature = "a(tt)"
    package static let openRingSignature = "hh"
    package static let openReplaySignature = "h"
    package static let replaySignature = "u"
    package static let statusSignature = "a{sv}"
    package static let headSignature = "tta{st}"
    package static let progress = "Progress"
    package static let progressSignature = "uv"
    package static let cancelSignature = "u"
    package static let receivedSignature = "u"
    /// The methods whose every answer a caller confirms by `Received`, be it an error: what came before it was read, or
    /// was dropped.
    package static let confirmed: Set<String> = ["Read", "Replay", "Runs", "OpenRing"]
    package static let schemasSignature = "a{u(sas)}"
    package static let contractSignature = "sa{ss}"
    /// Stands for every name in `Attach`. No event can have it.
    package static let allNames = "*"
    /// More names than an interface can have; past it a request is refused.
    package static let maximumNames = 4_096

    // MARK: Attach

    package static func write(_ request: AttachRequest, into writer: inout WireWriter) throws(RelayError) {
        writer.uint64(request.epoch)
        writer.uint64(request.after)
        try write(request.names, into: &writer)
        try writer.value(request.options.value, as: AttachOptions.type)
    }
    package static func readAttach(_ reader: inout WireReader) throws(WireFault) -> AttachRequest {
        AttachRequest(
            epoch: try reader.uint64(), after: try reader.uint64(), names: try readNames(&reader),
            options: AttachOptions(try reader.value(AttachOptions.type)))
    }
    package static func write(_ attachment: Attachment, into writer: inout WireWriter) throws(RelayError) {
        for number in [attachment.epoch, attachment.from, attachment.oldest, attachment.head] { writer.uint64(number) }
        try write(attachment.last, into: &writer)
        try writer.value(attachment.details.value, as: AttachOptions.type)
    }
    package static func readAttachment(_ reader: inout WireReader) throws(WireFault) -> Attachment {
        Attachment(
            epoch: try reader.uint64(), from: try reader.uint64(), oldest: try reader.uint64(),
            head: try reader.uint64(), last: try readLast(&reader),
            details: AttachOptions(try reader.value(AttachOptions.type)))
    }

    // MARK: Runs

    package static func write(_ runs: [StreamRun], into writer: inout WireWriter) throws(RelayError) {
        let pairs = writer.beginArray(elementAlignment: 8)
        for run in runs {
            writer.uint64(run.epoch)
            writer.uint64(run.first)
        }
        try writer.endArray(pairs)
    }
    package static func readRuns(_ reader: inout WireReader) throws(WireFault) -> [StreamRun] {
        try reader.elements { reader throws(WireFault) in
            StreamRun(epoch: try reader.uint64(), first: try reader.uint64())
        }
    }

    // MARK: Head and End

    package static func write(_ head: StreamHead, into writer: inout WireWriter) throws(RelayError) {
        writer.uint64(head.epoch)
        writer.uint64(head.sequence)
        try write(head.last, into: &writer)
    }
    package static func readHead(_ reader: inout WireReader) throws(WireFault) -> StreamHead {
        StreamHead(epoch: try reader.uint64(), sequence: try reader.uint64(), last: try readLast(&reader))
    }

    // MARK: Schemas

    package static func write(_ schemas: [UInt32: EventSchema], into writer: inout WireWriter) throws(RelayError) {
        let entries = writer.beginArray(elementAlignment: 8)
        for (number, schema) in schemas.sorted(by: { $0.key < $1.key }) {
            writer.align(8)
            writer.uint32(number)
            writer.align(8)
            try writer.string(schema.event)
            try write(schema.fields.map(\.contractText), into: &writer)
        }
        try writer.endArray(entries)
    }
    /// Throws `SchemaMismatch` when a field's description cannot be read, `InvalidArgument` for what is no event's name.
    package static func readSchemas(_ reader: inout WireReader) throws -> [UInt32: EventSchema] {
        let entries = try reader.elements { reader throws(WireFault) in
            let number = try reader.uint32()
            try reader.align(8)
            return (number, event: try reader.string(), fields: try readNames(&reader))
        }
        var schemas: [UInt32: EventSchema] = [:]
        for (number, event, fields) in entries {
            try BusNames.check(event, as: .member)
            schemas[number] = EventSchema(event: event, fields: try fields.map { try WireField(parsing: $0) })
        }
        return schemas
    }

    // MARK: Contract

    /// - Parameter contracts: the texts, by the names of their interfaces.
    package static func write(
        _ id: ContractID, _ contracts: [String: String], into writer: inout WireWriter
    ) throws(RelayError) {
        try writer.string(id.description)
        let entries = writer.beginArray(elementAlignment: 8)
        for (name, text) in contracts.sorted(by: { $0.key < $1.key }) {
            writer.align(8)
            try writer.string(name)
            try writer.string(text)
        }
        try writer.endArray(entries)
    }
    /// Throws `SchemaMismatch` for an id that is none.
    package static func readContract(
        _ reader: inout WireReader
    ) throws -> (id: ContractID, contracts: [String: String]) {
        let text = try reader.string()
        guard let id = ContractID(text) else {
            throw RelayError(.schemaMismatch, "\(BusNames.quoted(text)) is no contract's id")
        }
        let entries = try reader.elements { reader throws(WireFault) in (try reader.string(), try reader.string()) }
        return (id, Dictionary(entries) { $1 })
    }

    // MARK: Parts

    static func write(_ names: [String], into writer: inout WireWriter) throws(RelayError) {
        let array = writer.beginArray(elementAlignment: 4)
        for name in names { try writer.string(name) }
        try writer.endArray(array)
    }
    static func readNames(_ reader: inout WireReader) throws(WireFault) -> [String] {
        try reader.elements(alignment: 4) { reader throws(WireFault) in try reader.string() }
    }
    package static func write(_ last: [String: UInt64], into writer: inout WireWriter) throws(RelayError) {
        let array = writer.beginArray(elementAlignment: 8)
        for (name, sequence) in last.sorted(by: { $0.key < $1.key }) {
            writer.align(8)
            try writer.string(name)
            writer.uint64(sequence)
        }
        try writer.endArray(array)
    }
    package static func readLast(_ reader: inout WireReader) throws(WireFault) -> [String: UInt64] {
        let entries = try reader.elements { reader throws(WireFault) in (try reader.string(), try reader.uint64()) }
        return Dictionary(entries) { $1 }
    }
}
