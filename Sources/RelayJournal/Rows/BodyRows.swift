import CSQLite

/// The pieces of long bodies, in their table: written, read and removed. For one thread, as the connection is.
final class BodyRows {
    private let select, replace, removal: Statement
    /// The row at which `select` is: the next event's body most often goes on there.
    private var current: Int64?

    init(_ database: Database) throws(SQLiteError) {
        select = try database.prepare("SELECT id, body FROM relay_bodies WHERE id >= ? ORDER BY id")
        replace = try database.prepare("REPLACE INTO relay_bodies (id, body) VALUES (?, ?)")
        removal = try database.prepare("DELETE FROM relay_bodies WHERE id >= ? AND id < ?")
    }

    /// Shows what is at a place, in parts. Afterwards the statement is where it is, until `end`.
    func read(
        _ size: Int64, at place: Int64, of interface: Int64, _ take: (UnsafeRawBufferPointer) -> Void
    ) throws(SQLiteError) {
        guard 0...BodyPages.limit ~= place, 0...Int64(Database.longestOwnValue) ~= size else {
            throw Self.damage(BodyPages.row(of: place, interface))
        }
        var (place, left) = (place, Int(size))
        while left > 0 {
            try seek(BodyPages.row(of: place, interface))
            let start = Int(place % Int64(BodyPages.size))
            let count = min(left, BodyPages.size - start)
            // As long as it is: `seek` has seen to that.
            select.row.withBlob(1) { take(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
            (place, left) = (place + Int64(count), left - count)
        }
    }
    /// A whole row.
    func read(_ id: Int64, into piece: inout [UInt8]) throws(SQLiteError) {
        defer { end() }
        try seek(id)
        piece = select.row.blob(1)
    }
    /// Ends what `read` began, so that it holds no transaction open.
    func end() {
        if current == nil { return }
        current = nil
        select.reset()
    }
    private func seek(_ id: Int64) throws(SQLiteError) {
        if let current, current == id { return }
        if current.map({ $0 &+ 1 }) != id {
            select.reset()
            select.bind(id, at: 1)
        }
        current = nil
        var isThere = false
        defer { if isThere { current = id } else { select.reset() } }
        guard try select.step(), select.row.integer(0) == id,
            select.row.withBlob(1, { $0.count }) == BodyPages.size
        else { throw Self.damage(id) }
        isThere = true
    }

    /// Writes a piece, or writes it again.
    func write(_ piece: [UInt8], as id: Int64) throws(SQLiteError) {
        // The run is within the call: the borrowed bytes are not read later.
        let failure = piece.withUnsafeBytes { bytes -> SQLiteError? in
            defer { replace.reset() }
            replace.bind(id, at: 1)
            replace.bind(borrowed: bytes, at: 2)
            do throws(SQLiteError) { _ = try replace.step() } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }
    /// Removes the pieces before the one that has a place.
    func remove(before place: Int64, of interface: Int64) throws(SQLiteError) {
        try removal.run(
            .integer(BodyPages.row(of: 0, interface)), .integer(BodyPages.row(of: place, interface)))
    }
    /// What only another program writes.
    private static func damage(_ id: Int64) -> SQLiteError {
        SQLiteError(code: SQLITE_CORRUPT, message: "row \(id) of relay_bodies, with an event's body, is not whole")
    }
}
