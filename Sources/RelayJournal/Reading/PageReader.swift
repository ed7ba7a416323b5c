import CSQLite
import RelayCore

/// Reads pages of events, on a connection that cannot write. On one thread.
///
/// A page of rare names costs what these names have, not what the interface has: they are found from each name's last
/// event back, by the `previous` of each. An index would cost the writer half its speed.
final class PageReader {
    private let database: Database
    private let begin, end, head, names, figure: Statement
    private let scan, single: EventQuery
    private let bodies: BodyRows
    private let runs: RunRows
    private let gaps: GapRows
    /// Rows that are read in one transaction, so that it stays short.
    static let scanLimit = 4_096
    /// Transactions without an event that one page takes: where a name is too frequent to be walked, and too rare to
    /// fill pages.
    static let scans = 16
    /// Rows, and bytes of their bodies, that are read to walk back.
    static let walkLimit = 1_024
    private static let walkBytes = 4 << 20
    /// Of so many rows one was wanted, at the most: then the names are rare.
    private static let rarity = 64

    /// Where the journal stands in one transaction.
    private struct Moment {
        let head: UInt64
        var oldest: UInt64 = 1
        /// Of each name asked for, unless all are: its last sequence.
        var last: [UInt64] = []
    }

    init(_ file: JournalFile) throws(SQLiteError) {
        database = try Database(file.path, isReadOnly: true, vfs: file.vfs)
        // Another program may have put a row of any length there: it is an error, before memory is taken for it.
        database.limitValues(to: Database.longestOwnValue)
        runs = try RunRows(database)
        gaps = try GapRows(database)
        bodies = try BodyRows(database)
        begin = try database.prepare("BEGIN")
        end = try database.prepare("ROLLBACK")
        head = try database.prepare("SELECT sequence FROM relay_interfaces WHERE id = ?")
        names = try database.prepare(NameRow.query)
        let columns: [EventRow.Column] = [.sequence, .schema, .place, .size, .body]
        scan = try EventQuery(
            columns, "WHERE interface = ? AND sequence > ? ORDER BY sequence LIMIT \(Self.scanLimit)", on: database)
        single = try EventQuery(columns, "WHERE interface = ? AND sequence = ?", on: database)
        figure = try database.prepare(
            """
            SELECT \(InterfaceRow.columns), (SELECT page_count FROM pragma_page_count) AS pages,
                (SELECT page_size FROM pragma_page_size) AS size FROM relay_interfaces WHERE id = ?
            """)
    }

