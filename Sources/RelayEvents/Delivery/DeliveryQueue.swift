/// The bounded queue of one subscription, as a value: what overflows becomes a gap in its place.
///
/// Holds at most `limit` events, and at most one run of gaps before, between and behind them.
///
/// A subscriber that is slower than its publisher would get a gap of one event after each event. So once a backlog has
/// caused a gap, a full queue that drops the oldest drops its older half; one that drops the newest goes on doing so
/// until half of it is free. No two gaps can be one if an event was taken between them: it lies between what is missing.
struct DeliveryQueue {
    enum Entry { case event(AnyEventBox, Stamp), gaps(CoalescedGaps) }
    /// What is delivered in one step.
    enum Item { case event(AnyEventBox, Stamp), gap(Gap) }

    /// What a push did, for mailboxes, which keep one token for each entry.
    struct Change {
        /// A new entry stands at the end.
        var isAdded = false
        /// So many entries at the front became the one lost run there.
        var orphaned = 0
        /// To be released where no lock is held: its `deinit` may be anybody's code.
        var dropped: AnyEventBox?
        /// Those that went with it.
        var alsoDropped: [AnyEventBox] = []
    }

    private var entries = Deque<Entry>()
    /// What stood before the oldest entry.
    private var lost: CoalescedGaps?
    /// A gap at the front was delivered, and since then the queue was never empty; or the newest are dropped.
    private var isBehind = false
    private var events = 0
    /// With fewer events it takes another one: the limit, or less while the newest are dropped.
    private var bound: Int
    private let buffer: EventBuffer
    private let drops: DropCounts
    /// Whether anything more is taken.
    private(set) var isClosed = false
    /// Events in gaps so far; a gap that has no count counts as one.
    private(set) var missed = 0

    init(_ buffer: EventBuffer, _ drops: DropCounts = DropCounts()) {
        (self.buffer, self.drops, bound) = (buffer, drops, buffer.limit)
    }
    var isEmpty: Bool { entries.isEmpty && lost == nil }
    var entryCount: Int { entries.count }
    var nextIsEvent: Bool { if case .event? = entries.first { true } else { false } }

    mutating func push(_ event: AnyEventBox, _ stamp: Stamp) -> Change {
        if isClosed { return Change() }
        if events < bound {
            if isBehind { endDropping() }
            entries.append(.event(event, stamp))
            events += 1
            return Change(isAdded: true)
        }
        switch buffer.overflow {
        case .dropOldest:
            let count = isBehind ? buffer.share : 1
            noteOverflow(count)
            var change = Change()
            for _ in 0..<count { dropOldest(&change) }
            entries.append(.event(event, stamp))
            events += 1
            change.isAdded = true
            return change
        case .dropNewest, .end:
            noteOverflow(1)
            (isClosed, isBehind, bound) = (buffer.overflow == .end, true, buffer.boundWhileDropping)
            return append(CoalescedGaps(stamp))
        }
    }
    /// Another event is taken by a queue that was behind.
    private mutating func endDropping() {
        switch buffer.overflow {
        case .dropOldest: if isEmpty { isBehind = false }
        case .dropNewest, .end: (isBehind, bound) = (false, buffer.limit)
        }
    }
    mutating func push(_ gap: Gap) -> Change {
        if isClosed { return Change() }
        note(gap)
        return append(CoalescedGaps(gap))
    }
    /// Counts a gap that goes to its subscriber without standing here.
    mutating func note(_ gap: Gap) { note(gap.count ?? 1) }
    private mutating func noteOverflow(_ count: Int) {
        note(count)
        drops.countOverflow(count)
    }
    private mutating func note(_ count: Int) { missed = Gap.sum(missed, count) ?? .max }

    private mutating func append(_ run: CoalescedGaps) -> Change {
        if entries.isEmpty && lost != nil {
            lose(run)
            return Change()
        }
        guard case .gaps(var last)? = entries.last else {
            entries.append(.gaps(run))
            return Change(isAdded: true)
        }
        last.append(run)
        entries.last = .gaps(last)
        return Change()
    }
    private mutating func dropOldest(_ change: inout Change) {
        while let entry = entries.popFirst() {
            change.orphaned += 1
            switch entry {
            case .gaps(let run): lose(run)
            case .event(let box, let stamp):
                events -= 1
                if change.dropped == nil { change.dropped = box } else { change.alsoDropped.append(box) }
                lose(CoalescedGaps(stamp))
                guard case .gaps(let next)? = entries.first else { return }
                // Now a neighbour.
                _ = entries.popFirst()
                change.orphaned += 1
                lose(next)
                return
            }
        }
    }
    private mutating func lose(_ run: CoalescedGaps) { if lost == nil { lost = run } else { lost?.append(run) } }

    /// Takes no more, and keeps what there is.
    mutating func close() { isClosed = true }
    /// The run that replaced the oldest entries, if there is one that was not delivered yet.
    mutating func popLost() -> Entry? {
        defer { lost = nil }
        if lost != nil { isBehind = true }
        return lost.map { .gaps($0) }
    }
    /// The next entry; what was lost before it is asked for apart.
    mutating func popEntry() -> Entry? {
        let entry = entries.popFirst()
        if case .event? = entry { events -= 1 }
        return entry
    }
    /// The next event or gap.
    mutating func pop() -> Item? {
        if let run = lost {
            (lost, isBehind) = (run.dropFirst, true)
            return .gap(run.first)
        }
        switch popEntry() {
        case .event(let box, let stamp)?: return .event(box, stamp)
        case .gaps(let run)?:
            lost = run.dropFirst
            return .gap(run.first)
        case nil: return nil
        }
    }
    /// Closes, and gives what there was to the caller, to be released where no lock is held.
    mutating func removeAll() -> Deque<Entry> {
        defer { (entries, lost, events, isClosed) = (Deque(), nil, 0, true) }
        return entries
    }
}

extension DeliveryQueue.Change {
    /// Keeps what was dropped until after the lock.
    func release(_ after: inout AfterUnlock) {
        after.release(dropped)
        for box in alsoDropped { after.release(box) }
    }
}
