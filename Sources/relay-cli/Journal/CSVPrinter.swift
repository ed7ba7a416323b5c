import RelayCore
import RelayTool
import RelayWire

/// RFC 4180, with a header: the stamp, and a column for each field of the one event, or of any events their fields as JSON.
struct CSVPrinter: JournalPrinter {
    private struct Row {
        let event: String
        let fields: [IntrospectedField]
        let signature: String
        /// Where each field stands; of the columns of fields.
        let columns: [Int]
        /// For the generic form.
        let object: FieldsPrinter
    }
    private struct Source {
        let interface: String
        var rows: [UInt32: Row] = [:]
    }
    private static let stamp = ["sequence", "epoch", "previous", "publishedAt"]

    /// The one event that has columns; nil: any event.
    private let only: String?
    private let cells: CSVCells
    private let note: (String) -> Void
    private var columns: [String] = []
    private var hasBegun = false
    /// By their numbers, which are given from 0 on.
    private var sources: [Source] = []
    /// Cells of a row before they are in their order; used again.
    private var scratch = ByteBuffer()
    private var places: [Range<Int>] = []

    init(columnsOf only: String?, cells: CSVCells, note: @escaping (String) -> Void) {
        (self.only, self.cells, self.note) = (only, cells, note)
    }

    mutating func learn(_ schemas: [UInt32: EventSchema], of interface: String, source: Int) throws(CLIFailure) {
        var rows: [UInt32: Row] = [:]
        // The highest number is the present one: its fields come first, in their order.
        for (number, schema) in schemas.sorted(by: { $0.key > $1.key }) {
            let fields = schema.fields.map { IntrospectedField(name: $0.name, shape: Shape($0.type)) }
            var places: [Int] = []
            if schema.event == only { for field in fields { places.append(try column(of: field.name, schema.event)) } }
            let signature = fields.map(\.shape.signature).joined() + WireSchema.stampSignature
            rows[number] = Row(
                event: schema.event, fields: fields, signature: signature, columns: places,
                object: FieldsPrinter(fields, signature: signature, style: OutputStyle(json: true)))
        }
        let learned = Source(interface: interface, rows: rows)
        if source < sources.count { sources[source] = learned } else { sources.append(learned) }
    }
    private mutating func column(of field: String, _ event: String) throws(CLIFailure) -> Int {
        if let known = columns.firstIndex(of: field) { return known }
        if hasBegun {
            throw CLIFailure(
                .software, "\(event) has a new field, '\(field)', which the header lacks; begin the export again")
        }
        columns.append(field)
        return columns.count - 1
    }

    mutating func begin(_ output: inout ByteBuffer) {
        hasBegun = true
        var header = Self.stamp
        if only == nil {
            header = ["event", "interface"] + header + ["fields"]
        } else {
            // No event can have a field of the stamp's other names.
            header += columns.map { $0 == "epoch" ? "fields.epoch" : $0 }
        }
        for (index, name) in header.enumerated() {
            if index > 0 { output.append(byte: UInt8(ascii: ",")) }
            cells.append(text: name, to: &output)
        }
        output.append("\r\n")
    }
    func knows(_ schema: UInt32, source: Int) -> Bool { sources[source].rows[schema] != nil }

    mutating func append(
        _ event: StoredPage.Event, _ body: UnsafeRawBufferPointer, source: Int, to output: inout ByteBuffer
    ) throws(CLIFailure) {
        guard let row = sources[source].rows[event.schema], row.signature == event.signature, row.event == event.name
        else {
            throw CLIFailure(
                .software,
                "\(event.name) #\(event.stamp.sequence) came as '\(event.signature)', which its schema \(event.schema) is "
                    + "not; --format json shows it by its signature")
        }
        do throws(WireFault) {
            if only == nil {
                try appendGeneric(event, body, row, sources[source].interface, to: &output)
            } else {
                try appendColumns(event, body, row, to: &output)
            }
        } catch {
            throw CLIFailure(.software, "\(event.name) #\(event.stamp.sequence) cannot be read: \(error)")
        }
        output.append("\r\n")
    }

    mutating func append(_ gap: Gap, of interface: String, now: UInt64, to output: inout ByteBuffer) {
        note(gap.sentence(of: interface))
    }

    // MARK: Rows

    private mutating func appendGeneric(
        _ event: StoredPage.Event, _ body: UnsafeRawBufferPointer, _ row: Row, _ interface: String,
        to output: inout ByteBuffer
    ) throws(WireFault) {
        cells.append(text: event.name, to: &output)
        output.append(byte: UInt8(ascii: ","))
        cells.append(text: interface, to: &output)
        output.append(byte: UInt8(ascii: ","))
        append(event.stamp, to: &output)
        output.append(byte: UInt8(ascii: ","))
        scratch.removeAll()
        if let fault = row.object.appendObject(body, to: &scratch) { throw fault }
        cells.append(quoted: scratch.bytes, to: &output)
    }

