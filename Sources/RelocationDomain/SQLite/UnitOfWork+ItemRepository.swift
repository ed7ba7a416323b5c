import RelayCore
public import RelayJournal

extension UnitOfWork: ItemRepository {
    public mutating func addItem(title: Title, boxID: Int64) throws -> Item {
        try requireBox(boxID)
        let item = Item(id: try nextRelocationID("item"), title: title, boxID: boxID)
        try execute(
            "INSERT INTO relocation_items (id, title, box_id) VALUES (\(item.id), \(title.text), \(boxID))")
        return item
    }
    public mutating func item(_ id: Int64) throws -> Item? {
        try query("SELECT id, title, box_id FROM relocation_items WHERE id = \(id)", row: Item.init(row:)).first
    }
    public mutating func items(inBox boxID: Int64) throws -> [Item] {
        try query(
            "SELECT id, title, box_id FROM relocation_items WHERE box_id = \(boxID) ORDER BY id", row: Item.init(row:))
    }
    public mutating func moveItem(_ id: Int64, toBox boxID: Int64) throws {
        try requireBox(boxID)
        let moved = try execute("UPDATE relocation_items SET box_id = \(boxID) WHERE id = \(id)")
        if moved == 0 { throw RelayError(.notFound, "there is no item \(id)") }
    }
    public mutating func removeItem(_ id: Int64) throws {
        let removed = try execute("DELETE FROM relocation_items WHERE id = \(id)")
        if removed == 0 { throw RelayError(.notFound, "there is no item \(id)") }
    }
}

extension Item {
    init(row: borrowing Row) throws {
        let id: Int64 = try row["id"]
        self.init(id: id, title: try Title(row["title"], of: "relocation_items", id), boxID: try row["box_id"])
    }
}
