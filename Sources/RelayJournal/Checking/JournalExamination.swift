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
    private static let tables = ["relay_interfaces", "relay_runs", "relay_names", "relay_schemas", "relay_events"]

    // MARK: A few look-ups

    /// That the journal's tables are as its version makes them, and nothing belongs to them that it does not make. Views
    /// and virtual tables could have rows without end, a computed column and an index on an expression need any time,
    /// and a constraint or a trigger would refuse or change what is written.
    func disguise() throws(SQLiteError) -> String? {
        let version = Int(clamping: try database.integers("PRAGMA user_version")?.first ?? 0)
        guard 1...JournalSchema.version ~= version else { return "it says that it is of version \(version)" }
        let (found, made) = (
            try JournalSchema.objects(of: database), try JournalSchema.objects(ofVersion: version)
        )
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
        let present = try database.texts("SELECT name FROM sqlite_master WHERE type = 'table'")
        let hasAges = present.contains("relay_ages")
        let hasDocuments = present.contains("relay_documents")
        let (interfaces, fault) = try interfaces()
        if let fault { return fault }
        if let fault = try strangers(interfaces) { return fault }
        for interface in interfaces {
            var fault = try ends(of: interface)
            if fault == nil { fault = try names(of: interface) }
            if fault == nil { fault = try runs(of: interface) }
            if fault == nil { fault = try schemas(of: interface) }
            if fault == nil && hasAges { fault = try ages(of: interface) }
            if fault == nil && hasDocuments { fault = try documents(of: interface) }
            if let fault { return "\(interface.name): \(fault)" }
        }
        return present.contains("relay_reply_costs") ? try replyCosts() : nil
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
            if events > sequence { fault = fault ?? "\(name) keeps \(events) events of \(sequence)" }
            if events == 0 && bytes != 0 { fault = fault ?? "\(name) keeps \(bytes) bytes of no events" }
            interfaces.append(interface)
        }
        return (interfaces, fault)
    }
    /// Rows of interfaces that are not in the table.
    private func strangers(_ interfaces: [InterfaceRow]) throws(SQLiteError) -> String? {
        let known = Set(interfaces.map(\.id))
        for table in Self.tables.dropFirst() {
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
    private func ends(of interface: InterfaceRow) throws(SQLiteError) -> String? {
        let first = try end(of: interface, "ASC")
        let last = try end(of: interface, "DESC")
        guard let first, let last else {
            return interface.events == 0 ? nil : "no event is there where its counter says \(interface.events)"
        }
        if interface.events == 0 { return "events are there where its counter says that none is kept" }
        if last != interface.sequence {
            return "its last event is #\(last) where its counter says #\(interface.sequence)"
        }
        if first != interface.oldest {
            return "its first event is #\(first) where its counters say #\(interface.oldest)"
        }
        return nil
    }
    /// The sequence of the first or the last event.
    private func end(of interface: InterfaceRow, _ order: String) throws(SQLiteError) -> Int64? {
        var sequence: Int64?
        try EventQuery([.sequence], "WHERE interface = ? ORDER BY sequence \(order) LIMIT 1", on: database)
            .rows([.integer(interface.id)]) { sequence = Int64(bitPattern: $0.sequence) }
        return sequence
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
        let event = try database.prepare("SELECT 1 FROM relay_events WHERE interface = ? AND sequence = ? AND name = ?")
        for (name, last, pruned) in names {
            // What is older than the oldest event was removed, what is not was not.
            if pruned > last || pruned >= interface.oldest {
                return "\(name) was removed up to #\(pruned), with events from #\(interface.oldest) to #\(last)"
            }
            if last < interface.oldest {
                if pruned != last { return "the last event of \(name), #\(last), is missing" }
            } else if try event.integers(.integer(interface.id), .integer(last), .text(name)) == nil {
                return "#\(last) is no event of \(name)"
            }
        }
        let last = names.map(\.last).max() ?? 0
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
        var fault: String?
        try database.prepare(
            """
            SELECT d.name AS name, d.sequence AS sequence, n.last AS last, length(d.body) AS length
            FROM relay_documents d LEFT JOIN relay_names n ON n.interface = d.interface AND n.name = d.name WHERE d.interface = ?
            """
        ).rows([.integer(interface.id)]) { row in
            let name = row.text("name")
            guard let sequence = Self.count(row, "sequence"), let last = Self.count(row, "last"), sequence <= last
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
        for interface in try interfaces().0 {
            if isOver() { return nil }
            // All of them. Not by an index: by the rows, whose order it is.
            let all = "SELECT first FROM relay_runs WHERE +interface = ?1 ORDER BY rowid"
            if let fault = try runs(of: interface, all) { return "\(interface.name): \(fault)" }
            if isOver() { return nil }
            if let fault = try rows(of: interface, isOver) { return "\(interface.name) \(fault)" }
        }
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
        // An older version has none.
        if try database.texts("SELECT name FROM sqlite_master WHERE name = 'relay_reply_costs'").isEmpty { return nil }
        let users = try database.texts(
            """
            SELECT user FROM (SELECT user, sum(cost) AS cost FROM relay_replies GROUP BY user
                UNION ALL SELECT user, -cost FROM relay_reply_costs WHERE user <> \(KeptReplies.everyone))
            GROUP BY user HAVING sum(cost) <> 0 LIMIT 1
            """)
        return users.first.map { "the kept replies of user \($0) count for other than is noted" }
    }
    /// That the events match the counters, without a hole, and that each event's name accounts for it.
    private func rows(of interface: InterfaceRow, _ isOver: () -> Bool) throws(SQLiteError) -> String? {
        var last: [String: Int64] = [:]
        try database.prepare(NameRow.query).rows([.integer(interface.id)]) { row in
            let row = NameRow(row)
            last[row.name] = Int64(bitPattern: row.last)
        }
        let names: [(bytes: [UInt8], last: Int64)] = last.map { (Array($0.key.utf8), $0.value) }
        let places = Dictionary(names.indices.map { (names[$0].bytes, $0) }) { $1 }
        let rows = try EventQuery(
            [.sequence, .name, .length], "WHERE interface = ? ORDER BY sequence", on: database)
        defer { rows.statement.clear() }
        try rows.statement.bind([.integer(interface.id)])
        var (count, bytes, next): (Int64, Int64, Int64) = (0, 0, interface.oldest)
        var place = names.startIndex
        while try rows.statement.step() {
            let row = rows.row
            let sequence = Int64(bitPattern: row.sequence)
            if sequence != next { break }
            // Most often the name of the row before.
            let found = row.withName { text in
                names.indices.contains(place) && names[place].bytes.elementsEqual(text) ? place : places[Array(text)]
            }
            guard let found, names[found].last >= sequence else {
                return "has event #\(sequence) of \(row.name), of which its names know nothing"
            }
            if row.length > Database.longestOwnValue {
                return "has event #\(sequence) of \(row.length) bytes, which no journal writes"
            }
            (place, count, next) = (found, count + 1, next + 1)
            bytes = bytes &+ row.length
            if count.isMultiple(of: 4_096) && isOver() { return nil }
        }
        if count != interface.events {
            return
                "has \(count) events from #\(interface.oldest) without a hole where its counters say \(interface.events)"
        }
        if bytes != interface.bytes { return "has \(bytes) bytes where its counters say \(interface.bytes)" }
        return nil
    }
}

extension InterfaceRow {
    /// The oldest sequence that is kept; one behind the last when none is.
    fileprivate var oldest: Int64 { sequence - events + 1 }
}
