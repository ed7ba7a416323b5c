import RelayCore

/// The runs of interfaces, in their table: every one that there has been, each looked up by its epoch or by a sequence.
///
/// First sequences never fall from one run to the next; of runs that begin at the same one, only the last has events.
/// So this order and that of the rows are the same. For one thread, as the connection is.
struct RunRows {
    private let byEpoch, before, after, oldest, newest, last, place, next, insert, mark, every, removal: Statement
    private let database: Database

    init(_ database: Database) throws(SQLiteError) {
        self.database = database
        byEpoch = try database.prepare(
            "SELECT first FROM relay_runs WHERE interface = ? AND epoch = ? ORDER BY rowid DESC LIMIT 1")
        before = try database.prepare(
            """
            SELECT epoch, first FROM relay_runs WHERE interface = ? AND first < ?
            ORDER BY first DESC, rowid DESC LIMIT 1
            """)
        after = try database.prepare("SELECT min(first) AS first FROM relay_runs WHERE interface = ? AND first > ?")
        oldest = try database.prepare(
            "SELECT first, epoch FROM relay_runs WHERE interface = ? ORDER BY first, rowid LIMIT 1")
        every = try database.prepare(
            "SELECT rowid, epoch, first FROM relay_runs WHERE interface = ? ORDER BY first, rowid")
        removal = try database.prepare("DELETE FROM relay_runs WHERE rowid = ?")
        newest = try database.prepare(
            "SELECT epoch, first FROM relay_runs WHERE interface = ? ORDER BY first DESC, rowid DESC LIMIT ?")
        last = try database.prepare(
            "SELECT rowid, epoch FROM relay_runs WHERE interface = ? ORDER BY first DESC, rowid DESC LIMIT 1")
        place = try database.prepare(
            "SELECT first, rowid FROM relay_runs WHERE interface = ? AND epoch = ? ORDER BY rowid DESC LIMIT 1")
        next = try database.prepare(
            """
            SELECT epoch, first FROM relay_runs WHERE interface = ? AND (first, rowid) > (?, ?)
            ORDER BY first, rowid LIMIT ?
            """)
        insert = try database.prepare("INSERT INTO relay_runs (interface, epoch, first, open) VALUES (?, ?, ?, ?)")
        mark = try database.prepare("UPDATE relay_runs SET open = ? WHERE rowid = ?")
    }

