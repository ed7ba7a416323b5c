import RelayCore
import RelayJournal
import Relocation

extension UnitOfWork {
    /// The inventory, as this unit leaves the boxes. It costs no more than the boxes that it has.
    mutating func inventory() throws -> Inventory {
        let loads = try query(
            "SELECT id, capacity, item_count, title FROM relocation_boxes ORDER BY id LIMIT \(Inventory.longest + 1)"
        ) { row in
            Inventory.Load(
                boxID: try row["id"], capacity: try row["capacity"], itemCount: try row["item_count"],
                title: try row["title"])
        }
        return Inventory(
            boxes: Array(loads.prefix(Inventory.longest)), isWhole: loads.count <= Inventory.longest)
    }
}
