import RelayCore

/// The gaps of interfaces, in their table: sequences that the journal never had, though it has later ones. They are
/// disjoint. For one thread, as the connection is.
struct GapRows {
    private let after, newest, all: Statement

    init(_ database: Database) throws(SQLiteError) {
        func prepare(_ rest: String) throws(SQLiteError) -> Statement {
            try database.prepare("SELECT first, last FROM relay_gaps WHERE interface = ? \(rest)")
        }
        after = try prepare("AND last > ? ORDER BY last LIMIT ?")
        newest = try prepare("ORDER BY last DESC LIMIT ?")
        all = try database.prepare("SELECT coalesce(sum(last - first + 1), 0) FROM relay_gaps WHERE interface = ?")
    }

    /// Those that reach above a sequence, from the lowest, so many at the most.
    func above(_ sequence: UInt64, of interface: Int64, most: Int) throws(SQLiteError) -> [ClosedRange<UInt64>] {
        // What SQLite counts ends before what is asked for may.
        try ranges(after, [.integer(interface), .integer(Int64(clamping: sequence)), .integer(Int64(most))])
    }
    /// The newest, by rising sequence.
    func newest(of interface: Int64, most: Int) throws(SQLiteError) -> [ClosedRange<UInt64>] {
        try ranges(newest, [.integer(interface), .integer(Int64(most))]).reversed()
    }
    /// How many sequences are in gaps.
    func count(of interface: Int64) throws(SQLiteError) -> Int64 { try all.integers(.integer(interface))?.first ?? 0 }

    private func ranges(_ statement: Statement, _ values: [SQLValue]) throws(SQLiteError) -> [ClosedRange<UInt64>] {
        var ranges: [ClosedRange<UInt64>] = []
        try statement.rows(values) { row in
            let (first, last) = (row.integer("first"), row.integer("last"))
            // Another program may have put any numbers there.
            if first > 0, first <= last { ranges.append(UInt64(first)...UInt64(last)) }
        }
        return ranges
    }
}