    /// A run begins.
    ///
    /// - Parameter isOpen: of a mirror, whether its origin may have more of the run, which goes on here if it is the
    ///   last one; nil: it is this service's own.
    func begin(_ run: StreamRun, of interface: Int64, isOpen: Bool?) throws(SQLiteError) {
        let open = SQLValue.integer(isOpen == true ? 1 : 0)
        let last = try isOpen == nil ? nil : last.integers(.integer(interface))
        if let last, last[1] == Int64(bitPattern: run.epoch) {
            try mark.run(open, .integer(last[0]))
        } else {
            try insert.run(.integer(interface), Self.value(run.epoch), Self.value(run.first), open)
        }
    }
    /// The journal's identity: the epoch of its first run, which stays. 0: it has none yet.
    func identity() throws(SQLiteError) -> UInt64 {
        UInt64(bitPattern: try database.integers("SELECT epoch FROM relay_runs ORDER BY rowid LIMIT 1")?.first ?? 0)
    }
    /// Of a replica: the epoch of the origin's first run. 0: there is none.
    func identity(of interface: Int64) throws(SQLiteError) -> UInt64 {
        UInt64(bitPattern: try oldest.integers(.integer(interface))?.last ?? 0)
    }
    /// All of them, in their order.
    func all(of interface: Int64) throws(SQLiteError) -> [StreamRun] {
        var runs: [StreamRun] = []
        try every.rows([.integer(interface)]) { runs.append(Self.run($0)) }
        return runs
    }
    /// Of a replica: these are the origin's, the last one open. What is the same stays.
    func replace(with runs: [StreamRun], of interface: Int64) throws(SQLiteError) {
        var known: [(row: Int64, run: StreamRun)] = []
        try every.rows([.integer(interface)]) { known.append(($0.integer("rowid"), Self.run($0))) }
        let same = zip(known, runs).prefix { $0.run == $1 }.count
        if same == runs.count && same == known.count { return }
        for (row, _) in known[same...] { try removal.run(.integer(row)) }
        if same > 0 { try mark.run(.integer(same == runs.count ? 1 : 0), .integer(known[same - 1].row)) }
        for (place, run) in runs.enumerated().dropFirst(same) {
            let open = SQLValue.integer(place == runs.count - 1 ? 1 : 0)
            try insert.run(.integer(interface), Self.value(run.epoch), Self.value(run.first), open)
        }
    }
    /// The newest run of an epoch, which is random: there is one.
    func run(_ epoch: UInt64, of interface: Int64) throws(SQLiteError) -> LoggedRun? {
        guard let row = try byEpoch.integers(.integer(interface), Self.value(epoch)) else { return nil }
        let first = UInt64(bitPattern: row[0])
        // Of those that begin there, a later one has what follows.
        if try run(before: first &+ 1, of: interface)?.epoch != epoch {
            return LoggedRun(first: first, end: first - min(first, 1))
        }
        return LoggedRun(first: first, end: try after(first, in: interface).map { $0 - min($0, 1) })
    }
    /// The newest of the runs that begin below a sequence.
    func run(before sequence: UInt64, of interface: Int64) throws(SQLiteError) -> StreamRun? {
        var run: StreamRun?
        try before.rows([.integer(interface), Self.place(sequence)]) { run = Self.run($0) }
        return run
    }
    /// The run that a sequence is of, and its last sequence: `UInt64.max` for the present one.
    ///
    /// What is older than all runs counts for the oldest.
    func run(of sequence: UInt64, in interface: Int64) throws(SQLiteError) -> (epoch: UInt64, end: UInt64) {
        let first = try first(of: interface)
        let place = max(sequence, first)
        guard let run = try run(before: place < .max ? place + 1 : place, of: interface) else { return (0, .max) }
        return (run.epoch, try after(place, in: interface).map { $0 - min($0, 1) } ?? .max)
    }
    /// The lowest first sequence above a sequence.
    private func after(_ sequence: UInt64, in interface: Int64) throws(SQLiteError) -> UInt64? {
        var first: UInt64?
        try after.rows([.integer(interface), Self.place(sequence)]) { row in
            if !row.isNull(row.place("first")) { first = UInt64(bitPattern: row.integer("first")) }
        }
        return first
    }
    /// The first sequence of the oldest run.
    private func first(of interface: Int64) throws(SQLiteError) -> UInt64 {
        try oldest.integers(.integer(interface)).map { UInt64(bitPattern: $0[0]) } ?? 1
    }
    /// The newest runs, the present one last, and a sample of all; without a sample, there are no others.
    func recent(
        of interface: Int64, most: Int
    ) throws(SQLiteError) -> (runs: [StreamRun], sample: [StreamRun]?) {
        var runs: [StreamRun] = []
        try newest.rows([.integer(interface), .integer(Int64(most) + 1)]) { runs.append(Self.run($0)) }
        runs.reverse()
        guard runs.count > most, let present = runs.last else { return (runs, nil) }
        let sample = try StreamRun.sample(to: present, oldest: first(of: interface)) { limit throws(SQLiteError) in
            try run(before: limit, of: interface)
        } after: { limit throws(SQLiteError) in
            try after(limit, in: interface)
        }
        return (Array(runs.dropFirst()), sample)
    }

    /// The runs behind one, oldest first; nil: there is no such run.
    ///
    /// - Parameter epoch: 0: from the oldest one on.
    func runs(after epoch: UInt64, atMost limit: Int, of interface: Int64) throws(SQLiteError) -> [StreamRun]? {
        var start: [Int64] = [0, 0]
        if epoch != 0 {
            guard let row = try place.integers(.integer(interface), Self.value(epoch)) else { return nil }
            start = row
        }
        var runs: [StreamRun] = []
        let values = [interface, start[0], start[1], Int64(limit)].map(SQLValue.integer)
        try next.rows(values) { runs.append(Self.run($0)) }
        return runs
    }

    private static func run(_ row: borrowing Row) -> StreamRun {
        StreamRun(epoch: UInt64(bitPattern: row.integer("epoch")), first: UInt64(bitPattern: row.integer("first")))
    }
    private static func value(_ number: UInt64) -> SQLValue { .integer(Int64(bitPattern: number)) }
    /// What SQLite counts ends before what is asked for may.
    private static func place(_ sequence: UInt64) -> SQLValue { .integer(Int64(clamping: sequence)) }
}
