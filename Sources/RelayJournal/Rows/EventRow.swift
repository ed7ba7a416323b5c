import CSQLite
import RelayCore

/// A row of `relay_events` or `relay_documents`: the one place that knows their columns, how each is bound, and how it is
/// read.
///
/// A statement names the columns that it has, once. From then on each has its place.
struct EventRow: ~Copyable {
    enum Column: String {
        case interface, sequence, schema, time, place, size, name, body
        /// Of the whole body, in bytes; to be read only.
        case length = "length(body) + coalesce(size, 0)"
    }
    /// Where a statement has the columns, from 0; below that: nowhere.
    struct Places {
        let interface, sequence, schema, time, place, size, name, body, length: Int32
        /// How many it has.
        let count: Int32

        init(_ columns: [Column]) {
            func find(_ column: Column) -> Int32 { Int32(columns.firstIndex(of: column) ?? -1) }
            (interface, sequence, schema) = (find(.interface), find(.sequence), find(.schema))
            (time, place, size, name) = (find(.time), find(.place), find(.size), find(.name))
            (body, length, count) = (find(.body), find(.length), Int32(columns.count))
        }
    }
    /// Of each table, all of them that a service's journal writes.
    static let ofEvents: [Column] = [.interface, .sequence, .schema, .time, .place, .size, .body]
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
    /// Where the beginning of a long body is in `relay_bodies`.
    var place: Int64 { row.integer(Int(places.place)) }
    /// How many bytes that are; 0: the whole body is in the row.
    @inline(__always) var size: Int64 { row.integer(Int(places.size)) }
    var body: [UInt8] { row.blob(Int(places.body)) }
    var length: Int64 { row.integer(Int(places.length)) }
    @inline(__always)
    func withBody<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try row.withBlob(Int(places.body), body)
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
    ///   - place: where the beginning of a long body is; nil: the row has all of it.
    ///   - size: how many bytes are there.
    @inline(__always) func bind(
        _ stamp: Stamp, _ schema: Int64, of interface: Int64, place: Int64?, size: Int, row: Int
    ) {
        let first = first(row)
        statement.bind(interface, at: first + places.interface)
        statement.bind(Int64(bitPattern: stamp.sequence), at: first + places.sequence)
        statement.bind(schema, at: first + places.schema)
        statement.bind(Int64(bitPattern: stamp.publishedAt.microseconds), at: first + places.time)
        if let place {
            statement.bind(place, at: first + places.place)
            statement.bind(Int64(size), at: first + places.size)
        } else {
            statement.bindNull(at: first + places.place)
            statement.bindNull(at: first + places.size)
        }
    }
    /// Binds a document's entry, but its body.
    func bind(_ sequence: UInt64, _ name: InterfaceState.Name, _ schema: Int64, of interface: Int64) {
        let first = first(0)
        statement.bind(interface, at: first + places.interface)
        statement.bind(Int64(bitPattern: sequence), at: first + places.sequence)
        statement.bind(borrowed: name.bytes, at: first + places.name)
        statement.bind(schema, at: first + places.schema)
    }
    /// Without a copy: the bytes must outlast the run.
    @inline(__always) func bind(borrowed body: UnsafeRawBufferPointer, row: Int = 0) {
        statement.bind(borrowed: body, at: first(row) + places.body)
    }
    /// The number of a row's first parameter.
    @inline(__always) private func first(_ row: Int) -> Int32 { Int32(row) * places.count + 1 }
}