    private mutating func appendColumns(
        _ event: StoredPage.Event, _ body: UnsafeRawBufferPointer, _ row: Row, to output: inout ByteBuffer
    ) throws(WireFault) {
        append(event.stamp, to: &output)
        scratch.removeAll()
        places.removeAll(keepingCapacity: true)
        places.append(contentsOf: repeatElement(0..<0, count: columns.count))
        var reader = WireReader(body)
        for (field, column) in zip(row.fields, row.columns) {
            let start = scratch.count
            try cells.append(field.shape, from: &reader, to: &scratch)
            places[column] = start..<scratch.count
        }
        for place in places {
            output.append(byte: UInt8(ascii: ","))
            output.append(scratch.bytes[place])
        }
    }

    private func append(_ stamp: Stamp, to output: inout ByteBuffer) {
        output.append(decimal: stamp.sequence)
        output.append(byte: UInt8(ascii: ","))
        output.append(decimal: stamp.epoch)
        output.append(byte: UInt8(ascii: ","))
        output.append(decimal: stamp.previous)
        output.append(byte: UInt8(ascii: ","))
        EventClock.append(timestamp: stamp.publishedAt.microseconds, to: &output)
    }
}

/// Writes values as cells of a CSV row: texts as they are, numbers with all their digits, what has parts as JSON. A missing
/// value is nothing, an empty text is `""`.
struct CSVCells {
    /// For a terminal: what would act on it is shown as `\uXXXX`.
    var escapesControls = false
    /// Whether a text that a spreadsheet would run is given as it is, without an apostrophe before it.
    var isRaw = false

    /// Throws when the bytes are no such value.
    func append(_ shape: Shape, from reader: inout WireReader, to output: inout ByteBuffer) throws(WireFault) {
        switch shape {
        case .basic(.string): append(text: try reader.string(), to: &output)
        case .basic(.objectPath): append(text: try reader.objectPath(), to: &output)
        case .basic(.signature): append(text: try reader.signature().text, to: &output)
        case .basic(.double): output.append(ValuePrinter.text(try reader.double()))
        case .named(let type, _): try append(.basic(type), from: &reader, to: &output)
        case .basic: try ValuePrinter.append(shape, from: &reader, to: &output)
        case .optional(let wrapped):
            let end = try reader.beginArray(elementAlignment: wrapped.alignment)
            let start = reader.position
            if start == end { return }
            try append(wrapped, from: &reader, to: &output)
            if reader.position < end { throw WireFault(.optional, at: start) }
            try reader.endArray(end, elements: start)
        case .tagged(let cases):
            var ahead = reader
            try ahead.align(8)
            let name = try ahead.string()
            if cases.contains(where: { $0.name == name && $0.members.isEmpty }) {
                try reader.skip(shape.type)
                append(text: name, to: &output)
            } else {
                fallthrough
            }
        case .variant, .array, .dictionary, .structure:
            var json = ByteBuffer()
            try ValuePrinter.append(shape, from: &reader, to: &json)
            append(quoted: json.bytes, to: &output)
        }
    }

    func append(text: String, to output: inout ByteBuffer) {
        // A number is none of these texts: "-5" stays a number where the field has numbers.
        let isFormula = text.utf8.first.map { Self.formulaStarts.contains($0) } ?? false
        appendCell(isFormula && !isRaw ? "'" + text : text, to: &output)
    }
    /// What spreadsheets take for the beginning of a formula, and run: `=`, `+`, `-`, `@`, TAB and CR.
    private static let formulaStarts = Array("=+-@\t\r".utf8)

    private func appendCell(_ text: String, to output: inout ByteBuffer) {
        if !text.isEmpty && text.utf8.allSatisfy(Self.isPlain) { return output.append(text) }
        if escapesControls {
            var safe = ByteBuffer()
            SafeText.append(text, to: &safe)
            append(quoted: safe.bytes, to: &output)
        } else {
            append(quoted: Array(text.utf8), to: &output)
        }
    }

    /// In quotes, which are doubled within.
    func append(quoted bytes: [UInt8], to output: inout ByteBuffer) {
        let quote = UInt8(ascii: "\"")
        output.append(byte: quote)
        for byte in bytes {
            if byte == quote { output.append(byte: quote) }
            output.append(byte: byte)
        }
        output.append(byte: quote)
    }

    /// Printable ASCII that needs no quotes.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: ",")
    }
}
