package import RelayCore

/// A whole snapshot in a channel, as those who decide see it.
package struct FoundSnapshot: Hashable, Sendable {
    /// Of its first and of its last part.
    package let numbers: ClosedRange<UInt64>
    package let header: MirrorHeader
    package let table: RunTable
    package init(_ numbers: ClosedRange<UInt64>, _ header: MirrorHeader, _ table: RunTable) {
        (self.numbers, self.header, self.table) = (numbers, header, table)
    }
}

/// A message as those who decide see it.
package enum MirrorNews: Hashable, Sendable {
    case page(MirrorHeader)
    /// The last part of a snapshot that is whole, and the snapshot's runs.
    case snapshot(MirrorHeader, RunTable)
    /// A foreign message, a part of a snapshot, or none.
    case other

    package var header: MirrorHeader? {
        switch self {
        case .page(let header), .snapshot(let header, _): header
        case .other: nil
        }
    }
}

/// What a message changes in a replica: one transaction, in the order of these fields.
package struct ReplicaChange: Hashable, Sendable {
    /// The history is another one above this sequence: remove the events, gaps and documents' states there.
    package var keepsThrough: UInt64?
    /// The replica begins behind this sequence: what was before counts as removed by retention.
    package var base: UInt64?
    /// The replica never had these, and will not.
    package var gap: ClosedRange<UInt64>?
    /// To be taken from the page.
    package var events: ClosedRange<UInt64>?
    /// Take the names' last sequences and the documents' states from the snapshot, where they are newer.
    package var takesStates = false

    package init() {}
    package var isNothing: Bool { self == Self() }
}

/// What a replica has come to, as a value: everything that decides what the next message means. It is kept in the
/// replica's file, and changed in the transaction of the change that it returns.
package struct ReplicaState: Hashable, Sendable {
    /// The last message that was taken in, in the present history.
    package struct Bookmark: Hashable, Sendable {
        package let number: UInt64
        package let header: MirrorHeader
    }
    package private(set) var table = RunTable()
    /// All up to here was taken in, or never will be; nil: the replica is empty.
    package private(set) var position: UInt64?
    package private(set) var bookmark: Bookmark?

    package init() {}
    init(table: RunTable, position: UInt64?, bookmark: Bookmark?) {
        (self.table, self.position, self.bookmark) = (table, position, bookmark)
    }

    /// The run that the replica is in.
    package var present: StreamRun? { position.flatMap { table.present(at: $0) } }

    /// The newest snapshot of the channel, which decides what its older messages mean.
    package mutating func learn(_ news: RunTable) -> ReplicaChange {
        var change = ReplicaChange()
        // What was passed over so far may be of this history.
        if table.isUndone(by: news) { bookmark = nil }
        if let common = table.learn(news, at: position ?? 0), let position, common < position {
            (self.position, change.keepsThrough) = (common, common)
        }
        return change
    }
    /// The newest snapshot that was learned. What is not behind it says nothing new of the history.
    struct Horizon: Hashable {
        let number: UInt64
        /// What is above follows the snapshot, whatever came before it; nil: the snapshot is of the past.
        let position: UInt64?
        /// Events were left for later: until then nobody knows where to read on.
        var isSkipping = false
    }
    /// The next message.
    mutating func take(_ news: MirrorNews, at number: UInt64, _ horizon: inout Horizon) -> ReplicaChange {
        let isOld = number <= horizon.number
        if number >= horizon.number { horizon.isSkipping = false }
        guard let header = news.header else { return ReplicaChange() }
        let events = if case .page = news { validEvents(of: header) } else { nil as ClosedRange<UInt64>? }
        if isOld, let events, let follows = horizon.position, events.lowerBound - 1 > max(follows, position ?? 0) {
            (horizon.isSkipping, bookmark) = (true, nil)
            return ReplicaChange()
        }
        if !horizon.isSkipping { bookmark = Bookmark(number: number, header: header) }
        switch news {
        case .page:
            guard let events else { return ReplicaChange() }
            var change = pass(to: events.lowerBound - 1, ReplicaChange())
            if let position, events.upperBound > position {
                (change.events, self.position) = (position + 1...events.upperBound, events.upperBound)
            }
            return change
        case .snapshot(_, let table):
            var change = isOld ? ReplicaChange() : learn(table)
            // Else it is of the past.
            if header.epoch == self.table.runs.last?.epoch {
                change = pass(to: header.last, change)
                change.takesStates = true
            }
            return change
        case .other: return ReplicaChange()
        }
    }
    /// Nothing up to a sequence comes any more that is not there.
    private mutating func pass(to sequence: UInt64, _ change: ReplicaChange) -> ReplicaChange {
        var change = change
        if let position {
            if sequence <= position { return change }
            change.gap = position + 1...sequence
        } else {
            change.base = sequence
        }
        position = sequence
        return change
    }
    /// Those of a page that are of the history; nil: none.
    private func validEvents(of page: MirrorHeader) -> ClosedRange<UInt64>? {
        guard let events = table.events(of: page.epoch), events.overlaps(page.events) else { return nil }
        return page.events.clamped(to: events)
    }
    /// Whether a message is a snapshot of a history that this one does not lead to.
    func parts(from news: MirrorNews) -> Bool {
        if case .snapshot(_, let other) = news { table.isUndone(by: other) } else { false }
    }
    /// Whether a message is a page of a run that the replica has not heard of.
    func lacksRun(of news: MirrorNews) -> Bool {
        guard case .page(let header) = news else { return false }
        return !table.knows(header.epoch)
    }
    /// Whether a message is a page of the history that has been taken in, or skipped.
    func has(_ news: MirrorNews) -> Bool {
        guard case .page(let header) = news, let position, let events = validEvents(of: header) else { return false }
        return events.upperBound <= position
    }
}
