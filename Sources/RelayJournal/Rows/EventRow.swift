import CSQLite
import RelayCore

/// A row of `relay_events` or `relay_documents`: the one place that knows their columns, how each is bound, and how it is
/// read.
///
/// A statement names the columns that it has, once. From then on each has its place.
struct EventRow: ~Copyable {
    enum Column: String {
        case interface, sequence, schema, time, part, size, name, body
        /// Of the whole body, in bytes; to be read only.
        case length = "length(body) + coalesce(size, 0)"
    }
    /// Where a statement has the columns, from 0; below that: nowhere.
    struct Places {
        let interface, sequence, schema, time, part, size, name, body, length: Int32
        /// How many it has.
        let count: Int32

        init(_ columns: [Column]) {
            func place(_ column: Column) -> Int32 { Int32(columns.firstIndex(of: column) ?? -1) }
            (interface, sequence, schema) = (place(.interface), place(.sequence), place(.schema))
            (time, part, size, name) = (place(.time), place(.part), place(.size), place(.name))
            (body, length, count) = (place(.body), place(.length), Int32(columns.count))
        }
    }
    /// Of each table, all of them.
    static let ofEvents: [Column] = [.interface, .sequence, .schema, .time, .part, .size, .body]
    static let ofDocuments: [Column] = [.interface, .name, .sequence, .schema, .body]
    private let row: Row
    private let places: Places

    fileprivate init(_ row: consuming Row, _ places: Places) {
        self.row = row
        self.places = places
    }

    var sequence: UInt64 { UInt64(bitPattern: row.integer(Int(places.sequence))) }
    /// Any number, as in all columns: not only those that the journal gives.
    var schema: Int64 { row.integer(Int(places.schema)) }
    /// The first of the parts, of a long body; 0: it has none.
    @inline(__always) var part: Int64 { row.integer(Int(places.part)) }
    var body: [UInt8] { row.blob(Int(places.body)) }
    var size: Int64 { row.integer(Int(places.size)) }
    var length: Int64 { row.integer(Int(places.length)) }
    @inline(__always) func withBody<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        row.withBlob(Int(places.body), body)
    }
}

/// A prepared query of rows with events.
struct EventQuery {
    let statement: Statement
    private let places: EventRow.Places

    /// - Parameter rest: what follows the table's name.
    init(
        _ columns: [EventRow.Column], from table: String = "relay_events", _ rest: String, on database: Database
    ) throws(SQLiteError) {
        let names = columns.map(\.rawValue).joined(separator: ", ")
        statement = try database.prepare("SELECT \(names) FROM \(table) \(rest)")
        places = EventRow.Places(columns)
    }
    /// Valid until the next step of the statement.
    @inline(__always) var row: EventRow { EventRow(statement.row, places) }
    func rows(_ values: [SQLValue], _ body: (borrowing EventRow) -> Void) throws(SQLiteError) {
        defer { statement.clear() }
        try statement.bind(values)
        while try statement.step() { body(row) }
    }
}

/// A prepared statement that adds rows with events, so many at once.
struct EventInsertion {
    let statement: Statement
    private let places: EventRow.Places

    /// - Parameter verb: what stands before the table's name.
    init(
        _ verb: String, _ table: String, _ columns: [EventRow.Column], rows: Int = 1, on database: Database
    ) throws(SQLiteError) {
        let names = columns.map(\.rawValue).joined(separator: ", ")
        let row = "(" + columns.map { _ in "?" }.joined(separator: ", ") + ")"
        let values = Array(repeating: row, count: rows).joined(separator: ", ")
        statement = try database.prepare("\(verb) INTO \(table) (\(names)) VALUES \(values)")
        places = EventRow.Places(columns)
    }
    /// Binds one of the rows, each of an event, but its body.
    ///
    /// - Parameters:
    ///   - part: the first of the body's parts; nil: it has none.
    ///   - size: how many bytes those have.
    @inline(__always) func bind(
        _ stamp: Stamp, _ schema: Int64, of interface: Int64, part: Int64?, size: Int, row: Int
    ) {
        let first = first(row)
        statement.bind(interface, at: first + places.interface)
        statement.bind(Int64(bitPattern: stamp.sequence), at: first + places.sequence)
        statement.bind(schema, at: first + places.schema)
        statement.bind(Int64(bitPattern: stamp.publishedAt.microseconds), at: first + places.time)
        if let part {
            statement.bind(part, at: first + places.part)
            statement.bind(Int64(size), at: first + places.size)
        } else {
            statement.bindNull(at: first + places.part)
            statement.bindNull(at: first + places.size)
        }
    }
    /// Binds a document's entry, but its body.
    func bind(_ sequence: UInt64, _ name: InterfaceState.Name, of interface: Int64) {
        let first = first(0)
        statement.bind(interface, at: first + places.interface)
        statement.bind(Int64(bitPattern: sequence), at: first + places.sequence)
        statement.bind(borrowed: name.bytes, at: first + places.name)
        statement.bind(name.schema, at: first + places.schema)
    }
    /// Without a copy: the bytes must outlast the run.
    @inline(__always) func bind(borrowed body: UnsafeRawBufferPointer, row: Int = 0) {
        statement.bind(borrowed: body, at: first(row) + places.body)
    }
    /// The number of a row's first parameter.
    @inline(__always) private func first(_ row: Int) -> Int32 { Int32(row) * places.count + 1 }
}
