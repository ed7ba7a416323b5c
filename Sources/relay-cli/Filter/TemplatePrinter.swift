import RelayCore
import RelayTool
import RelayWire

/// Writes events by a template, a line each: what is the same in each of a kind is prepared.
struct TemplatePrinter {
    private struct Kind {
        let signature: String
        let told: [WireField]?
        let line: EventTemplate.Line
    }
    let template: EventTemplate
    private var fields = EventFields()
    private var kinds: [EventFields.Key: Kind] = [:]

    init(_ template: EventTemplate) { self.template = template }

    /// Takes the schemas that the service reports; earlier ones are forgotten.
    mutating func learn(_ interfaces: [IntrospectedInterface]) {
        fields.learn(interfaces)
        kinds = [:]
    }

    /// Returns what is wrong with the body.
    mutating func append(
        _ key: EventFields.Key, _ signature: String, _ told: [WireField]?, _ stamp: Stamp,
        _ body: UnsafeRawBufferPointer, transport: String, clock: inout EventClock, to output: inout ByteBuffer
    ) -> WireFault? {
        let known = kinds[key].flatMap { $0.signature == signature && $0.told == told ? $0.line : nil }
        let line = known ?? template.line(for: key, fields: fields.fields(of: key, signature: signature, told: told))
        if known == nil { kinds[key] = Kind(signature: signature, told: told, line: line) }
        return line.append(stamp, body, transport: transport, clock: &clock, to: &output)
    }
}
