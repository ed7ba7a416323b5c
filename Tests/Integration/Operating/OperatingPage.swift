import RelayTestKit
import Testing

/// docs/OPERATING.md: its command blocks and files, by the names in the comment above each.
struct OperatingPage {
    struct Block {
        let name: String
        let text: String
    }
    private(set) var commands: [Block] = []
    private(set) var files: [Block] = []
    private(set) var policies: [Block] = []

    /// Throws where a block has no name: it would not be tested.
    init() throws {
        let lines = try Programs.text("docs/OPERATING.md").split(separator: "\n", omittingEmptySubsequences: false)
        var start: Int?
        for (index, line) in lines.enumerated() where line.hasPrefix("```") {
            guard let first = start else {
                start = index
                continue
            }
            start = nil
            let text = lines[(first + 1)..<index].joined(separator: "\n") + "\n"
            switch lines[first] {
            case "```sh": commands.append(Block(name: try Self.name("run", lines[first - 1]), text: text))
            case "```ini": files.append(Block(name: try Self.name("unit", lines[first - 1]), text: text))
            case "```xml": policies.append(Block(name: try Self.name("policy", lines[first - 1]), text: text))
            default: Issue.record("line \(first + 1): nobody tests a block of this kind")
            }
        }
    }
    private static func name(_ kind: String, _ line: Substring) throws -> String {
        try #require(line.hasPrefix("<!-- \(kind): ") && line.hasSuffix(" -->"), "'\(line)' names no block")
        return String(line.dropFirst(kind.count + 7).dropLast(4))
    }
    func command(_ name: String) throws -> String {
        try #require(commands.first { $0.name == name }, "the page has no block '\(name)'").text
    }
}
