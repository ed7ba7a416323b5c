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
        let gaps: [ClosedRange<UInt64>]
    }
    private(set) var rows: [Row] = []
    private var removed: Set<Row> = []
    /// What it never had, as a mirror's: events that its origin has lost on the way.
    private var missed: Set<Row> = []
    private var gaps: [ClosedRange<UInt64>] = []
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
    /// An event that the journal never gets.
    mutating func miss(_ name: String) -> Row {
        let row = Row(epoch: runs.last?.epoch ?? 0, sequence: head + 1, previous: last[Self.index(name)], name: name)
        head += 1
        missed.insert(row)
        if let gap = gaps.last, gap.upperBound == head - 1 {
            gaps[gaps.count - 1] = gap.lowerBound...head
        } else {
            gaps.append(head...head)
        }
        last = last.map { _ in head }
        return row
    }
    /// As a mirror that is being rebuilt has it so far: nil where something was removed. Of the runs, so many.
    func prefix(through sequence: UInt64, runs count: Int) -> Self? {
        if !removed.isEmpty || count < 1 || count > runs.count { return nil }
        var prefix = Self()
        prefix.runs = Array(runs.prefix(count))
        prefix.head = sequence
        prefix.rows = rows.filter { $0.sequence <= sequence }
        prefix.missed = missed.filter { $0.sequence <= sequence }
        prefix.gaps = gaps.filter { $0.lowerBound <= sequence }.map { $0.lowerBound...min($0.upperBound, sequence) }
        let gap = prefix.gaps.last?.upperBound ?? 0
        prefix.last = Self.names.map { name in max(prefix.rows.last { $0.name == name }?.sequence ?? 0, gap) }
        return prefix
    }
    /// The oldest row goes. False when there is none.
    mutating func prune() -> Bool {
        if rows.isEmpty { return false }
        let row = rows.removeFirst()
        removed.insert(row)
        pruned[Self.index(row.name)] = row.sequence
        // A gap goes with what is before it.
        let first = rows.first?.sequence ?? head + 1
        if let gap = gaps.last(where: { $0.upperBound < first }) {
            gaps.removeAll { $0.upperBound < first }
            pruned = pruned.map { max($0, gap.upperBound) }
            for row in missed where row.sequence < first { removed.insert(row) }
        }
        return true
    }
    private func oldest(_ names: Set<String>?) -> UInt64 {
        1 + (Self.names.filter { names?.contains($0) ?? true }.map { pruned[Self.index($0)] }.max() ?? 0)
    }

    /// It was committed, and is not undone.
    func knows(_ row: Row) -> Bool { rows.contains(row) || removed.contains(row) || missed.contains(row) }
    /// It never had it.
    func lacks(_ row: Row) -> Bool { missed.contains(row) }
    /// As `Attach` answers, when events up to `emitted` were sent.
    func attachment(
        _ epoch: UInt64, _ after: UInt64, _ ancestry: [StreamRun], _ names: Set<String>?, emitted: UInt64,
        isOpen: Bool
    ) -> Attachment {
        let run = LogSnapshot(head: head, last: [:], pruned: [:], runs: runs, schemas: [:], gaps: gaps)
        let history = StreamHistory(run, names: Set(Self.names), isOpen: isOpen)
        let from = history.from(epoch: epoch, after: after, ancestry: ancestry, head: head)
        return Attachment(
            epoch: runs.last?.epoch ?? 0, from: from, oldest: oldest(names), head: emitted, last: heads(emitted),
            details: history.details(above: from))
    }
    func heads(_ emitted: UInt64) -> [String: UInt64] {
        var heads: [String: UInt64] = [:]
        for name in Self.names {
            let sequence = rows.last { $0.name == name && $0.sequence <= emitted }?.sequence ?? 0
            let gap = gaps.last { $0.lowerBound <= emitted }.map { min($0.upperBound, emitted) } ?? 0
            let known = max(sequence, min(pruned[Self.index(name)], emitted), gap)
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
            epoch: epoch, rows: Array(page), oldest: oldest(names), through: through, head: head, removed: removed,
            gaps: gaps.compactMap { gap in
                let (first, last) = (max(gap.lowerBound, after + 1), min(gap.upperBound, through))
                return first <= last ? first...last : nil
            })
    }
}
