@testable import RelayCore

/// What a durable interface's service keeps: committed events, runs, what was removed. A value, so that a backup is a copy.
struct DurableJournal: Hashable {
    struct Row: Hashable {
        let epoch: UInt64
        let sequence: UInt64
        let previous: UInt64
        let name: String
    }
    struct Page: Hashable {
        let epoch: UInt64
        let rows: [Row]
        let oldest: UInt64
        let through: UInt64
        let head: UInt64
        /// What had been removed by then.
        let removed: Set<Row>
    }
    private(set) var rows: [Row] = []
    private var removed: Set<Row> = []
    private(set) var head: UInt64 = 0
    private var last: [UInt64] = [0, 0, 0]
    private var pruned: [UInt64] = [0, 0, 0]
    private(set) var runs: [StreamRun] = []

    static let names = ["A", "B", "C"]
    private static func index(_ name: String) -> Int { name == "A" ? 0 : name == "B" ? 1 : 2 }

    mutating func begin(_ epoch: UInt64) { runs.append(StreamRun(epoch: epoch, first: head + 1)) }
    mutating func commit(_ name: String) -> Row {
        let index = Self.index(name)
        head += 1
        let row = Row(epoch: runs.last?.epoch ?? 0, sequence: head, previous: last[index], name: name)
        rows.append(row)
        last[index] = head
        return row
    }
    /// The oldest row goes. False when there is none.
    mutating func prune() -> Bool {
        if rows.isEmpty { return false }
        let row = rows.removeFirst()
        removed.insert(row)
        pruned[Self.index(row.name)] = row.sequence
        return true
    }
    private func oldest(_ names: Set<String>?) -> UInt64 {
        1 + (Self.names.filter { names?.contains($0) ?? true }.map { pruned[Self.index($0)] }.max() ?? 0)
    }

    /// It was committed, and is not undone.
    func knows(_ row: Row) -> Bool { rows.contains(row) || removed.contains(row) }
    /// As `Attach` answers, when events up to `emitted` were sent.
    func attachment(
        _ epoch: UInt64, _ after: UInt64, _ ancestry: [StreamRun], _ names: Set<String>?, emitted: UInt64
    ) -> Attachment {
        let run = LogSnapshot(head: head, last: [:], pruned: [:], runs: runs, schemas: [:])
        let history = StreamHistory(run, names: Set(Self.names))
        return Attachment(
            epoch: runs.last?.epoch ?? 0,
            from: history.from(epoch: epoch, after: after, ancestry: ancestry, head: head), oldest: oldest(names),
            head: emitted, last: heads(emitted), details: AttachOptions(runs: history.sample))
    }
    func heads(_ emitted: UInt64) -> [String: UInt64] {
        var heads: [String: UInt64] = [:]
        for name in Self.names {
            let sequence = rows.last { $0.name == name && $0.sequence <= emitted }?.sequence ?? 0
            let known = max(sequence, min(pruned[Self.index(name)], emitted))
            if known > 0 { heads[name] = known }
        }
        return heads
    }
    /// As `Read` answers: at most two rows, of one run.
    func page(after: UInt64, _ names: Set<String>?) -> Page {
        let rest = rows.filter { $0.sequence > after && names?.contains($0.name) ?? true }
        let page = rest.prefix { $0.epoch == rest[0].epoch }.prefix(2)
        let through = page.count < rest.count ? page.last?.sequence ?? head : head
        let epoch = page.first?.epoch ?? runs.last { $0.first <= through }?.epoch ?? runs.last?.epoch ?? 0
        return Page(
            epoch: epoch, rows: Array(page), oldest: oldest(names), through: through, head: head, removed: removed)
    }
}
