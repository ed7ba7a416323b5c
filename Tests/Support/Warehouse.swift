package import Relocation

/// All boxes and all items by rising id: what two accounts of the state are compared by.
package struct Warehouse: Hashable, Sendable {
    package let boxes: [Contents.Box]
    package let items: [Contents.Item]

    package init(boxes: [Contents.Box] = [], items: [Contents.Item] = []) {
        self.boxes = boxes.sorted { $0.boxID < $1.boxID }
        self.items = items.sorted { $0.itemID < $1.itemID }
    }
    package init(_ inventory: FollowedContents) {
        self.init(boxes: Array(inventory.boxes.values), items: Array(inventory.items.values))
    }
    /// Asks for page after page, until there is none.
    package init(asking ask: (Contents) async throws -> Contents.Reply, limit: UInt32? = nil) async throws {
        var inventory = FollowedContents()
        repeat { inventory.add(try await ask(Contents(after: inventory.next, limit: limit))) } while !inventory.isWhole
        self.init(inventory)
    }
}
