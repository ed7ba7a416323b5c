import CSQLite
import RelayCore

/// The parts of long bodies, in their table: written, read and removed. For one thread, as the connection is.
struct PartRows {
    private let select, removal: Statement
    private let insert: Statement

    init(_ database: Database) throws(SQLiteError) {
        insert = try database.prepare("INSERT INTO relay_parts (id, rest, body) VALUES (?, ?, ?)")
        select = try database.prepare("SELECT id, rest, body FROM relay_parts WHERE id >= ? ORDER BY id")
        removal = try database.prepare(
            "DELETE FROM relay_parts WHERE id BETWEEN ?1 AND ?1 + (SELECT rest FROM relay_parts WHERE id = ?1)")
    }
    /// The highest number that is in use; 0: none.
    static func last(_ database: Database) throws(SQLiteError) -> Int64 {
        try database.integers("SELECT max(id) FROM relay_parts")?.first ?? 0
    }

    /// Writes what of a body is not its row's. Returns how many bytes that is, and how many parts.
    func add(_ body: UnsafeRawBufferPointer, from id: Int64) throws(SQLiteError) -> (size: Int, count: Int) {
        var (start, rest) = (0, EventParts.count(of: body.count))
        let count = rest
        while case let length = EventParts.next(of: body.count - start, isFirst: start == 0), length > 0 {
            rest -= 1
            defer { insert.reset() }
            insert.bind(id + Int64(count - rest - 1), at: 1)
            insert.bind(Int64(rest), at: 2)
            // The run is within the call: the borrowed bytes are not read later.
            insert.bind(borrowed: UnsafeRawBufferPointer(rebasing: body[start..<start + length]), at: 3)
            _ = try insert.step()
            start += length
        }
        return (start, count)
    }
    /// Shows the parts from one on, until `take` returns false. Returns whether all of them were taken.
    func read(from id: Int64, _ take: (UnsafeRawBufferPointer) -> Bool) throws(SQLiteError) -> Bool {
        defer { select.clear() }
        select.bind(id, at: 1)
        var (next, left) = (id, Int64(EventParts.most))
        while left > 0 {
            guard try select.step() else { throw Self.damage(id) }
            let row = select.row
            let rest = row.integer(1)
            guard row.integer(0) == next, 0..<left ~= rest, next == id || rest == left - 1 else {
                throw Self.damage(id)
            }
            (next, left) = (next + 1, rest)
            if !row.withBlob(2, take) { return false }
        }
        return true
    }
    func remove(from id: Int64) throws(SQLiteError) { try removal.run(.integer(id)) }
    /// What only another program writes.
    private static func damage(_ id: Int64) -> SQLiteError {
        SQLiteError(code: SQLITE_CORRUPT, message: "the parts from \(id) on of an event's body are not all there")
    }
}
