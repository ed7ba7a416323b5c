import RelayCore
import RelayWire

/// The schemas of an interface's events, as a run of its service finds and leaves them.
extension JournalEngine {
    /// From here on, numbers stand for no row of an event. Of several schemas of a name, the one with the highest number
    /// is the present one. Where a release goes back to an earlier schema, such a number names it once more: one for
    /// each event at most, however often releases take turns.
    static let firstRepetition: Int64 = 1 << 31

    /// Adds the schemas that the journal does not know. Returns all, and the numbers for the rows of this run, by event.
    func enterSchemas(
        of logged: LoggedInterface, _ id: Int64
    ) throws -> (all: [UInt32: EventSchema], numbers: [String: Int64]) {
        try database.prepare("DELETE FROM relay_schemas WHERE interface = ? AND number >= \(Self.firstRepetition)")
            .run(.integer(id))
        var numbers: [String: Int64] = [:]
        for event in logged.events {
            numbers[event.event] = try number(of: event.event, SchemaRow.text(event.fields), id)
        }
        var schemas: [UInt32: EventSchema] = [:]
        var rows: [SchemaRow] = []
        try database.prepare("SELECT \(SchemaRow.columns) FROM relay_schemas WHERE interface = ? ORDER BY number")
            .rows([.integer(id)]) { rows.append(SchemaRow($0)) }
        for row in rows {
            do {
                let kept = EventSchema(event: row.name, fields: try row.parsed())
                // The contract knows the former names, too.
                schemas[UInt32(clamping: row.number)] = logged.events.first { $0 == kept } ?? kept
            } catch let error as RelayError { throw file.damaged("schema \(row.number): \(error.message)") }
        }
        return (schemas, numbers)
    }
    /// The number of an event's schema, which is the present one of its name afterwards.
    private func number(of name: String, _ fields: String, _ id: Int64) throws -> Int64 {
        var (known, last): (Int64?, Int64) = (nil, 0)
        try database.prepare(
            "SELECT \(SchemaRow.columns) FROM relay_schemas WHERE interface = ? AND name = ? ORDER BY number"
        )
        .rows([.integer(id), .text(name)]) { row in
            let row = SchemaRow(row)
            last = row.number
            if row.fields == fields { known = last }
        }
        if let known, known == last { return known }
        let first = known == nil ? 1 : Self.firstRepetition
        let end = known == nil ? Self.firstRepetition : Int64(UInt32.max)
        let highest = try database.prepare("SELECT max(number) FROM relay_schemas WHERE number >= ? AND number < ?")
            .integers(.integer(first), .integer(end))?.first
        // NULL reads as 0.
        let number = max(highest ?? 0, first - 1) + 1
        try database.prepare("INSERT INTO relay_schemas (number, interface, name, fields) VALUES (?, ?, ?, ?)")
            .run(.integer(number), .integer(id), .text(name), .text(fields))
        return known ?? number
    }
}
