import RelayCore
import RelayWire

/// One interface's events, as a value.
package struct MemoryStream: Sendable {
    private var rows: [LogPage.Event] = []
    private var last: [String: UInt64] = [:]
    private var pruned: [String: UInt64] = [:]
    private(set) var runs: [LogSnapshot.Run] = []
    private var schemas: [UInt32: EventSchema] = [:]
    /// The schemas' numbers by the events' numbers, in this run.
    private var numbers: [UInt32] = []
    /// Of each name the last row, whatever was removed.
    private var latest: [String: LogPage.Event] = [:]
    private(set) var head: UInt64 = 0
    var count: Int { rows.count }

    /// A run begins.
    mutating func begin(_ interface: LoggedInterface) -> LogSnapshot {
        runs.append(LogSnapshot.Run(epoch: interface.epoch, first: head + 1))
        numbers = interface.events.map { number(of: $0) }
        let names = interface.documents.map { interface.events[$0].event }
        let documents = latest.filter { names.contains($0.key) }.mapValues { row in
            LoggedDocument(sequence: row.sequence, schema: row.schema, body: row.body)
        }
        return LogSnapshot(
            head: head, last: last, pruned: pruned, runs: runs, schemas: schemas, documents: documents,
            journal: runs[0].epoch)
    }
    private mutating func number(of schema: EventSchema) -> UInt32 {
        // Of one name the highest number is the present one: an older one cannot be taken up again.
        let present = schemas.filter { $0.value.event == schema.event }.max { $0.key < $1.key }
        if let present, present.value == schema { return present.key }
        let number = (schemas.keys.max() ?? 0) + 1
        schemas[number] = schema
        return number
    }
    /// Returns the event in its place.
    mutating func append(_ event: LoggedEvent, at time: Timestamp) -> (event: LoggedEvent, stamp: Stamp) {
        let number = numbers[event.index]
        let name = schemas[number]?.event ?? ""
        var event = event
        head += 1
        let stamp = Stamp(
            epoch: runs.last?.epoch ?? 0, sequence: head, previous: last[name] ?? 0, publishedAt: time)
        event.enter(stamp)
        last[name] = head
        rows.append(LogPage.Event(name: name, schema: number, sequence: head, body: event.body))
        latest[name] = rows.last
        return (event, stamp)
    }
    /// Removes what is not above a sequence; what was removed last of each name.
    mutating func prune(through sequence: UInt64) -> [String: UInt64] {
        let kept = rows.firstIndex { $0.sequence > sequence } ?? rows.count
        for row in rows[..<kept] { pruned[row.name] = row.sequence }
        rows.removeFirst(kept)
        return pruned
    }

    private func run(of sequence: UInt64) -> Int? { runs.lastIndex { $0.first <= max(sequence, 1) } }

    func common(_ question: RunQuestion) -> CommonRun? {
        question.common { epoch in
            runs.lastIndex { $0.epoch == epoch }.map { index in
                LoggedRun(first: runs[index].first, end: index + 1 < runs.count ? runs[index + 1].first - 1 : nil)
            }
        }
    }
    func page(_ request: LogRequest) -> LogPage {
        func isWanted(_ name: String) -> Bool { request.names?.contains(name) ?? true }
        var (events, bytes) = ([LogPage.Event](), 0)
        var (through, isCut) = (request.after, false)
        /// The last sequence of the run that the page is of, once that is known.
        var end = UInt64.max
        for row in rows.drop(while: { $0.sequence <= request.after }) {
            if isWanted(row.name) {
                bytes += row.name.utf8.count + row.body.count
                let isFull = events.count == request.limit || bytes > request.byteLimit && !events.isEmpty
                if isFull || row.sequence > end {
                    isCut = true
                    break
                }
                if events.isEmpty, let run = run(of: row.sequence), run + 1 < runs.count {
                    end = runs[run + 1].first - 1
                }
                events.append(row)
            }
            through = row.sequence
        }
        if !isCut { through = max(through, head) }
        through = max(min(through, end), request.after)
        let epoch = run(of: events.first?.sequence ?? through).map { runs[$0].epoch } ?? 0
        let removed = pruned.filter { isWanted($0.key) }.values.max() ?? 0
        return LogPage(epoch: epoch, events: events, oldest: removed + 1, through: through, head: head)
    }
}
