import RelayCore
import RelayTool
import RelayWire

/// Of what the journal has, the events that `--where` asks for, in the form that `--format` asks for.
struct ViewedPrinter: JournalPrinter {
    private var lines: LinesPrinter
    private var sieve: EventSieve?
    private var template: TemplatePrinter?
    private var clock: EventClock
    private let note: (String) -> Void
    /// By the numbers of the sources and of their schemas.
    private var schemas: [[UInt32: EventSchema]] = []
    private var interfaces: [String] = []

    /// - Parameter offered: the service's introspection data. It has the names of values, which a journal lacks.
    init(
        _ view: EventView, _ lines: LinesPrinter, offered: [IntrospectedInterface], _ selection: EventSelection,
        clock: EventClock, note: @escaping (String) -> Void
    ) throws(CLIFailure) {
        (self.lines, self.clock, self.note) = (lines, clock, note)
        try view.check(offered, selection)
        sieve = view.filter.map { EventSieve($0) }
        try sieve?.learn(offered, selection)
        template = view.template.map { TemplatePrinter($0) }
        template?.learn(offered)
    }

    var leavesOut: Bool { sieve != nil }

    mutating func learn(_ schemas: [UInt32: EventSchema], of interface: String, source: Int) {
        lines.learn(schemas, of: interface, source: source)
        if source < self.schemas.count {
            self.schemas[source] = schemas
        } else {
            self.schemas.append(schemas)
            interfaces.append(interface)
        }
    }
    func begin(_ output: inout ByteBuffer) {}
    func knows(_ schema: UInt32, source: Int) -> Bool { lines.knows(schema, source: source) }

    mutating func admits(_ event: StoredPage.Event, _ body: UnsafeRawBufferPointer, source: Int) -> Bool {
        let (key, told) = kind(of: event, source)
        return sieve?.admits(key, event.signature, told, event.stamp, body) ?? true
    }
    mutating func append(
        _ event: StoredPage.Event, _ body: UnsafeRawBufferPointer, source: Int, to output: inout ByteBuffer
    ) {
        let (key, told) = kind(of: event, source)
        guard template != nil else { return lines.append(event, body, source: source, to: &output) }
        let fault = template?.append(
            key, event.signature, told, event.stamp, body, transport: "journal", clock: &clock, to: &output)
        if let fault { note("\(event.name) #\(event.stamp.sequence) cannot be read in full: \(fault)") }
    }
    mutating func append(_ gap: Gap, of interface: String, now: UInt64, to output: inout ByteBuffer) {
        if template != nil {
            note(gap.sentence(of: interface))
        } else {
            lines.append(gap, of: interface, now: now, to: &output)
        }
    }

    private func kind(of event: StoredPage.Event, _ source: Int) -> (EventFields.Key, [WireField]?) {
        (EventFields.Key(interface: interfaces[source], name: event.name), schemas[source][event.schema]?.fields)
    }
}
