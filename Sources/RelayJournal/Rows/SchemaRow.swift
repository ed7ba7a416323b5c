import RelayCore
import RelayWire

/// A row of `relay_schemas`: how the bodies of an event's rows are laid out.
struct SchemaRow {
    static let columns = "number, relay_schemas.name AS name, fields"
    let number: Int64
    let name: String
    /// A field in each line, in order.
    let fields: String

    init(_ row: borrowing Row) {
        (number, name, fields) = (row.integer("number"), row.text("name"), row.text("fields"))
    }
    static func text(_ fields: [WireField]) -> String { fields.map(\.description).joined(separator: "\n") }
    static func parsed(_ text: String) throws -> [WireField] {
        try text.split(separator: "\n").map { try WireField(parsing: String($0)) }
    }
    func parsed() throws -> [WireField] { try Self.parsed(fields) }
}
