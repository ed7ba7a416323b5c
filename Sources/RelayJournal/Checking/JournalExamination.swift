import CSQLite
import RelayCore

/// Whether a journal's tables agree with each other: as far as a few look-ups show, so that the size of the file does
/// not matter, or in full.
///
/// Reads only. Each method returns the first contradiction, in words, or nil.
struct JournalExamination {
    let database: Database
    /// What it may take, of a file whose pages nobody has looked at yet.
    var budget: StepBudget?
    /// No sequence, count or size comes near this: arithmetic on what is below it cannot overflow.
    static let limit: Int64 = 1 << 62
    private static let tables = [
        "relay_runs", "relay_names", "relay_schemas", "relay_events", "relay_gaps", "relay_mirror_states",
    ]

    // MARK: A few look-ups

    /// That the journal's tables are as its version makes them, and nothing belongs to them that it does not make. Views
    /// and virtual tables could have rows without end, a computed column and an index on an expression need any time,
    /// and a constraint or a trigger would refuse or change what is written.
    func disguise() throws(SQLiteError) -> String? {
        let version = Int(clamping: try database.integers("PRAGMA user_version")?.first ?? 0)
        guard version == JournalSchema.version else { return "it says that it is of version \(version)" }
        let (found, made) = (try JournalSchema.objects(of: database), try JournalSchema.objects())
        for object in found where !made.contains(object) {
            if made.contains(where: { $0.type == object.type && $0.name == object.name }) {
                return "\(object.name) is defined otherwise than version \(version) of the journal does it"
            }
            return object.name == object.table
                ? "\(object.name) is no \(object.type) of the journal's"
                : "\(object.table) has the \(object.type) \(object.name), which is not the journal's"
        }
        for object in made where !found.contains(object) { return "it has no \(object.type) \(object.name)" }
        return found.count == made.count ? nil : "a table of the journal's is there twice"
    }
    /// The tables, the counters, and both ends of each interface's events.
    func contradiction() throws(SQLiteError) -> String? {
        if let fault = try disguise() { return fault }
        let (interfaces, fault) = try interfaces()
        if let fault { return fault }
        if let fault = try strangers(interfaces) { return fault }
        for interface in interfaces {
            var fault = try gaps(of: interface)
            if fault == nil { fault = try ends(of: interface) }
            if fault == nil { fault = try tail(of: interface) }
            // Before what is looked up in them.
            if fault == nil { fault = try schemas(of: interface) }
            if fault == nil { fault = try names(of: interface) }
            if fault == nil { fault = try runs(of: interface) }
            if fault == nil { fault = try ages(of: interface) }
            if fault == nil { fault = try documents(of: interface) }
            if let fault { return "\(interface.name): \(fault)" }
        }
        return try replyCosts()
    }
    /// That what the users' replies count for is what all of them count for.
    private func replyCosts() throws(SQLiteError) -> String? {
        var (all, sum, fault): (Int64, Int64, String?) = (0, 0, nil)
        try database.prepare("SELECT user, cost FROM relay_reply_costs").rows([]) { row in
            let user = row.integer("user")
            guard let cost = Self.count(row, "cost"), sum <= Self.limit - cost else {
                fault =
                    fault ?? "the kept replies of user \(user) count for no number from 0 to \(Self.limit)"
                return
            }
            if user == KeptReplies.everyone { all = cost } else { sum += cost }
        }
        if fault == nil && sum != all {
            fault = "the kept replies count for \(all) bytes, and those of its users for \(sum)"
        }
        return fault
    }
    private func interfaces() throws(SQLiteError) -> ([InterfaceRow], String?) {
        var (interfaces, fault): ([InterfaceRow], String?) = ([], nil)
        try database.prepare("SELECT \(InterfaceRow.columns) FROM relay_interfaces ORDER BY id").rows([]) { row in
            let interface = InterfaceRow(row)
            let name = interface.name
            guard let sequence = Self.count(row, "sequence"), let events = Self.count(row, "events"),
                let bytes = Self.count(row, "bytes")
            else {
                fault = fault ?? "\(name.prefix(255)): a counter is no number from 0 to \(Self.limit)"
                return
            }
            // None is kept: there may be many.
            if name.utf8.count > Self.longestName {
                fault = fault ?? Self.long(name)
                return
            }
            if !Self.hasPossibleBodies(interface) {
                fault = fault ?? "\(name) has long bodies where none can be, up to \(interface.tail)"
                return
            }
            if events > sequence { fault = fault ?? "\(name) keeps \(events) events of \(sequence)" }
            if events == 0 && bytes != 0 { fault = fault ?? "\(name) keeps \(bytes) bytes of no events" }
            interfaces.append(interface)
        }
        return (interfaces, fault)
    }
    /// Rows of interfaces that are not in the table.
    private func strangers(_ interfaces: [InterfaceRow]) throws(SQLiteError) -> String? {
        let known = Set(interfaces.map(\.id))
        for table in Self.tables {
            // From one interface to the next: by the key, or in a table that is small.
            let next = try database.prepare(
                "SELECT min(interface) AS interface FROM \(table) WHERE interface > ?")
            var last = Int64.min
            for _ in 0...interfaces.count {
                var found: Int64?
                try next.rows([.integer(last)]) { row in
                    if !row.isNull(row.place("interface")) { found = row.integer("interface") }
                }
                guard let id = found else { break }
                if !known.contains(id) { return "\(table) has rows of an interface \(id) that does not exist" }
                last = id
            }
        }
        return nil
    }
    /// That gaps are ranges of its sequences, one behind the other.
    private func gaps(of interface: InterfaceRow) throws(SQLiteError) -> String? {
        var (end, fault): (Int64, String?) = (0, nil)
        try database.prepare("SELECT first, last FROM relay_gaps WHERE interface = ? ORDER BY last").rows([
            .integer(interface.id)
        ]) { row in
            guard let first = Self.count(row, "first"), let last = Self.count(row, "last"), first > end, first <= last,
                last <= interface.sequence
            else {
                fault = fault ?? "the gap up to #\(row.integer("last")) contradicts its sequences, or another gap"
                return
            }
            end = last
        }
        return fault
    }
    /// The first and the last sequence that are kept: of an event, or of a gap.
    private func ends(of interface: InterfaceRow) throws(SQLiteError) -> String? {
        let (events, gaps) = (
            try ends("sequence", "sequence", in: "relay_events", of: interface),
            try ends("first", "last", in: "relay_gaps", of: interface)
        )
        if events == nil, interface.events > 0 {
            return "no event is there where its counter says \(interface.events)"
        }
        if events != nil, interface.events == 0 { return "events are there where its counter says that none is kept" }
        let all = [events, gaps].compactMap(\.self)
        guard let first = all.map(\.first).min(), let last = all.map(\.last).max() else { return nil }
        if last != interface.sequence {
            return "its last event is #\(last) where its counter says #\(interface.sequence)"
        }
        let oldest = try oldest(of: interface)
        if first != oldest { return "its first event is #\(first) where its counters say #\(oldest)" }
        return nil
    }
    /// Whether its numbers give its long bodies rows of their own.
    static func hasPossibleBodies(_ interface: InterfaceRow) -> Bool {
        0..<BodyPages.limit ~= interface.tail && 0..<BodyPages.interfaces ~= interface.id
    }
    /// The piece that the next long body would be put into.
    private func tail(of interface: InterfaceRow) throws(SQLiteError) -> String? {
        if interface.tail % Int64(BodyPages.size) == 0 { return nil }
        let length = try database.prepare("SELECT length(CAST(body AS BLOB)) FROM relay_bodies WHERE id = ?")
            .integers(.integer(BodyPages.row(of: interface.tail, interface.id)))?.first
        return length == Int64(BodyPages.size) ? nil : "the end of its long bodies, at \(interface.tail), is not there"
    }
    private func ends(
        _ first: String, _ last: String, in table: String, of interface: InterfaceRow
    ) throws(SQLiteError) -> (first: Int64, last: Int64)? {
        func end(_ column: String, _ order: String) throws(SQLiteError) -> Int64? {
            try database.prepare(
                "SELECT \(column) FROM \(table) WHERE interface = ? ORDER BY \(last) \(order) LIMIT 1"
            ).integers(.integer(interface.id))?.first
        }
        guard let first = try end(first, "ASC"), let last = try end(last, "DESC") else { return nil }
        return (first, last)
    }
    /// The oldest sequence that is kept, or is in a gap; one behind the last when there is none.
    private func oldest(of interface: InterfaceRow) throws(SQLiteError) -> Int64 {
        interface.sequence - interface.events - (try GapRows(database).count(of: interface.id)) + 1
    }
    /// That each name's last event is at the recorded sequence, and that some name has the interface's last.
    private func names(of interface: InterfaceRow) throws(SQLiteError) -> String? {
        var names: [(name: String, last: Int64, pruned: Int64)] = []
        var fault: String?
        try database.prepare(NameRow.query).rows([.integer(interface.id)]) { row in
            let name = NameRow(row).name
            guard let last = Self.count(row, "last"), let pruned = Self.count(row, "pruned"), last <= interface.sequence
            else {
                fault = fault ?? "the last event of \(name.prefix(255)) is none of its \(interface.sequence)"
                return
            }
            if name.utf8.count > Self.longestName {
                fault = fault ?? Self.long(name)
                return
            }
            names.append((name, last, pruned))
        }
        if let fault { return fault }
        let event = try database.prepare(
            """
            SELECT 1 FROM relay_events e JOIN relay_schemas s ON s.interface = e.interface AND number = schema
            WHERE e.interface = ? AND sequence = ? AND name = ?
            """)
        let oldest = try oldest(of: interface)
        for (name, last, pruned) in names {
            // What is older than the oldest event was removed, what is not was not; what a gap was removed with is none
            // of its events.
            if pruned >= oldest {
                return "\(name) was removed up to #\(pruned), with events from #\(oldest) to #\(last)"
            }
            if last < oldest {
                if pruned < last { return "the last event of \(name), #\(last), is missing" }
            } else if try event.integers(.integer(interface.id), .integer(last), .text(name)) == nil {
                return "#\(last) is no event of \(name)"
            }
        }
        let last = max(
            names.map(\.last).max() ?? 0, try ends("first", "last", in: "relay_gaps", of: interface)?.last ?? 0,
            names.map(\.pruned).max() ?? 0)
        // A replica may begin behind what it never had, of whatever names.
        if names.isEmpty && interface.events == 0 { return nil }
        if last != interface.sequence { return "its last event is #\(interface.sequence), of its names' #\(last)" }
        return nil
    }
    /// That no run began before the one that it follows, or behind the next event: of both ends, and of the newest rows.
    private func runs(of interface: InterfaceRow) throws(SQLiteError) -> String? {
        let limits =
            "SELECT min(first) AS first FROM relay_runs WHERE interface = ?1 "
            + "UNION ALL SELECT max(first) FROM relay_runs WHERE interface = ?1"
        if let fault = try runs(of: interface, limits) { return fault }
        let newest = "SELECT rowid, interface, first FROM relay_runs ORDER BY rowid DESC LIMIT \(Self.newestRuns)"
        return try runs(of: interface, "SELECT first FROM (\(newest)) WHERE interface = ?1 ORDER BY rowid")
    }
    private static let newestRuns = 256
    private func runs(of interface: InterfaceRow, _ query: String) throws(SQLiteError) -> String? {
        var (last, fault): (Int64, String?) = (1, nil)
        try database.prepare(query).rows([.integer(interface.id)]) { row in
            // No limit of no rows.
            if row.isNull(row.place("first")) { return }
            guard let first = Self.count(row, "first"), first >= last, first <= interface.sequence + 1 else {
                fault = fault ?? "a run began at #\(row.integer("first")), behind one that began at #\(last)"
                return
            }
            last = first
        }
        return fault
    }
    private func ages(of interface: InterfaceRow) throws(SQLiteError) -> String? {
        var (last, fault): (Int64, String?) = (0, nil)
        try database.prepare("SELECT sequence, elapsed FROM relay_ages WHERE interface = ? ORDER BY sequence").rows([
            .integer(interface.id)
        ]) { row in
            guard let sequence = Self.count(row, "sequence"), sequence <= interface.sequence,
                let elapsed = Self.count(row, "elapsed"), elapsed >= last
            else {
                fault = fault ?? "the age of event #\(row.integer("sequence")) contradicts another one"
                return
            }
            last = elapsed
        }
        return fault
    }
    /// That no document's last entry is behind the last event of its name.
    private func documents(of interface: InterfaceRow) throws(SQLiteError) -> String? {
        // A snapshot's may be of an entry in a gap, or of one that was removed before the replica began.
        let isReplica = try database.integers("SELECT id FROM relay_replica") != nil
        var fault: String?
        try database.prepare(
            """
            SELECT d.name AS name, d.sequence AS sequence, n.last AS last, length(d.body) AS length
            FROM relay_documents d LEFT JOIN relay_names n ON n.interface = d.interface AND n.name = d.name WHERE d.interface = ?
            """
        ).rows([.integer(interface.id)]) { row in
            let name = row.text("name")
            guard let sequence = Self.count(row, "sequence"), let last = Self.count(row, "last"),
                sequence <= (isReplica ? interface.sequence : last)
            else {
                fault = fault ?? "the last entry of the document \(name.prefix(255)) is none of its events"
                return
            }
            let length = row.integer("length")
            if length > Database.longestOwnValue {
                fault = fault ?? "the document \(name.prefix(255)) has \(length) bytes, which no journal writes"
            }
        }
        return fault
    }
    private func schemas(of interface: InterfaceRow) throws(SQLiteError) -> String? {
        var fault: String?
        try database.prepare("SELECT \(SchemaRow.columns) FROM relay_schemas WHERE interface = ?").rows([
            .integer(interface.id)
        ]) { row in
            let row = SchemaRow(row)
            budget?.parse(row.fields)
            if fault != nil || budget?.isSpent == true { return }
            if row.name.utf8.count > Self.longestName { fault = Self.long(row.name) }
            if UInt32(exactly: row.number) == nil { fault = fault ?? "schema \(row.number) has no number of 32 bits" }
            do { _ = try row.parsed() } catch {
                fault = fault ?? "schema \(row.number): \((error as? RelayError)?.message ?? "\(error)")"
            }
        }
        return fault
    }
    /// Of D-Bus.
    private static let longestName = 255
    private static func long(_ name: String) -> String {
        "the name \(name.prefix(40))… has \(name.utf8.count) bytes, and none has more than \(longestName)"
    }
    private static func count(_ row: borrowing Row, _ column: StaticString) -> Int64? {
        guard case .integer(let number) = row.value(row.place(column)), 0...limit ~= number else { return nil }
        return number
    }

