/// A table of words: for the terminal or in Markdown.
public struct Table: Sendable {
    public let title: String
    public let heads: [String]
    public private(set) var rows: [[String]] = []
    public init(_ title: String, _ heads: [String]) { (self.title, self.heads) = (title, heads) }
    public mutating func add(_ row: [String]) { rows.append(row) }

    /// Columns as wide as their widest cell; the first to the left, numbers to the right.
    public var text: String {
        let widths = heads.indices.map { column in ([heads] + rows).map { $0[column].count }.max() ?? 0 }
        let lines = ([heads] + rows).map { row in
            row.enumerated().map { column, cell in
                let fill = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + fill : fill + cell
            }.joined(separator: "  ")
        }
        return ([title] + lines).joined(separator: "\n") + "\n"
    }
    public var markdown: String {
        func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
        let rule = heads.indices.map { $0 == 0 ? "---" : "---:" }
        return (["**\(title)**", "", line(heads), line(rule)] + rows.map(line)).joined(separator: "\n") + "\n"
    }
}
