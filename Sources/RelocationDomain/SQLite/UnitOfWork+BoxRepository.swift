import RelayCore
public import RelayJournal

extension UnitOfWork: BoxRepository {
    public mutating func addBox(title: Title, capacity: BoxCapacity) throws -> Box {
        let box = Box(id: try nextRelocationID("box"), title: title, capacity: capacity)
        try execute(
            "INSERT INTO relocation_boxes (id, title, capacity) VALUES (\(box.id), \(title.text), \(capacity.rawValue))"
        )
        return box
    }
    public mutating func box(_ id: Int64) throws -> Box? {
        try query("SELECT id, title, capacity FROM relocation_boxes WHERE id = \(id)", row: Box.init(row:)).first
    }
    public mutating func leastLoaded(_ count: Int, except boxID: Int64?) throws -> [BoxLoad] {
        // A search in an index of exactly these, in their order: see RelocationSchema.
        let statement: SQL = """
            SELECT id, capacity, item_count FROM relocation_boxes WHERE item_count < capacity AND id IS NOT \(boxID)
            ORDER BY item_count, id LIMIT \(max(0, count))
            """
        return try query(statement) { row in
            let id: Int64 = try row["id"]
            return BoxLoad(
                boxID: id, capacity: try BoxCapacity(row["capacity"], ofBox: id), itemCount: try row["item_count"])
        }
    }
    public mutating func removeBox(_ id: Int64) throws {
        try requireBox(id)
        let held = try query("SELECT count(*) FROM relocation_items WHERE box_id = \(id)", as: Int.self)
        if let held = held.first, held > 0 {
            throw RelayError(.conflict, "box \(id) still holds \(held) items; move them first")
        }
        try execute("DELETE FROM relocation_boxes WHERE id = \(id)")
    }

    mutating func requireBox(_ id: Int64) throws {
        let found = try query("SELECT 1 FROM relocation_boxes WHERE id = \(id)") { _ in true }
        if found.isEmpty { throw RelayError(.notFound, "there is no box \(id)") }
    }
    /// The next id of a kind. Given back by a rollback only.
    mutating func nextRelocationID(_ kind: String) throws -> Int64 {
        let next = try query(
            "UPDATE relocation_ids SET last = last + 1 WHERE kind = \(kind) AND last < \(Int64.max) RETURNING last",
            as: Int64.self)
        guard let id = next.first else { throw RelayError(.storageFull, "no \(kind) id is left after \(Int64.max)") }
        return id
    }
}

extension Box {
    init(row: borrowing Row) throws {
        let id: Int64 = try row["id"]
        self.init(
            id: id, title: try Title(row["title"], of: "relocation_boxes", id),
            capacity: try BoxCapacity(row["capacity"], ofBox: id))
    }
}

extension BoxCapacity {
    /// Somebody may have edited the file.
    fileprivate init(_ stored: Int64, ofBox id: Int64) throws {
        guard let capacity = Int32(exactly: stored).flatMap(BoxCapacity.init(rawValue:)) else {
            throw RelayError(
                .internalFailure, "table relocation_boxes, row \(id): \(stored) is no capacity; there are 5, 10 and 20")
        }
        self = capacity
    }
}
