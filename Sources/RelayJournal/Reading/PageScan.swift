import RelayCore

/// Makes a page of the rows that come by.
struct PageScan {
    private let request: LogRequest
    private let interface: ReadInterface
    private let runs: RunRows
    /// Of a page's bodies.
    private static let usualLength = 256 << 10
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
    private var number: UInt32 = 0
    private var schema: ReadInterface.Schema?
    private var name: Int32 = 0
    /// The page's numbers for names, by schema.
    private var names: [UInt32: Int32] = [:]
    private var isAskedFor = false

    init(_ request: LogRequest, _ interface: ReadInterface, _ runs: RunRows) {
        (self.request, self.interface, self.runs, through) = (request, interface, runs, request.after)
    }

    /// Takes a row; false when the page is full, and the row was not taken.
    mutating func take(_ row: borrowing EventRow) throws(SQLiteError) -> Bool {
        let sequence = row.sequence
        if let run, sequence > run.end { return endRun() }
        let number = UInt32(truncatingIfNeeded: row.schema)
        if number != self.number || schema == nil {
            self.number = number
            // A number that is not in the table was added by hand: it goes by its own name, and readers find no schema.
            let schema = interface.schemas[number] ?? ReadInterface.Schema(name: row.name, overhead: 64)
            isAskedFor = request.names?.contains(schema.name) ?? true
            if isAskedFor {
                name = names[number] ?? events.name(schema.name)
                names[number] = name
            }
            self.schema = schema
        }
        if isAskedFor, let schema {
            if events.count >= request.limit { return endEarly() }
            let isTaken = row.withBody { body in
                // Two alignments of 8 come with each.
                let cost = body.count + schema.overhead
                if bytes + cost > request.byteLimit && events.count > 0 { return false }
                if events.count == 0 {
                    // As if all were as long as the first.
                    let length = min(request.byteLimit, Self.usualLength)
                    events.reserve(
                        bytes: length, rows: min(length / max(cost, 1) + 1, request.limit, PageReader.scanLimit))
                }
                bytes += cost
                events.append(name, number, sequence, body)
                return true
            }
            if !isTaken { return endEarly() }
            if run == nil { run = try run(of: sequence) }
        }
        through = sequence
        return true
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
    mutating func end() { if !hasEnded { through = min(head, run?.end ?? .max) } }
    func page(oldest: UInt64) throws(SQLiteError) -> LogPage {
        let epoch = if let run { run.epoch } else { try run(of: through).epoch }
        return LogPage(epoch: epoch, contents: events, oldest: oldest, through: through, head: head)
    }
}
