/// The bounded queue of one subscription, as a value: what overflows becomes a gap in its place.
///
/// Holds at most `limit` events, and at most one run of gaps before, between and behind them.
///
/// A subscriber that is slower than its publisher would get a gap of one event after each event. So once a backlog has
/// caused a gap, a full queue that drops the oldest drops its older half; one that drops the newest goes on doing so
/// until half of it is free. No two gaps can be one if an event was taken between them: it lies between what is missing.
///
/// `Fixed` is what keeps its place among the events, counts for none, and is never dropped: what a replay reads. A
/// publisher's queue has none. As with `Deque`, the code is open to other modules, so that it is not generic there.
package struct DeliveryQueue<Held: Sendable, Fixed: Sendable>: Sendable {
    package enum Entry: Sendable { case event(Held, Stamp), gaps(CoalescedGaps), fixed(Fixed) }
    /// What is delivered in one step.
    package enum Item: Sendable { case event(Held, Stamp), gap(Gap), fixed(Fixed) }

    /// What a push did, for mailboxes, which keep one token for each entry.
    package struct Change: Sendable {
        /// A new entry stands at the end.
        package var isAdded = false
        /// So many entries at the front became the one lost run there.
        package var orphaned = 0
        /// To be released where no lock is held: its `deinit` may be anybody's code.
        package var dropped: Held?
        /// Those that went with it.
        package var alsoDropped: [Held] = []

        @inlinable package init(isAdded: Bool = false) { self.isAdded = isAdded }
    }

    @usableFromInline var entries = Deque<Entry>()
    /// What stood before the oldest entry.
    @usableFromInline var lost: CoalescedGaps?
    /// Fixed, and before that.
    @usableFromInline var ahead: [Fixed] = []
    /// Fixed, and among that: it comes behind it.
    @usableFromInline var passed: [Fixed] = []
    /// A gap at the front was delivered, and since then the queue was never empty; or the newest are dropped.
    @usableFromInline var isBehind = false
    @usableFromInline var events = 0
    /// With fewer events it takes another one: the limit, or less while the newest are dropped.
    @usableFromInline var bound: Int
    @usableFromInline var hasClosed = false
    @usableFromInline var missing = 0
    @usableFromInline let buffer: EventBuffer
    @usableFromInline let drops: DropCounts

    @inlinable package init(_ buffer: EventBuffer, _ drops: DropCounts = DropCounts()) {
        (self.buffer, self.drops, bound) = (buffer, drops, buffer.limit)
    }
    /// Nothing more is taken.
    @inlinable package var isClosed: Bool { hasClosed }
    /// Events in gaps so far; a gap that has no count counts as one.
    @inlinable package var missed: Int { missing }
    @inlinable package var isEmpty: Bool { entries.isEmpty && lost == nil && ahead.isEmpty && passed.isEmpty }
    @inlinable package var eventCount: Int { events }
    @inlinable package var entryCount: Int { entries.count }
    @inlinable package var nextIsEvent: Bool { if case .event? = entries.first { true } else { false } }
    /// What comes next, if that is no event and no gap.
    @inlinable package var nextFixed: Fixed? {
        if let fixed = ahead.first { return fixed }
        guard lost == nil, passed.isEmpty, case .fixed(let fixed)? = entries.first else { return nil }
        return fixed
    }

    // MARK: The filling side

    /// - Parameter isBounded: false for an event that was allowed to come although there may be no room.
    @inlinable package mutating func push(_ event: Held, _ stamp: Stamp, isBounded: Bool = true) -> Change {
        if hasClosed { return Change() }
        if events >= bound && isBounded {
            if buffer.overflow != .dropOldest { return dropNewest(stamp) }
            var change = Change(isAdded: true)
            dropOldest(&change)
            append(event, stamp)
            return change
        }
        if isBehind { endDropping() }
        append(event, stamp)
        return Change(isAdded: true)
    }
    @inlinable mutating func append(_ event: Held, _ stamp: Stamp) {
        entries.append(.event(event, stamp))
        events += 1
    }
    /// Another event is taken by a queue that was behind.
    @inlinable mutating func endDropping() {
        switch buffer.overflow {
        case .dropOldest: if isEmpty { isBehind = false }
        case .dropNewest, .end: (isBehind, bound) = (false, buffer.limit)
        }
    }
    @inlinable package mutating func push(_ gap: Gap) -> Change {
        if hasClosed { return Change() }
        note(gap)
        return append(CoalescedGaps(gap))
    }
    @inlinable package mutating func push(_ fixed: Fixed) {
        if !hasClosed { entries.append(.fixed(fixed)) }
    }
    /// Counts a gap that goes to its subscriber without standing here.
    @inlinable package mutating func note(_ gap: Gap) { note(gap.count ?? 1) }
    @inlinable mutating func noteOverflow(_ count: Int) {
        note(count)
        drops.countOverflow(count)
    }
    @inlinable mutating func note(_ count: Int) { missing = Gap.sum(missing, count) ?? .max }

    @inlinable mutating func append(_ run: CoalescedGaps) -> Change {
        if entries.isEmpty && lost != nil && passed.isEmpty {
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
    @inlinable mutating func dropNewest(_ stamp: Stamp) -> Change {
        noteOverflow(1)
        (hasClosed, isBehind, bound) = (buffer.overflow == .end, true, buffer.boundWhileDropping)
        return append(CoalescedGaps(stamp))
    }
    @inlinable mutating func dropOldest(_ change: inout Change) {
        let count = isBehind ? buffer.share : 1
        noteOverflow(count)
        for _ in 0..<count { dropOne(&change) }
    }
    @inlinable mutating func dropOne(_ change: inout Change) {
        while let entry = entries.popFirst() {
            change.orphaned += 1
            switch entry {
            case .gaps(let run): lose(run)
            case .fixed(let fixed): if lost == nil { ahead.append(fixed) } else { passed.append(fixed) }
            case .event(let event, let stamp):
                events -= 1
                if change.dropped == nil { change.dropped = event } else { change.alsoDropped.append(event) }
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
    @inlinable mutating func lose(_ run: CoalescedGaps) { if lost == nil { lost = run } else { lost?.append(run) } }

    /// Takes no more, and keeps what there is.
    @inlinable package mutating func close() { hasClosed = true }

    // MARK: The consumer's side

    /// The run that replaced the oldest entries, if there is one that was not delivered yet.
    @inlinable package mutating func popLost() -> Entry? {
        defer { lost = nil }
        if lost != nil { isBehind = true }
        return lost.map { .gaps($0) }
    }
    /// The next entry; what was lost before it is asked for apart.
    @inlinable package mutating func popEntry() -> Entry? {
        let entry = entries.popFirst()
        if case .event? = entry { events -= 1 }
        return entry
    }
    /// The next event, gap or fixed entry.
    @inlinable package mutating func pop() -> Item? {
        if !ahead.isEmpty { return .fixed(ahead.removeFirst()) }
        if let run = lost {
            (lost, isBehind) = (run.dropFirst, true)
            return .gap(run.first)
        }
        if !passed.isEmpty { return .fixed(passed.removeFirst()) }
        switch popEntry() {
        case .event(let event, let stamp)?: return .event(event, stamp)
        case .gaps(let run)?:
            lost = run.dropFirst
            return .gap(run.first)
        case .fixed(let fixed)?: return .fixed(fixed)
        case nil: return nil
        }
    }
    /// Counts an event that was taken, and turned out to be unreadable.
    package mutating func noteUnreadable() {
        note(1)
        drops.countUnreadable()
    }
    /// Closes, and gives what there was to the caller, to be released where no lock is held.
    package mutating func removeAll() -> Deque<Entry> {
        defer { (entries, lost, ahead, passed, events, hasClosed) = (Deque(), nil, [], [], 0, true) }
        return entries
    }
}

/// A publisher's.
typealias EventQueue = DeliveryQueue<AnyEventBox, Never>

extension DeliveryQueue.Change where Held == AnyEventBox {
    /// Keeps what was dropped until after the lock.
    func release(_ after: inout AfterUnlock) {
        after.release(dropped)
        for box in alsoDropped { after.release(box) }
    }
}
