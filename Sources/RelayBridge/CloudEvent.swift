import Glibc
import RelayCore
import RelayMirrors
import RelayTool
import RelayWire

/// An event for consumers that know nothing of Relay: a CloudEvent of version 1.0, in the binary mode of its protocol
/// binding for NATS, with a body in JSON.
///
///     subject  cloudevents.kitchen.org~example~Printer.org~example~Printing1.JobPrinted
///     headers  ce-specversion, ce-id, ce-source, ce-type, ce-time, content-type
///     body     {"jobID":3,"pages":2}
///
/// A gap is an event, too, named `Gap`: its id ends with `-gap`.
struct CloudEvent: Hashable {
    /// Of the interface, as the last part of the subject.
    let name: String
    let headers: [String: String]
    let body: [UInt8]
    private static let gap = "Gap"

    init(_ delivery: EventOrGap<Envelope>, of channel: ChannelName) throws {
        switch delivery {
        case .event(let event, let stamp):
            let id = "\(stamp.epoch)-\(stamp.sequence)"
            self.init(event.name, id, stamp.publishedAt, channel, try Self.json(event))
        case .gap(let gap):
            let (first, last) = (gap.sequences.lowerBound, gap.sequences.upperBound)
            var body = ByteBuffer()
            body.append("{\"first\":\(first),\"last\":\(gap.isOpenEnded ? "null" : "\(last)"),\"reason\":")
            SafeText.append(quoted: gap.reason.rawValue, to: &body)
            body.append(",\"description\":")
            SafeText.append(quoted: gap.description, to: &body)
            body.append("}")
            self.init(Self.gap, "\(gap.epoch)-\(first)-gap", .now, channel, body.bytes)
        }
    }
    private init(_ name: String, _ id: String, _ time: Timestamp, _ channel: ChannelName, _ body: [UInt8]) {
        (self.name, self.body) = (name, body)
        headers = [
            "ce-specversion": "1.0", "ce-id": id, "ce-source": "relay://\(channel.host)/\(channel.service)",
            "ce-type": "\(channel.interface).\(name)", "ce-time": Self.text(time), "content-type": "application/json",
        ]
    }
    /// An object of the fields. An array, where the service has not reported them, or reports others than the body has:
    /// no event shall hold up those behind it.
    private static func json(_ event: Envelope) throws -> [UInt8] {
        if let fields = event.fields, let object = try? json(event, fields.map { ($0.name, Shape($0.type)) }) {
            return object
        }
        let types = try Signature(event.signature).types.dropLast(WireSchema.stampNames.count)
        return try json(event, types.map { (nil, Shape($0)) })
    }
    private static func json(_ event: Envelope, _ fields: [(name: String?, shape: Shape)]) throws -> [UInt8] {
        let isObject = fields.contains { $0.name != nil }
        var output = ByteBuffer()
        output.append(isObject ? "{" : "[")
        try event.body.withUnsafeBytes { body in
            var reader = WireReader(body)
            for (index, field) in fields.enumerated() {
                if index > 0 { output.append(",") }
                if let name = field.name {
                    SafeText.append(quoted: name, to: &output)
                    output.append(":")
                }
                try ValuePrinter.append(field.shape, from: &reader, to: &output)
            }
        }
        output.append(isObject ? "}" : "]")
        return output.bytes
    }
    /// As RFC 3339 has it, in UTC.
    private static func text(_ time: Timestamp) -> String {
        var (seconds, parts) = (time_t(time.microseconds / 1_000_000), tm())
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &parts)
        let fraction = String(time.microseconds % 1_000_000 + 1_000_000).dropFirst()
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) + ".\(fraction)Z"
    }

    /// The place of an event by its id; nil for a gap's, and for what is no id of these.
    static func place(_ id: String) -> (epoch: UInt64, sequence: UInt64)? {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = UInt64(parts[0]), let sequence = UInt64(parts[1]) else { return nil }
        return (epoch, sequence)
    }
}

extension NatsChannel {
    private static let cloudEvents = "cloudevents"
    /// The stream that has the same events for other consumers.
    package var cloudEventStream: String { "\(Self.cloudEvents)\(stream.dropFirst(stream.prefix { $0 != "~" }.count))" }
    /// The subject of one of its events; `*` stands for all.
    package func cloudEventSubject(_ event: String) -> String {
        "\(Self.cloudEvents)\(subjects.dropFirst(subjects.prefix { $0 != "." }.count).dropLast())\(event)"
    }
}
