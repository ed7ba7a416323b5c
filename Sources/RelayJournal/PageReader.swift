import CSQLite
import RelayCore

/// Reads pages of events, on a connection that cannot write. On one thread.
final class PageReader {
    private let database: Database
    private let begin, end, head, pruned, scan, figure: Statement
    /// So many rows are looked at for one page: of names that are rare a page ends before it is full, so that its
    /// transaction stays short.
    static let scanLimit = 4_096

    init(_ file: JournalFile) throws(SQLiteError) {
        database = try Database(file.path, isReadOnly: true, vfs: file.vfs)
        begin = try database.prepare("BEGIN")
        end = try database.prepare("ROLLBACK")
        head = try database.prepare("SELECT sequence FROM relay_interfaces WHERE id = ?")
        pruned = try database.prepare("SELECT name, pruned FROM relay_names WHERE interface = ? AND pruned > 0")
        scan = try database.prepare(
            """
            SELECT sequence, schema, body, name FROM relay_events WHERE interface = ? AND sequence > ?
            ORDER BY sequence LIMIT \(Self.scanLimit)
            """)
        figure = try database.prepare(
            """
            SELECT sequence, events, bytes, (SELECT page_count FROM pragma_page_count),
                (SELECT page_size FROM pragma_page_size) FROM relay_interfaces WHERE id = ?
            """)
    }

    func page(_ request: LogRequest, _ interface: ReadInterface) throws(SQLiteError) -> LogPage {
        try begin.run()
        defer { try? end.run() }
        let head = UInt64(bitPattern: try head.integers(.integer(interface.id))?.first ?? 0)
        var oldest: UInt64 = 1
        try pruned.rows([.integer(interface.id)]) { row in
            if request.names?.contains(row.text(0)) ?? true {
                oldest = max(oldest, UInt64(bitPattern: row.integer(1)) + 1)
            }
        }
        var page = PageScan(request, interface, head: head)
        defer { scan.clear() }
        // What SQLite counts ends there, long after everything else.
        if request.after < min(head, UInt64(Int64.max)) {
            scan.bind(interface.id, at: 1)
            scan.bind(Int64(request.after), at: 2)
            var count = 0
            while try scan.step() {
                count += 1
                if !page.take(scan.row) { break }
            }
            page.end(isExhausted: count < Self.scanLimit)
        }
        return page.page(oldest: oldest)
    }
    func figures(_ interface: ReadInterface) throws(SQLiteError) -> [(name: String, value: UInt64)] {
        guard let row = try figure.integers(.integer(interface.id)) else { return [] }
        let numbers = row.map { UInt64(bitPattern: $0) }
        return [
            ("head", numbers[0]), ("oldest", numbers[0] - min(numbers[0], numbers[1]) + 1), ("events", numbers[1]),
            ("bytes", numbers[2]), ("fileBytes", numbers[3] * numbers[4]),
        ]
    }
}
