import RelayCore
public import RelayJournal

extension UnitOfWork: ItemRepository {
    public mutating func addItem(title: Title, boxID: Int64) throws -> Item {
        try requireBox(boxID)
        let item = Item(id: try nextRelocationID("item"), title: title, boxID: boxID)
        try execute(
            "INSERT INTO relocation_items (id, title, box_id) VALUES (?, ?, ?)",
            [.integer(item.id), .text(title.text), .integer(boxID)])
        return item
    }
    public mutating func item(_ id: Int64) throws -> Item? {
        try query("SELECT id, title, box_id FROM relocation_items WHERE id = ?", [.integer(id)], row: Item.init(row:))
            .first
    }
    public mutating func items(inBox boxID: Int64) throws -> [Item] {
        try query(
            "SELECT id, title, box_id FROM relocation_items WHERE box_id = ? ORDER BY id", [.integer(boxID)],
            row: Item.init(row:))
    }
    public mutating func moveItem(_ id: Int64, toBox boxID: Int64) throws {
        try requireBox(boxID)
        let moved = try execute("UPDATE relocation_items SET box_id = ? WHERE id = ?", [.integer(boxID), .integer(id)])
        if moved == 0 { throw RelayError(.notFound, "there is no item \(id)") }
    }
    public mutating func removeItem(_ id: Int64) throws {
        let removed = try execute("DELETE FROM relocation_items WHERE id = ?", [.integer(id)])
        if removed == 0 { throw RelayError(.notFound, "there is no item \(id)") }
    }
}

extension Item {
    init(row: borrowing Row) throws {
        let id = row.integer(0)
        self.init(id: id, title: try Title(row.text(1), of: "relocation_items", id), boxID: row.integer(2))
    }
}
