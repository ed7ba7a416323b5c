import RelayCore
import RelayTool

/// Writes values as cells of a CSV row: texts as they are, numbers with all their digits, what has parts as JSON. A missing
/// value is nothing, an empty text is `""`.
struct CSVCells {
    /// For a terminal: what would act on it is shown as `\uXXXX`.
    let escapesControls: Bool

    /// Throws when the bytes are no such value.
    func append(_ shape: Shape, from reader: inout WireReader, to output: inout ByteBuffer) throws(WireFault) {
        switch shape {
        case .basic(.string): append(text: try reader.string(), to: &output)
        case .basic(.objectPath): append(text: try reader.objectPath(), to: &output)
        case .basic(.signature): append(text: try reader.signature().text, to: &output)
        case .basic(.double): output.append(ValuePrinter.text(try reader.double()))
        case .basic: try ValuePrinter.append(shape, from: &reader, to: &output)
        case .optional(let wrapped):
            let end = try reader.beginArray(elementAlignment: wrapped.alignment)
            let start = reader.position
            if start == end { return }
            try append(wrapped, from: &reader, to: &output)
            if reader.position < end { throw WireFault(.optional, at: start) }
            try reader.endArray(end, elements: start)
        case .variant, .array, .dictionary, .structure:
            var json = ByteBuffer()
            try ValuePrinter.append(shape, from: &reader, to: &json)
            append(quoted: json.bytes, to: &output)
        }
    }

    func append(text: String, to output: inout ByteBuffer) {
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
