import RelayCore
import RelayTool
import RelayWire

/// Writes what the journal has. The seam between reading and the forms of output.
protocol JournalPrinter {
    /// Takes the schemas of an interface, in the order of the sources' numbers; once more when a page has a number that
    /// they lack.
    mutating func learn(_ schemas: [UInt32: EventSchema], of interface: String, source: Int) throws(CLIFailure)
    /// What stands before all events; once every interface's schemas are known.
    mutating func begin(_ output: inout ByteBuffer) throws(CLIFailure)
    /// Whether a schema's number is known.
    func knows(_ schema: UInt32, source: Int) -> Bool
    /// Whether an event is to be written.
    mutating func admits(_ event: StoredPage.Event, _ body: UnsafeRawBufferPointer, source: Int) -> Bool
    /// Whether there may be events that are not.
    var leavesOut: Bool { get }
    mutating func append(
        _ event: StoredPage.Event, _ body: UnsafeRawBufferPointer, source: Int, to output: inout ByteBuffer
    ) throws(CLIFailure)
    /// `now` is when the gap was noticed, in microseconds since the Unix epoch.
    mutating func append(_ gap: Gap, of interface: String, now: UInt64, to output: inout ByteBuffer)
}

extension JournalPrinter {
    mutating func admits(_ event: StoredPage.Event, _ body: UnsafeRawBufferPointer, source: Int) -> Bool { true }
    var leavesOut: Bool { false }
}

/// A line for each event, as `watch` has it: for people, or JSON.
struct LinesPrinter: JournalPrinter {
    private struct Source {
        let interface: String
        var lines: [UInt32: EventLine] = [:]
    }
    private let style: OutputStyle
    private let notesGaps: Bool
    private let note: (String) -> Void
    private var gaps: EventPrinter
    private var clock: EventClock
    /// By their numbers, which are given from 0 on.
    private var sources: [Source] = []

    /// `notesGaps`: also on stderr.
    init(style: OutputStyle, clock: EventClock, notesGaps: Bool = false, note: @escaping (String) -> Void) {
        (self.style, self.clock, self.notesGaps, self.note) = (style, clock, notesGaps, note)
        gaps = EventPrinter(style: style, clock: clock)
    }

    mutating func learn(_ schemas: [UInt32: EventSchema], of interface: String, source: Int) {
        let learned = Source(
            interface: interface,
            lines: schemas.mapValues { schema in
                let fields = schema.fields.map { IntrospectedField(name: $0.name, shape: Shape($0.type)) }
                let signature = fields.map(\.shape.signature).joined() + WireSchema.stampSignature
                return EventLine(
                    schema.event, of: interface, fields: FieldsPrinter(fields, signature: signature, style: style),
                    style: style)
            })
        if source < sources.count { sources[source] = learned } else { sources.append(learned) }
    }
    func begin(_ output: inout ByteBuffer) {}
    func knows(_ schema: UInt32, source: Int) -> Bool { sources[source].lines[schema] != nil }

    mutating func append(
        _ event: StoredPage.Event, _ body: UnsafeRawBufferPointer, source: Int, to output: inout ByteBuffer
    ) {
        let fault = line(of: event, source).append(event.stamp, body, transport: "journal", clock: &clock, to: &output)
        if let fault { note("\(event.name) #\(event.stamp.sequence) cannot be read in full: \(fault)") }
    }

    mutating func append(_ gap: Gap, of interface: String, now: UInt64, to output: inout ByteBuffer) {
        gaps.append(gap, of: interface, now: now, to: &output)
        if notesGaps { note(gap.sentence(of: interface)) }
    }

    private func line(of event: StoredPage.Event, _ source: Int) -> EventLine {
        let known = sources[source].lines[event.schema]
        if let known, known.fields.signature == event.signature { return known }
        // The service's description does not fit, but each event has its signature.
        let fields =
            FieldsPrinter(unknown: event.signature, leavingOut: 3, style: style)
            ?? FieldsPrinter([], signature: event.signature, style: style)
        return EventLine(event.name, of: sources[source].interface, fields: fields, style: style)
    }
}

extension Gap {
    /// For stderr: what the journal has no more.
    func sentence(of interface: String) -> String {
        let (first, last) = (sequences.lowerBound, sequences.upperBound)
        let (one, more) =
            reason == .unrecorded ? ("was never kept", "were never kept") : ("is no longer kept", "are no longer kept")
        return first == last
            ? "gap: #\(first) of \(interface) \(one)" : "gap: #\(first) to #\(last) of \(interface) \(more)"
    }
}
