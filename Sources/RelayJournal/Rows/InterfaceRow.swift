/// A row of `relay_interfaces`, with any numbers: not only those that the journal writes.
struct InterfaceRow {
    static let columns = "id, name, sequence, events, bytes, tail"
    let id: Int64
    let name: String
    /// Of the last event; how many are kept, and the bytes of their bodies.
    let sequence, events, bytes: Int64
    /// Where its long bodies end.
    let tail: Int64

    init(_ row: borrowing Row) {
        (id, name, tail) = (row.integer("id"), row.text("name"), row.integer("tail"))
        (sequence, events, bytes) = (row.integer("sequence"), row.integer("events"), row.integer("bytes"))
    }
}
