import CSQLite
import RelayCore

/// Makes a page of the rows that come by.
struct PageScan: ~Copyable {
    private let request: LogRequest
    private let interface: ReadInterface
    /// Of these two, for each row: to read them there copies what they are in.
    private let byteLimit, rowLimit: Int
    private let id: Int64
    private let runs: RunRows
    private let bodies: BodyRows
    /// Of a page's bodies.
    private static let usualLength = 256 << 10
    private static let longest = Int64(Database.longestOwnValue) + 1
    /// Of the latest transaction.
    var head: UInt64 = 0
    private var events = LogPage.Events()
    private var bytes = 0
    /// The run of the page's events, once it has some: where it ends.
    private var run: (epoch: UInt64, end: UInt64)?
    private(set) var through: UInt64
    var count: Int { events.count }
    private var hasEnded = false
    /// The schema of the row before: most often that of the next one too.
    private var schema: Int64?
    private var number: UInt32 { UInt32(truncatingIfNeeded: schema ?? 0) }
    private var name: Int32 = 0
    private var overhead = 0
    /// The page's numbers for names, by schema.
    private var names: [UInt32: Int32] = [:]
    private var isAskedFor = false
    /// The ranges above `after` that the log never had.
    private var gaps: [ClosedRange<UInt64>] = []
    /// The page ends here at the latest.
    private var limit = UInt64.max

    init(_ request: LogRequest, _ interface: ReadInterface, _ runs: RunRows, _ bodies: BodyRows) {
        self.bodies = bodies
        (self.request, self.interface, self.runs, through) = (request, interface, runs, request.after)
        (byteLimit, rowLimit, id) = (request.byteLimit, request.limit, interface.id)
    }

    /// Takes a row; false when the page is full, and the row was not taken.
    mutating func take(_ row: borrowing EventRow) throws(SQLiteError) -> Bool {
        let sequence = row.sequence
        if let run, sequence > run.end { return endRun() }
        if sequence > limit {
            through = limit
            return endEarly()
        }
        let schema = row.schema
        if schema != self.schema { try change(to: schema, at: sequence) }
        if isAskedFor {
            if events.count >= rowLimit { return endEarly() }
            let size = row.size
            let isTaken = try row.withBody { body throws(SQLiteError) in
                // Of another program's numbers no sum overflows.
                let count = body.count + Int(clamping: min(max(size, 0), Self.longest))
                // The first one always fits.
                guard events.count == 0 || bytes + count + overhead <= byteLimit else { return false }
                if events.count == 0 { reserve(count) }
                bytes += count + overhead
                if size != 0 { try bodies.read(size, at: row.place, of: id) { events.append(part: $0) } }
                events.append(name, number, sequence, body)
                return true
            }
            if !isTaken { return endEarly() }
            if run == nil { run = try run(of: sequence) }
        }
        through = sequence
        return true
    }
    /// As if all were as long as the first.
    private mutating func reserve(_ count: Int) {
        let length = min(byteLimit, Self.usualLength)
        events.reserve(
            bytes: length, rows: min(length / max(count + overhead, 1) + 1, rowLimit, PageReader.scanLimit))
    }
    private mutating func change(to schema: Int64, at sequence: UInt64) throws(SQLiteError) {
        let number = UInt32(truncatingIfNeeded: schema)
        guard let known = interface.schemas[number] else {
            throw SQLiteError(
                code: SQLITE_CORRUPT, message: "event #\(sequence) has a schema \(schema), which is not there")
        }
        (self.schema, overhead) = (schema, known.overhead)
        isAskedFor = request.names?.contains(known.name) ?? true
        if isAskedFor {
            name = names[number] ?? events.name(known.name)
            names[number] = name
        }
    }
    /// What the log never had, above `after`: the page ends before it would have too many of them.
    mutating func cross(_ ranges: [ClosedRange<UInt64>]) {
        gaps = ranges
        limit = ranges.count > LogPage.mostGaps ? ranges[LogPage.mostGaps].lowerBound - 1 : .max
    }
    private mutating func endRun() -> Bool {
        through = run?.end ?? through
        return endEarly()
    }
    private mutating func endEarly() -> Bool {
        hasEnded = true
        return false
    }
    /// Of the present run, most often.
    private func run(of sequence: UInt64) throws(SQLiteError) -> (epoch: UInt64, end: UInt64) {
        if sequence >= interface.run.first { return (interface.run.epoch, .max) }
        return try runs.run(of: sequence, in: interface.id)
    }
    /// There are no more rows.
    mutating func end() { if !hasEnded { through = min(head, limit, run?.end ?? .max) } }
    func page(oldest: UInt64) throws(SQLiteError) -> LogPage {
        let epoch = if let run { run.epoch } else { try run(of: through).epoch }
        let gaps = gaps.compactMap { gap -> ClosedRange<UInt64>? in
            let (first, last) = (max(gap.lowerBound, request.after + 1), min(gap.upperBound, through))
            return first <= last ? first...last : nil
        }
        return LogPage(
            epoch: epoch, contents: events, gaps: gaps, oldest: oldest, through: through, head: head)
    }
}
