import RelayCore

/// The history of an interface is another one above a sequence: everything there goes, and what it has left in the
/// counters.
extension JournalEngine {
    func truncate(_ index: Int, to last: UInt64) throws(SQLiteError) {
        let id = SQLValue.integer(interfaces[index].id)
        let limit = SQLValue.integer(Int64(bitPattern: last))
        let removed = try removed(index, above: last)
        try own("DELETE FROM relay_events WHERE interface = ? AND sequence > ?").run(id, limit)
        try own("DELETE FROM relay_gaps WHERE interface = ? AND first > ?").run(id, limit)
        try own("UPDATE relay_gaps SET last = ?2 WHERE interface = ?1 AND last > ?2").run(id, limit)
        // A run that begins right behind has had no event.
        try own("DELETE FROM relay_runs WHERE interface = ? AND first - 1 > ?").run(id, limit)
        interfaces[index].counters.events -= min(removed.events, interfaces[index].counters.events)
        interfaces[index].counters.bytes -= min(removed.bytes, interfaces[index].counters.bytes)
        interfaces[index].counters.sequence = last
        try truncateBodies(index, to: removed.place)
        try truncateAges(index, to: last)
        try truncateNames(index, to: last, removed.firsts)
        try truncateDocuments(index, to: last)
    }
    private struct Removed {
        var (events, bytes): (UInt64, UInt64) = (0, 0)
        /// Where the first long body begins.
        var place: Int64?
        /// What the stamp of each name's first event says of the one before it, by the name's place.
        var firsts: [Int: UInt64] = [:]
    }
    private func removed(_ index: Int, above last: UInt64) throws(SQLiteError) -> Removed {
        let id = interfaces[index].id
        let rows = try EventQuery(
            [.sequence, .schema, .place, .size, .length, .body],
            "WHERE interface = ? AND sequence > ? ORDER BY sequence", on: database)
        let layouts = interfaces[index].replica?.layouts ?? [:]
        var removed = Removed()
        try rows.rows([.integer(id), .integer(Int64(bitPattern: last))]) { row in
            removed.events += 1
            removed.bytes &+= UInt64(bitPattern: row.length)
            if row.size > 0, removed.place == nil { removed.place = row.place }
            guard let name = layouts[UInt32(truncatingIfNeeded: row.schema)]?.name, removed.firsts[name] == nil else {
                return
            }
            // The end of the body is in the row, whatever its length.
            row.withBody { removed.firsts[name] = Stamp(endOf: $0, epoch: 0)?.previous ?? 0 }
        }
        return removed
    }
    /// The bodies end where the first one began that was removed.
    private func truncateBodies(_ index: Int, to place: Int64?) throws(SQLiteError) {
        guard let place else { return }
        let id = interfaces[index].id
        try interfaces[index].tail.write(sql.bodies)
        interfaces[index].tail.forget()
        // The piece that it is in has others before it, or none.
        let isPieceKept = place % Int64(BodyPages.size) != 0
        let first = BodyPages.row(of: place, id) &+ (isPieceKept ? 1 : 0)
        try own("DELETE FROM relay_bodies WHERE id >= ? AND id < ?").run(
            .integer(first), .integer(BodyPages.row(of: 0, id &+ 1)))
        interfaces[index].counters.tail = place
    }
    /// The first mark above holds for what is left, too.
    private func truncateAges(_ index: Int, to last: UInt64) throws(SQLiteError) {
        let (id, limit) = (SQLValue.integer(interfaces[index].id), SQLValue.integer(Int64(bitPattern: last)))
        interfaces[index].cutAges(to: last)
        try own("DELETE FROM relay_ages WHERE interface = ? AND sequence > ?").run(id, limit)
        if let mark = interfaces[index].ages.marks.last, mark.sequence == last {
            try write(mark, of: interfaces[index].id)
        }
    }
    private func truncateNames(_ index: Int, to last: UInt64, _ firsts: [Int: UInt64]) throws(SQLiteError) {
        let id = SQLValue.integer(interfaces[index].id)
        try own("UPDATE relay_names SET pruned = ?2 WHERE interface = ?1 AND pruned > ?2").run(
            id, .integer(Int64(bitPattern: last)))
        let floor = try floor(of: index)
        for name in interfaces[index].names.indices where interfaces[index].counters.last[name] > last {
            interfaces[index].counters.last[name] = try lastKept(
                name, of: index, to: last, floor, previous: firsts[name] ?? 0)
            interfaces[index].touch(name)
        }
    }
    /// The last event of a name that is left.
    private func lastKept(
        _ name: Int, of index: Int, to last: UInt64, _ floor: UInt64, previous: UInt64
    ) throws(SQLiteError) -> UInt64 {
        let id = SQLValue.integer(interfaces[index].id)
        let pruned =
            try own("SELECT pruned FROM relay_names WHERE interface = ? AND name = ?").integers(
                id, .text(interfaces[index].names[name].text))?.first ?? 0
        if previous <= floor { return min(previous, UInt64(bitPattern: pruned)) }
        let numbers = (interfaces[index].replica?.layouts ?? [:]).filter { $0.value.name == name }.keys
        if previous <= last,
            let schema = try own("SELECT schema FROM relay_events WHERE interface = ? AND sequence = ?").integers(
                id, .integer(Int64(bitPattern: previous)))?.first,
            numbers.contains(where: { Int64($0) == schema })
        {
            return previous
        }
        // In a gap: the one before that, if there is any, is looked for.
        let list = numbers.map(String.init).joined(separator: ", ")
        let found = try database.prepare(
            "SELECT sequence FROM relay_events WHERE interface = ? AND schema IN (\(list)) ORDER BY sequence DESC LIMIT 1"
        ).integers(id)?.first
        return found.map { UInt64(bitPattern: $0) } ?? UInt64(bitPattern: pruned)
    }
}