    // MARK: In full

    /// Every page, and every row.
    ///
    /// - Parameter isOver: asked now and then; with true the rest is left out, and nil returned.
    func fullContradiction(isOver: () -> Bool) throws(SQLiteError) -> String? {
        if let fault = try disguise() { return fault }
        let pages = try pageReport()
        if isOver() { return nil }
        if pages != ["ok"] {
            let fault = pages.first ?? "quick_check says nothing"
            // A page that the disk does not give is told as if it were damaged.
            if let code = Self.diskError(in: fault) { throw SQLiteError(code: code, message: fault) }
            return fault
        }
        if let fault = try contradiction() { return fault }
        var pieces: Int64 = 0
        for interface in try interfaces().0 {
            if isOver() { return nil }
            // All of them. Not by an index: by the rows, whose order it is.
            let all = "SELECT first FROM relay_runs WHERE +interface = ?1 ORDER BY rowid"
            if let fault = try runs(of: interface, all) { return "\(interface.name): \(fault)" }
            if isOver() { return nil }
            if let fault = try rows(of: interface, &pieces, isOver) { return "\(interface.name) \(fault)" }
        }
        if isOver() { return nil }
        let stray = (try database.integers("SELECT count(*) FROM relay_bodies")?.first ?? 0) - pieces
        if stray != 0 { return "relay_bodies has \(stray) row\(stray == 1 ? "" : "s") of no interface" }
        return isOver() ? nil : try replies()
    }
    private func pageReport() throws(SQLiteError) -> [String] {
        // It reads the domain's values too, of whatever length: behind its look at the pages, which no two values share.
        let bound = database.limitValues(to: .max)
        defer { database.limitValues(to: bound) }
        return try database.texts("PRAGMA quick_check(1)")
    }
    /// The extended result code of a failed read that `PRAGMA quick_check` reports in words; nil for anything else.
    static func diskError(in report: String) -> Int32? {
        guard let number = report.split(separator: "error code=").dropFirst().first?.prefix(while: \.isNumber),
            let code = Int32(number), code & 0xFF == SQLITE_IOERR
        else { return nil }
        return code
    }
    /// That the kept replies count for what is noted of each user.
    private func replies() throws(SQLiteError) -> String? {
        let users = try database.texts(
            """
            SELECT user FROM (SELECT user, sum(cost) AS cost FROM relay_replies GROUP BY user
                UNION ALL SELECT user, -cost FROM relay_reply_costs WHERE user <> \(KeptReplies.everyone))
            GROUP BY user HAVING sum(cost) <> 0 LIMIT 1
            """)
        return users.first.map { "the kept replies of user \($0) count for other than is noted" }
    }
    /// That the events match the counters, without a hole but gaps, that each has its whole body, behind the one
    /// before, and that its name accounts for it.
    ///
    /// - Parameter pieces: counts those of the bodies.
    private func rows(
        of interface: InterfaceRow, _ pieces: inout Int64, _ isOver: () -> Bool
    ) throws(SQLiteError) -> String? {
        var names: [Int64: (name: String, last: Int64)] = [:]
        try database.prepare(
            """
            SELECT number, s.name AS name, last FROM relay_schemas s JOIN relay_names n ON n.interface = s.interface
                AND n.name = s.name WHERE s.interface = ?
            """
        ).rows([.integer(interface.id)]) { names[$0.integer("number")] = ($0.text("name"), $0.integer("last")) }
        var gaps = GapCursor(
            try database.prepare("SELECT first, last FROM relay_gaps WHERE interface = ? ORDER BY last"))
        try gaps.begin(interface.id)
        defer { gaps.end() }
        let rows = try EventQuery(
            [.sequence, .schema, .place, .size, .length], "WHERE interface = ? ORDER BY sequence", on: database)
        let bodies = try BodyRows(database)
        defer { bodies.end() }
        // Where the bodies end that were seen, and the pieces that they are in.
        var (end, first, last): (Int64, Int64?, Int64) = (0, nil, -1)
        defer { rows.statement.clear() }
        try rows.statement.bind([.integer(interface.id)])
        var (count, bytes): (Int64, Int64) = (0, 0)
        var next = try oldest(of: interface)
        // Most often the schema of the row before.
        var (schema, known): (Int64?, (name: String, last: Int64)?) = (nil, nil)
        while try rows.statement.step() {
            let row = rows.row
            let sequence = Int64(bitPattern: row.sequence)
            next = try gaps.pass(next)
            if sequence != next { break }
            if row.schema != schema { (schema, known) = (row.schema, names[row.schema]) }
            guard let known, known.last >= sequence else {
                return "has event #\(sequence) of schema \(row.schema), of which its names know nothing"
            }
            if row.length > Database.longestOwnValue {
                return "has event #\(sequence) of \(row.length) bytes, which no journal writes"
            }
            if row.size != 0 {
                let (place, size) = (row.place, row.size)
                guard size > 0, place >= end, size <= interface.tail, place <= interface.tail - size else {
                    return "has event #\(sequence) with a body at \(place) of \(size) bytes, where none of its is"
                }
                try bodies.read(size, at: place, of: interface.id) { _ in }
                end = place + size
                first = first ?? place / Int64(BodyPages.size)
                last = (end - 1) / Int64(BodyPages.size)
            }
            (count, next, bytes) = (count + 1, next + 1, bytes &+ row.length)
            if count.isMultiple(of: 4_096) && isOver() { return nil }
        }
        next = try gaps.pass(next)
        if count != interface.events || next != interface.sequence + 1 {
            return "has \(count) events without a hole, up to #\(next - 1), where its counters say \(interface.events)"
        }
        let stored = try countPieces(of: interface)
        // One may be left of what was pruned.
        let used = first.map { last - $0 + 1 } ?? 0
        if !(used...used + 1 ~= stored) {
            return "has \(stored) rows in relay_bodies where its events have \(used)"
        }
        pieces += stored
        if bytes != interface.bytes { return "has \(bytes) bytes where its counters say \(interface.bytes)" }
        return nil
    }
}

extension JournalExamination {
    fileprivate func countPieces(of interface: InterfaceRow) throws(SQLiteError) -> Int64 {
        let next = BodyPages.row(of: 0, interface.id &+ 1)
        return try database.prepare("SELECT count(*) FROM relay_bodies WHERE id >= ? AND id < ?")
            .integers(.integer(BodyPages.row(of: 0, interface.id)), .integer(next))?.first ?? 0
    }
}

/// Gaps that are passed by one after the other.
private struct GapCursor {
    private let statement: Statement
    private var gap: (first: Int64, last: Int64)?

    init(_ statement: Statement) { self.statement = statement }
    mutating func begin(_ interface: Int64) throws(SQLiteError) {
        try statement.bind([.integer(interface)])
        try step()
    }
    func end() { statement.clear() }
    /// What follows a sequence, behind the gaps that begin there.
    mutating func pass(_ sequence: Int64) throws(SQLiteError) -> Int64 {
        var next = sequence
        while let gap, gap.first == next {
            next = gap.last + 1
            try step()
        }
        return next
    }
    private mutating func step() throws(SQLiteError) {
        gap = nil
        if try statement.step() { gap = (statement.row.integer("first"), statement.row.integer("last")) }
    }
}
