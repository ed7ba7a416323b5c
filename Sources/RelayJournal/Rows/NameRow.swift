/// A row of `relay_names`: an event's name, and where its events are.
struct NameRow {
    /// Of an interface.
    static let query = "SELECT name, last, pruned FROM relay_names WHERE interface = ?"
    let name: String
    /// The sequence of its last event, and the highest of those that were removed. Another program may have put any
    /// number there.
    let last, pruned: UInt64

    init(_ row: borrowing Row) {
        name = row.text("name")
        (last, pruned) = (UInt64(bitPattern: row.integer("last")), UInt64(bitPattern: row.integer("pruned")))
    }
}
