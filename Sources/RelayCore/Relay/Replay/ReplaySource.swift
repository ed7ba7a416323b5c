import Synchronization

/// What comes next in a positioned subscription; an event's value comes beside it. Of no type: a generic one's metadata
/// is looked up at every event.
enum ReplayFound: Sendable {
    case event(Stamp)
    case gap(Gap)
    case caughtUp
    /// Not now, or not any more.
    case nothing
}

/// What a positioned subscription takes its events from: the feed, decoded, with its cursor.
final class ReplaySource<Payload: Sendable>: Sendable {
    enum Taken: Sendable {
        case event(Payload, Stamp)
        case gap(Gap)
        case caughtUp
    }
    let feed: ReplayBuffer
    private let decoding: ReplayDecoding<Payload>
    private let cursor: (any PositionKeeper)?
    /// What was taken last, and is not acknowledged.
    private let taken = Mutex<ReplayBuffer.Place?>(nil)
    private let onEnd = Mutex<(@Sendable () -> Void)?>(nil)
    private let unreadable = Mutex(UnreadableRun<Taken> { .gap($0) })
    /// The same, for code that asks about every event.
    private let holdsUnreadable = Atomic(false)

    init(_ feed: ReplayBuffer, _ decoding: ReplayDecoding<Payload>, _ cursor: (any PositionKeeper)?) {
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
        var found = ReplayFound.nothing
        let payload = next(&found)
        switch found {
        case .event(let stamp): return payload.map { .event($0, stamp) }
        case .gap(let gap): return .gap(gap)
        case .caughtUp: return .caughtUp
        case .nothing: return nil
        }
    }
    /// The same, in types that need no look-up of metadata for each event: an event's value is what is returned.
    func next(_ found: inout ReplayFound) -> Payload? {
        // What is held comes first.
        if holdsUnreadable.load(ordering: .relaxed) { return nextBehind(&found) }
        let fed = feed.next()
        guard case .event(let page, let index)? = fed else { return giveNext(fed, &found) }
        let stamp = page.stamp(index)
        do {
            let payload = try page.withEvent(index, stamp) { try decoding.payload(page.token(index), $0) }
            // Nearly always: one that can be read, and nothing before it.
            if holdsUnreadable.load(ordering: .relaxed) { return give(payload, stamp, page, index, &found) }
            if cursor != nil { note(place(index, page, stamp)) }
            found = .event(stamp)
            return payload
        } catch {
            return give(error, stamp, page, index, &found)
        }
    }
    // Apart, so that the types of what is seldom needed are not looked up for each event.
    @inline(never) private func giveNext(_ fed: ReplayBuffer.Item?, _ found: inout ReplayFound) -> Payload? {
        give(nextItem(fed), &found)
    }
    @inline(never) private func give(
        _ payload: Payload, _ stamp: Stamp, _ page: KeptEvents, _ index: Int, _ found: inout ReplayFound
    ) -> Payload? {
        give(item(.success(payload), stamp, page, index), &found)
    }
    @inline(never) private func give(
        _ error: any Error, _ stamp: Stamp, _ page: KeptEvents, _ index: Int, _ found: inout ReplayFound
    ) -> Payload? {
        give(item(.failure(error), stamp, page, index) ?? nextItem(feed.next()), &found)
    }
    @inline(never) private func nextBehind(_ found: inout ReplayFound) -> Payload? {
        if feed.isCancelled {
            found = .nothing
            return nil
        }
        return give(change { $0.takeBehind() } ?? nextItem(feed.next()), &found)
    }
    @inline(never) private func give(_ item: UnreadableRun<Taken>.Item?, _ found: inout ReplayFound) -> Payload? {
        if let place = item?.place { note(place) }
        switch item?.taken {
        case .event(let payload, let stamp)?:
            found = .event(stamp)
            return payload
        case .gap(let gap)?: found = .gap(gap)
        case .caughtUp?: found = .caughtUp
        case nil: found = .nothing
        }
        return nil
    }
    @inline(never) private func nextItem(_ first: ReplayBuffer.Item?) -> UnreadableRun<Taken>.Item? {
        var fed = first
        while true {
            switch fed {
            case .event(let page, let index)?:
                let stamp = page.stamp(index)
                let read = Result {
                    try page.withEvent(index, stamp) { try decoding.payload(page.token(index), $0) }
                }
                if let item = item(read, stamp, page, index) { return item }
                fed = feed.next()
            case .gap(let gap)?:
                return inTurn(.init(taken: .gap(gap), place: cursor == nil ? nil : Self.place(behind: gap)))
            case .caughtUp?:
                unreadable.withLock { $0.isCaughtUp = true }
                return inTurn(.init(taken: .caughtUp, place: nil))
            case nil:
                guard holdsUnreadable.load(ordering: .relaxed) else { return nil }
                let isClosing = feed.isFinished
                return change { $0.takeRun(isClosing: isClosing) }
            }
        }
    }
    /// What is given for an event that was decoded, or cannot be; nil: nothing yet, it is part of a run.
    @inline(never) private func item(
        _ read: Result<Payload, any Error>, _ stamp: Stamp, _ page: KeptEvents, _ index: Int
    ) -> UnreadableRun<Taken>.Item? {
        let place = cursor == nil ? nil : place(index, page, stamp)
        switch read {
        case .success(let payload): return inTurn(.init(taken: .event(payload, stamp), place: place))
        case .failure(let error):
            feed.noteUnreadable()
            let detail = (error as? RelayError)?.message ?? "\(error)"
            let gap = Gap(
                stamp.sequence...stamp.sequence, epoch: stamp.epoch, count: 1, reason: .schemaMismatch,
                detail: detail)
            return change { $0.add(gap, place, isReplay: !page.isLive) }
        }
    }
    /// The item, or what is held before it.
    private func inTurn(_ item: UnreadableRun<Taken>.Item) -> UnreadableRun<Taken>.Item {
        holdsUnreadable.load(ordering: .relaxed) ? change { $0.first(before: item) } : item
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
        let end = start + min(most, page.count - start)
        var index = start
        var fault: (any Error)?
        let count = decoding.each(page, start..<end, &fault) { payload in
            if feed.isCancelled { return false }
            body(payload)
            if let cursor { cursor.advance(place(index, page, page.stamp(index))) }
            index += 1
            return true
        }
        guard let fault, !feed.isCancelled else {
            feed.take(page, through: start + count)
            return count
        }
        // Nothing is held, so that it begins a run: `next` goes on behind it.
        _ = item(.failure(fault), page.stamp(start + count), page, start + count)
        feed.take(page, through: start + count + 1)
        return count
    }
    /// With a page's last event all that was asked for is done, up to where the page goes.
    private func place(_ index: Int, _ page: KeptEvents, _ stamp: Stamp) -> ReplayBuffer.Place {
        let isLast = index == page.count - 1
        return ReplayBuffer.Place(
            epoch: page.epoch, sequence: isLast ? max(page.through, stamp.sequence) : stamp.sequence)
    }
    private func note(_ place: ReplayBuffer.Place) { taken.withLock { $0 = place } }
    /// Nil where nobody knows how far it goes.
    static func place(behind gap: Gap) -> ReplayBuffer.Place? {
        guard case .after(let epoch, let sequence)? = StreamPosition.after(gap)?.kind else { return nil }
        return ReplayBuffer.Place(epoch: epoch, sequence: sequence)
    }
    /// What was taken so far has been handled.
    func acknowledge() { if let place = takePlace() { acknowledge(place) } }
    /// Where what was taken last leaves the subscription, once; nil where no position is kept.
    func takePlace() -> ReplayBuffer.Place? {
        if cursor == nil { return nil }
        return taken.withLock { taken in
            defer { taken = nil }
            return taken
        }
    }
    /// What was taken up to this place has been handled.
    func acknowledge(_ place: ReplayBuffer.Place) { cursor?.advance(place) }
    /// It was cancelled, and how far its subscriber has come could not be written.
    var hasUnwrittenPlace: Bool { cursor?.isUnwritten ?? false }

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
