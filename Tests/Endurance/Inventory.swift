import Foundation

/// The real list of things that the demo moves, too: rooms, and what is in them.
enum Inventory {
    struct Item: Sendable {
        let room: String
        let title: String
    }
    static func load() throws -> [Item] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../scripts/demo-inventory.csv")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst().compactMap { line in
            let parts = line.split(separator: ",", maxSplits: 1)
            return parts.count == 2 ? Item(room: String(parts[0]), title: String(parts[1])) : nil
        }
    }
}
