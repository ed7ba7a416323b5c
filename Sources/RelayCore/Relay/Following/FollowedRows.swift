/// The rows of a list that is kept in step with a service, by rising id.
///
///     rows[id: order.orderID] = Order(order)        // a new row, or another state of one
///     rows[id: order.orderID]?.isShipped = true     // nothing where there is no such row
///     rows[id: order.orderID] = nil                 // removed
///
/// Pages of a list are of different moments. So what an event changes is left out where the page that covers the id has
/// seen the event: the code above need not know.
public struct FollowedRows<ID: Hashable & Comparable & Sendable, Row: Equatable & Sendable>: Sendable {
    /// What a page covers: the ids up to this one, as they were at this sequence.
    private struct Cover: Sendable {
        /// nil: of the last page, which covers all that follow.
        let through: ID?
        let sequence: UInt64
    }
    private var ids: [ID] = []
    private var rows: [ID: Row] = [:]
    private var covers: [Cover] = []
    /// Of the event that is applied.
    private var sequence: UInt64 = 0
    private var changes = ListDifferences<Row>()

    init() {}
    /// The state of all pages, in their order; each with the sequence that it is of.
    init(_ pages: [(rows: [Row], sequence: UInt64)], by id: KeyPath<Row, ID>) {
        for (index, page) in pages.enumerated() {
            for row in page.rows { rows[row[keyPath: id]] = row }
            let isLast = index == pages.count - 1
            // A page without rows covers nothing, unless it is the last one.
            guard isLast || !page.rows.isEmpty else { continue }
            covers.append(Cover(through: isLast ? nil : page.rows.last?[keyPath: id], sequence: page.sequence))
        }
        ids = rows.keys.sorted()
    }
    /// A row, by its id; nil where there is none.
    ///
    /// - Parameter id: the id.
    public subscript(id id: ID) -> Row? {
        get { rows[id] }
        set {
            if let cover = covers.first(where: { $0.through.map { id <= $0 } ?? true }), sequence <= cover.sequence {
                return
            }
            let index = place(of: id)
            switch (rows[id], newValue) {
            case (nil, nil): return
            case (nil, let row?):
                ids.insert(id, at: index)
                changes.insert(row, at: index)
            case (let row?, nil):
                ids.remove(at: index)
                changes.remove(row, at: index)
            case (let old?, let row?):
                if old == row { return }
                changes.update(row, at: index)
            }
            rows[id] = newValue
        }
    }
    /// Where an id is, or would be.
    private func place(of id: ID) -> Int {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
    /// Applies an event, and returns what it changed.
    mutating func apply(at sequence: UInt64, _ change: (inout Self) -> Void) -> [ListChange<Row>] {
        (self.sequence, changes) = (sequence, ListDifferences())
        change(&self)
        defer { changes = ListDifferences() }
        return changes.all
    }
    /// What makes these rows of those: from the end to the beginning, so that each index is right when its turn comes.
    func changes(from old: Self) -> [ListChange<Row>] {
        var changes = ListDifferences<Row>()
        var end = old.ids.count
        while end > 0 {
            var start = end
            while start > 0, rows[old.ids[start - 1]] == nil { start -= 1 }
            for id in old.ids[start..<end] { if let row = old.rows[id] { changes.remove(row, at: start) } }
            end = start - 1
        }
        for (index, id) in ids.enumerated() {
            guard let row = rows[id] else { continue }
            if let before = old.rows[id] {
                if before != row { changes.update(row, at: index) }
            } else {
                changes.insert(row, at: index)
            }
        }
        return changes.all
    }
}

extension FollowedRows: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { ids.count }
    /// A row, by its place.
    public subscript(position: Int) -> Row {
        // Each id has a row.
        rows[ids[position]]!
    }
}

/// One difference of a list: a run of rows. The index is that of the first row, when all changes before this one were
/// made.
public enum ListChange<Row: Equatable & Sendable>: Equatable, Sendable {
    /// Rows that were not there, one behind the other.
    case inserted([Row], at: Int)
    /// Other states of rows, one behind the other.
    case updated([Row], at: Int)
    /// Rows that are gone, and were one behind the other.
    case removed([Row], at: Int)
}

/// Differences in their order, of which neighbours are joined: a list view takes a run at once.
private struct ListDifferences<Row: Equatable & Sendable> {
    private enum Kind { case insertion, update, removal }
    private var ended: [ListChange<Row>] = []
    /// The last one, which the next row may belong to.
    private var run: (kind: Kind, rows: [Row], index: Int)?

    var all: [ListChange<Row>] { ended + [last].compactMap { $0 } }
    private var last: ListChange<Row>? {
        guard let run else { return nil }
        return switch run.kind {
        case .insertion: .inserted(run.rows, at: run.index)
        case .update: .updated(run.rows, at: run.index)
        case .removal: .removed(run.rows, at: run.index)
        }
    }
    mutating func insert(_ row: Row, at index: Int) { add(.insertion, row, index) }
    mutating func update(_ row: Row, at index: Int) { add(.update, row, index) }
    mutating func remove(_ row: Row, at index: Int) { add(.removal, row, index) }
    private mutating func add(_ kind: Kind, _ row: Row, _ index: Int) {
        // Where a row is gone, the next one has its index.
        if let run, run.kind == kind, index == (kind == .removal ? run.index : run.index + run.rows.count) {
            self.run?.rows.append(row)
        } else {
            if let last { ended.append(last) }
            run = (kind, [row], index)
        }
    }
}

/// A list that a service keeps, after a change.
public struct ListUpdate<ID: Hashable & Comparable & Sendable, Row: Equatable & Sendable>: Sendable {
    /// All rows, by rising id. Who keeps them pays for a copy at the next change: a window needs only the changes.
    public let rows: FollowedRows<ID, Row>
    /// What makes them of the rows before, in order. At first, all rows are inserted; after a gap, these are the
    /// differences that it made.
    public let changes: [ListChange<Row>]
}
