import RelayCore
import RelayTool
import RelayWire

/// Writes events and gaps, a line each.
struct EventPrinter {
    private struct Key: Hashable {
        let interface: String
        let name: String
    }
    private let style: OutputStyle
    private var clock: EventClock
    private var lines: [Key: EventLine] = [:]
    /// The fields whose values have names.
    private var shapes: [Key: [String: Shape]] = [:]
    /// As the last event of the name was written.
    private var written: [Key: (fields: [WireField], line: EventLine)] = [:]

    /// The events that are states of documents, and what was written of each last.
    private var documents: [Key: DocumentChange] = [:]
    /// In place of lines of the usual form.
    private var template: TemplatePrinter?

    init(style: OutputStyle, clock: EventClock, template: EventTemplate? = nil) {
        (self.style, self.clock) = (style, clock)
        self.template = template.map { TemplatePrinter($0) }
    }
    /// Whether gaps have no place among the lines.
    var notesGaps: Bool { template != nil }

    /// Takes the schemas that the service reports; earlier ones are forgotten.
    mutating func learn(_ interfaces: [IntrospectedInterface]) {
        (lines, shapes, written, documents) = ([:], [:], [:], [:])
        template?.learn(interfaces)
        for interface in interfaces {
            for event in interface.events {
                if interface.isDocument(event.name) {
                    documents[Key(interface: interface.name, name: event.name)] = DocumentChange()
                }
                let fields = FieldsPrinter(event.fields, signature: event.signature, style: style)
                for field in event.fields where field.shape != field.shape.unnamed {
                    shapes[Key(interface: interface.name, name: event.name), default: [:]][field.name] = field.shape
                }
                lines[Key(interface: interface.name, name: event.name)] =
                    EventLine(event.name, of: interface.name, fields: fields, style: style)
            }
        }
    }

    /// Returns what is wrong with the event's body, which its line shows as far as it can be read.
    mutating func append(_ event: Envelope, to output: inout ByteBuffer) -> WireFault? {
        if template != nil {
            let key = EventFields.Key(interface: event.interface, name: event.name)
            return event.body.withUnsafeBytes { body in
                template?.append(
                    key, event.signature, event.fields, event.stamp, body, transport: "\(event.transport)",
                    clock: &clock, to: &output)
            }
        }
        let line = line(of: event)
        let transport: StaticString =
            switch event.transport {
            case .signal: "signal"
            case .ring: "ring"
            case .journal: "journal"
            }
        let changed = style.json ? nil : documents[Key(interface: event.interface, name: event.name)]?.take(event)
        return event.body.withUnsafeBytes {
            line.append(event.stamp, $0, only: changed, transport: transport, clock: &clock, to: &output)
        }
    }

    /// What a document is now, which is compared with its next change. `now` is when it was asked for.
    mutating func append(_ state: DocumentState, now: UInt64, to output: inout ByteBuffer) -> WireFault? {
        let event = state.envelope(at: now)
        let line = line(of: event)
        _ = documents[Key(interface: event.interface, name: event.name)]?.take(event)
        return event.body.withUnsafeBytes {
            line.append(event.stamp, $0, transport: "state", clock: &clock, to: &output)
        }
    }

    /// `now` is when the gap was noticed: the events in it have no time.
    mutating func append(_ gap: Gap, of interface: String, now: UInt64, to output: inout ByteBuffer) {
        // The run ended at an unknown sequence.
        let isOpen = gap.isOpenEnded
        if style.json {
            output.append("{\"gap\":{\"interface\":")
            SafeText.append(quoted: interface, to: &output)
            output.append(",\"first\":")
            output.append(decimal: gap.sequences.lowerBound)
            output.append(",\"last\":")
            if isOpen { output.append("null") } else { output.append(decimal: gap.sequences.upperBound) }
            output.append(",\"count\":")
            if let count = gap.count { output.append(decimal: Int64(count)) } else { output.append("null") }
            output.append(",\"reason\":")
            SafeText.append(quoted: gap.reason.rawValue, to: &output)
            if let common = gap.commonThrough {
                output.append(",\"commonThrough\":")
                output.append(decimal: common)
            }
            output.append("}}\n")
            return
        }
        if style.hasColor { output.append(Color.gap) }
        clock.append(time: now, to: &output)
        if gap.reason == .epochChanged && gap.epoch == 0 {
            // A whole run may have come and gone unseen: its numbers would look like those of the last one.
            output.append(" gap: what ")
            SafeText.append(interface, to: &output)
            output.append(" published meanwhile is unknown (")
        } else if let common = gap.commonThrough {
            output.append(" gap: the history of ")
            SafeText.append(interface, to: &output)
            output.append(common == 0 ? " is another one" : " is another one after #")
            if common > 0 { output.append(decimal: common) }
            output.append(" (")
        } else {
            output.append(" gap: #")
            output.append(decimal: gap.sequences.lowerBound)
            if isOpen {
                output.append(" and all after it")
            } else if gap.sequences.lowerBound < gap.sequences.upperBound {
                output.append(" to #")
                output.append(decimal: gap.sequences.upperBound)
            }
            output.append(" of ")
            SafeText.append(interface, to: &output)
            output.append(" missing (")
        }
        if let count = gap.count {
            output.append(decimal: Int64(count))
            output.append(count == 1 ? " event, " : " events, ")
        }
        SafeText.append(gap.reason.rawValue, to: &output)
        output.append(")")
        if style.hasColor { output.append(Color.reset) }
        output.append(byte: UInt8(ascii: "\n"))
    }

    /// Events that were left out because there were too many to show.
    mutating func append(skipped count: UInt64, of interface: String, now: UInt64, to output: inout ByteBuffer) {
        if style.json {
            output.append("{\"skipped\":{\"interface\":")
            SafeText.append(quoted: interface, to: &output)
            output.append(",\"events\":")
            output.append(decimal: count)
            output.append("}}\n")
            return
        }
        if style.hasColor { output.append(Color.time) }
        clock.append(time: now, to: &output)
        output.append(" … ")
        output.append(grouped: count)
        output.append(" skipped of ")
        SafeText.append(interface, to: &output)
        if style.hasColor { output.append(Color.reset) }
        output.append(byte: UInt8(ascii: "\n"))
    }

    /// With the names that the service's description has for the values of this field, if it is of the same shape there.
    private func named(_ shape: Shape, _ field: String, of key: Key) -> Shape {
        guard let known = shapes[key]?[field], known.unnamed == shape else { return shape }
        return known
    }
    private mutating func line(of event: Envelope) -> EventLine {
        let key = Key(interface: event.interface, name: event.name)
        if let told = event.fields {
            // Rows of the journal may be of any version of the event; one follows another of its kind, nearly always.
            if let known = written[key], known.fields == told, known.line.fields.signature == event.signature {
                return known.line
            }
            let fields = told.map { field in
                IntrospectedField(name: field.name, shape: named(Shape(field.type), field.name, of: key))
            }
            if fields.map(\.shape.signature).joined() + WireSchema.stampSignature == event.signature {
                let printer = FieldsPrinter(fields, signature: event.signature, style: style)
                let line = EventLine(event.name, of: event.interface, fields: printer, style: style)
                written[key] = (told, line)
                return line
            }
        }
        if let known = lines[key], known.fields.signature == event.signature { return known }
        // The service reported another schema, or none, for this event: its signature comes with it.
        let fields =
            FieldsPrinter(unknown: event.signature, leavingOut: 3, style: style)
            ?? FieldsPrinter([], signature: event.signature, style: style)
        return EventLine(event.name, of: event.interface, fields: fields, style: style)
    }
}
