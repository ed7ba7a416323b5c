import Synchronization

/// What a positioned subscription takes its events from: the feed, decoded, with its cursor.
final class ReplaySource<Payload: Sendable>: Sendable {
    enum Taken: Sendable {
        case event(Payload, Stamp)
        case gap(Gap)
        case caughtUp
    }
    let feed: ReplayBuffer
    private let decoding: ReplayDecoding<Payload>
    private let cursor: Cursor?
    /// What was taken last, and is not acknowledged.
    private let taken = Mutex<ReplayBuffer.Place?>(nil)
    private let onEnd = Mutex<(@Sendable () -> Void)?>(nil)
    private let unreadable = Mutex(UnreadableRun<Taken> { .gap($0) })
    /// The same, for code that asks about every event.
    private let holdsUnreadable = Atomic(false)

    init(_ feed: ReplayBuffer, _ decoding: ReplayDecoding<Payload>, _ cursor: Cursor?) {
        (self.feed, self.decoding, self.cursor) = (feed, decoding, cursor)
    }
    var token: @Sendable (String) -> Int32 { decoding.token }
    /// Takes the runs that a service has reported: the cursor keeps those that led to its place.
    var learn: @Sendable ([StreamRun]) -> Void { { [cursor] in cursor?.learn($0) } }
    /// Called once, when the subscription ends.
    func onEnd(_ body: @escaping @Sendable () -> Void) { onEnd.withLock { $0 = body } }

    /// The next event or gap; nil: nothing now, or nothing any more.
    ///
    /// Events in a row that cannot be read are one gap: those of a replay up to its end, live ones as far as they are
    /// here.
    func next() -> Taken? {
        var item: UnreadableRun<Taken>.Item?
        if holdsUnreadable.load(ordering: .relaxed) {
            if feed.isCancelled { return nil }
            item = change { $0.takeBehind() } ?? nextItem(feed.next())
        } else {
            let fed = feed.next()
            // Nearly always: one that can be read, and nothing before it. Without an item, which costs its copies.
            if case .event(let page, let index)? = fed {
                let stamp = page.stamp(index)
                let token = page.entries[index].token
                if let payload = try? page.withEvent(index, { try decoding.payload(token, $0, stamp) }),
                    !holdsUnreadable.load(ordering: .relaxed)
                {
                    if cursor != nil { note(place(index, page, stamp)) }
                    return .event(payload, stamp)
                }
            }
            item = nextItem(fed)
        }
        guard let item else { return nil }
        if let place = item.place { note(place) }
        return item.taken
    }
    private func nextItem(_ first: ReplayBuffer.Item?) -> UnreadableRun<Taken>.Item? {
        var fed = first
        while true {
            let item: UnreadableRun<Taken>.Item
            switch fed {
            case .event(let page, let index)?:
                let stamp = page.stamp(index)
                let place = cursor == nil ? nil : place(index, page, stamp)
                do {
                    let payload = try page.withEvent(index) {
                        try decoding.payload(page.entries[index].token, $0, stamp)
                    }
                    item = .init(taken: .event(payload, stamp), place: place)
                } catch {
                    feed.noteMissed()
                    let detail = (error as? RelayError)?.message ?? "\(error)"
                    let gap = Gap(
                        stamp.sequence...stamp.sequence, epoch: stamp.epoch, count: 1, reason: .schemaMismatch,
                        detail: detail)
                    if let other = change({ $0.add(gap, place, isReplay: !page.isLive) }) { return other }
                    fed = feed.next()
                    continue
                }
            case .gap(let gap)?: item = .init(taken: .gap(gap), place: cursor == nil ? nil : Self.place(behind: gap))
            case .caughtUp?:
                unreadable.withLock { $0.isCaughtUp = true }
                item = .init(taken: .caughtUp, place: nil)
            case nil:
                guard holdsUnreadable.load(ordering: .relaxed) else { return nil }
                let isClosing = feed.isClosing
                return change { $0.takeRun(isClosing: isClosing) }
            }
            return holdsUnreadable.load(ordering: .relaxed) ? change { $0.first(before: item) } : item
        }
    }
    private func change<Result: Sendable>(_ body: (inout UnreadableRun<Taken>) -> Result) -> Result {
        unreadable.withLock { run in
            defer {
                holdsUnreadable.store(!run.isEmpty, ordering: .relaxed)
                feed.setHeld(!run.isEmpty)
            }
            return body(&run)
        }
    }
    /// Calls `body` with events that are there together, `most` of them at the most; each of them is handled when it
    /// returns. Returns how many there were; 0: `next` has what comes. For one consumer, alone.
    func deliver(most: Int, _ body: (Payload) -> Void) -> Int {
        // What is held comes first.
        if holdsUnreadable.load(ordering: .relaxed) { return 0 }
        guard let (page, start) = feed.batch() else { return 0 }
        let end = start + min(most, page.entries.count - start)
        var index = start
        let count = decoding.each(page, start..<end) { payload in
            if feed.isCancelled { return false }
            body(payload)
            if let cursor { cursor.advance(place(index, page, page.stamp(index))) }
            index += 1
            return true
        }
        feed.take(page, through: start + count)
        return count
    }
    /// With a page's last event all that was asked for is done, up to where the page goes.
    private func place(_ index: Int, _ page: ReplayPage, _ stamp: Stamp) -> ReplayBuffer.Place {
        let isLast = index == page.entries.count - 1
        return ReplayBuffer.Place(
            epoch: page.epoch, sequence: isLast ? max(page.through, stamp.sequence) : stamp.sequence)
    }
    private func note(_ place: ReplayBuffer.Place) { taken.withLock { $0 = place } }
    /// Nil where nobody knows how far it goes.
    static func place(behind gap: Gap) -> ReplayBuffer.Place? {
        guard gap.epoch != 0, gap.sequences.upperBound != .max else { return nil }
        return ReplayBuffer.Place(epoch: gap.epoch, sequence: gap.sequences.upperBound)
    }
    /// What was taken so far has been handled.
    func acknowledge() {
        guard let cursor else { return }
        let place = taken.withLock { taken in
            defer { taken = nil }
            return taken
        }
        if let place { cursor.advance(place) }
    }
    /// What was taken up to this place has been handled.
    func acknowledge(_ place: ReplayBuffer.Place) { cursor?.advance(place) }

    /// Drops what is held, and ends. Any number of times.
    func cancel() {
        feed.cancel()
        cursor?.end()
        let onEnd = onEnd.withLock { onEnd in
            defer { onEnd = nil }
            return onEnd
        }
        onEnd?()
    }
    var isActive: Bool { !feed.isOver }
}