    func page(_ request: LogRequest, _ interface: ReadInterface) throws(SQLiteError) -> LogPage {
        var page = PageScan(request, interface, runs, bodies)
        var oldest: UInt64 = 1
        var canWalk = request.names != nil
        // Goes on in another transaction only while there is no event: what was removed meanwhile is then below
        // `oldest`, too.
        for _ in 0..<Self.scans {
            try begin.run()
            defer {
                bodies.end()
                try? end.run()
            }
            let moment = try moment(request, interface)
            (page.head, oldest) = (moment.head, moment.oldest)
            try page.cross(gaps.above(request.after, of: interface.id, most: LogPage.mostGaps + 1))
            let (isDone, rows) = try look(&page, interface)
            if isDone { break }
            if canWalk, page.count * Self.rarity <= rows, try walk(&page, interface, moment) { break }
            canWalk = false
            if page.count > 0 { break }
        }
        return try page.page(oldest: oldest)
    }
    private func moment(_ request: LogRequest, _ interface: ReadInterface) throws(SQLiteError) -> Moment {
        var moment = Moment(head: UInt64(bitPattern: try head.integers(.integer(interface.id))?.first ?? 0))
        try names.rows([.integer(interface.id)]) { row in
            let name = NameRow(row)
            guard request.names?.contains(name.name) ?? true else { return }
            // Another program may have put any number there since the start.
            moment.oldest = max(moment.oldest, Self.next(name.pruned))
            if request.names != nil { moment.last.append(name.last) }
        }
        return moment
    }
    /// Takes the next rows. `isDone`: the page is full, or there are no more.
    private func look(_ page: inout PageScan, _ interface: ReadInterface) throws(SQLiteError) -> (
        isDone: Bool, rows: Int
    ) {
        // What SQLite counts ends there, long after everything else.
        guard page.through < min(page.head, UInt64(Int64.max)) else { return (true, 0) }
        defer { scan.statement.clear() }
        scan.statement.bind(interface.id, at: 1)
        scan.statement.bind(Int64(page.through), at: 2)
        var rows = 0
        while try scan.statement.step() {
            rows += 1
            if try !page.take(scan.row) { return (true, rows) }
        }
        if rows == Self.scanLimit { return (false, rows) }
        page.end()
        return (true, rows)
    }
    /// Takes what follows of the names, which it finds from the last one back. False, and nothing was taken: there is
    /// too much.
    private func walk(_ page: inout PageScan, _ interface: ReadInterface, _ moment: Moment) throws(SQLiteError) -> Bool
    {
        var found: [UInt64] = []
        var bytes = 0
        for last in moment.last {
            var sequence = last
            // Below the oldest nothing is kept.
            while sequence > page.through && sequence >= moment.oldest {
                guard found.count < Self.walkLimit, bytes < Self.walkBytes,
                    let row = try previous(of: sequence, interface)
                else { return false }
                found.append(sequence)
                bytes += row.bytes
                sequence = row.previous
            }
        }
        found.sort()
        for sequence in found {
            defer { single.statement.clear() }
            bind(sequence, interface)
            guard try single.statement.step() else { continue }  // Looked at in this transaction: it is there.
            if try !page.take(single.row) { return true }
        }
        page.end()
        return true
    }
    private func bind(_ sequence: UInt64, _ interface: ReadInterface) {
        single.statement.bind(interface.id, at: 1)
        single.statement.bind(Int64(bitPattern: sequence), at: 2)
    }
    /// The sequence of the preceding event of the same name, from an event's stamp. Nil for a missing row, or an
    /// impossible stamp.
    private func previous(
        of sequence: UInt64, _ interface: ReadInterface
    ) throws(SQLiteError) -> (previous: UInt64, bytes: Int)? {
        defer { single.statement.clear() }
        bind(sequence, interface)
        guard try single.statement.step() else { return nil }
        return single.row.withBody { body in
            guard body.count >= 24 else { return nil }
            // The stamp is the last 24 bytes: sequence, previous, time.
            let own = UInt64(littleEndian: body.loadUnaligned(fromByteOffset: body.count - 24, as: UInt64.self))
            let previous = UInt64(littleEndian: body.loadUnaligned(fromByteOffset: body.count - 16, as: UInt64.self))
            return own == sequence && previous < sequence ? (previous, body.count) : nil
        }
    }
    /// The newest run that a subscriber and the journal have in common.
    func common(_ question: RunQuestion, _ interface: ReadInterface) throws(SQLiteError) -> CommonRun? {
        try begin.run()
        defer { try? end.run() }
        return try question.common { epoch throws(SQLiteError) in try runs.run(epoch, of: interface.id) }
    }
    /// The runs behind one, oldest first; nil: there is no such run.
    func runs(
        after epoch: UInt64, atMost limit: Int, _ interface: ReadInterface
    ) throws(SQLiteError) -> [StreamRun]? {
        try begin.run()
        defer { try? end.run() }
        return try runs.runs(after: epoch, atMost: limit, of: interface.id)
    }
    func figures(_ interface: ReadInterface) throws(SQLiteError) -> [(name: String, value: UInt64)] {
        var figures: [(name: String, value: UInt64)] = []
        // In one transaction.
        try begin.run()
        defer { try? end.run() }
        let left = UInt64(clamping: try gaps.count(of: interface.id))
        try figure.rows([.integer(interface.id)]) { row in
            let state = InterfaceRow(row)
            let (head, events) = (UInt64(bitPattern: state.sequence), UInt64(bitPattern: state.events))
            let (kept, isOver) = events.addingReportingOverflow(left)
            let oldest = isOver ? 1 : Self.next(head - min(head, kept))
            let (pages, size) = (UInt64(bitPattern: row.integer("pages")), UInt64(bitPattern: row.integer("size")))
            figures = [
                ("head", head), ("oldest", oldest), ("events", events),
                ("bytes", UInt64(bitPattern: state.bytes)), ("missing", left), ("journal", interface.journal),
                ("fileBytes", pages.multipliedReportingOverflow(by: size).partialValue),
            ]
        }
        return figures
    }
    private static func next(_ sequence: UInt64) -> UInt64 { sequence == .max ? .max : sequence + 1 }
}
