import RelayTool

/// What came from the bus or the command line, made fit for a terminal and for JSON: nothing in it can move a cursor,
/// set a title, end a line or turn the direction of the text.
enum SafeText {
    /// A JSON string, quotes included. All that is not plainly visible is escaped, which JSON allows.
    static func append(quoted text: String, to output: inout ByteBuffer) {
        output.append(byte: UInt8(ascii: "\""))
        if isPlain(text) {
            output.append(text)
        } else {
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\"": output.append("\\\"")
                case "\\": output.append("\\\\")
                case "\n": output.append("\\n")
                case "\r": output.append("\\r")
                case "\t": output.append("\\t")
                case _ where scalar.isPlainlyVisible: output.append(scalar)
                default: output.append(escaped: scalar)
                }
            }
        }
        output.append(byte: UInt8(ascii: "\""))
    }

    /// A name, without quotes.
    static func append(_ text: String, to output: inout ByteBuffer) {
        if isPlain(text) { return output.append(text) }
        for scalar in text.unicodeScalars {
            if scalar.isPlainlyVisible { output.append(scalar) } else { output.append(escaped: scalar) }
        }
    }

    /// Printable ASCII that means itself in JSON: nearly all that comes.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
