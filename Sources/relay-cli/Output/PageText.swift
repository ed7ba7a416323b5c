import RelayTool

/// Lays words out for people, within a terminal's width.
enum PageText {
    /// A line that goes on in a column: what is too long for the width is continued below, in the same column. No word is
    /// broken; one that is longer than a line has one of its own.
    ///
    /// - Parameters:
    ///   - start: columns that the line has already.
    ///   - width: nil: one line, however long.
    static func append(_ text: String, at column: Int, from start: Int, width: Int?, to output: inout ByteBuffer) {
        guard let width, start + text.count > width else {
            output.append(shown(text))
            return
        }
        var position = start
        for (index, word) in text.split(separator: " ").enumerated() {
            if index > 0 && position + 1 + word.count > width {
                output.append("\n" + String(repeating: " ", count: column))
                position = column
            } else if index > 0 {
                output.append(" ")
                position += 1
            }
            output.append(shown(word))
            position += word.count
        }
    }
    /// A blank at which a line does not end.
    static let fixedBlank = "\u{A0}"
    private static func shown(_ text: some StringProtocol) -> String {
        String(text.map { $0 == "\u{A0}" ? " " : $0 })
    }

    /// Names, and beside each what it is, in a common column; a name that is too long for that has a line of its own.
    static func append(
        rows: [(name: String, text: String)], indent: Int, width: Int?, to output: inout ByteBuffer
    ) {
        let most = width.map { max(8, $0 * 2 / 5 - indent) } ?? 36
        let column =
            indent + (rows.map(\.name.count).filter { $0 <= most }.max() ?? 0) + 2
        for row in rows {
            output.append(String(repeating: " ", count: indent) + row.name)
            if !row.text.isEmpty {
                let start = indent + row.name.count
                output.append(
                    start + 2 > column
                        ? "\n" + String(repeating: " ", count: column) : String(repeating: " ", count: column - start))
                append(row.text, at: column, from: column, width: width, to: &output)
            }
            output.append("\n")
        }
    }

    /// A text of others', fit for a terminal.
    static func safe(_ text: String) -> String {
        var buffer = ByteBuffer()
        SafeText.append(text, to: &buffer)
        return buffer.text
    }
}
