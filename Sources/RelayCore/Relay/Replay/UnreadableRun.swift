/// Unreadable events in a row, which become one gap, and what came behind them.
struct UnreadableRun<Taken: Sendable>: Sendable {
    /// What a subscription is given, and the place where its cursor is then.
    struct Item: Sendable {
        let taken: Taken
        let place: ReplayBuffer.Place?
    }
    private var gap: Gap?
    /// Why they cannot be read, each reason once; at most one more than are shown.
    private var details: [String] = []
    private static var shown: Int { 3 }
    private var place: ReplayBuffer.Place?
    /// In their order. More than one where two loops share a stream.
    private var behind: [Item] = []
    /// More of the same may follow: the last one is of a replay that goes on.
    private var isReplay = false
    var isCaughtUp = false
    let make: @Sendable (Gap) -> Taken

    init(_ make: @escaping @Sendable (Gap) -> Taken) { self.make = make }
    /// Nothing is held.
    var isEmpty: Bool { gap == nil && behind.isEmpty }

    /// One more. Returns a run that it does not belong to.
    mutating func add(_ next: Gap, _ place: ReplayBuffer.Place?, isReplay: Bool) -> Item? {
        var ready: Item?
        if let gap, gap.epoch == next.epoch, gap.sequences.upperBound < next.sequences.lowerBound {
            self.gap = Gap(
                gap.sequences.lowerBound...next.sequences.upperBound, epoch: gap.epoch,
                count: Gap.sum(gap.count, next.count), reason: gap.reason)
        } else {
            ready = take()
            gap = next
        }
        if let detail = next.detail, details.count <= Self.shown, !details.contains(detail) { details.append(detail) }
        (self.place, self.isReplay) = (place, isReplay)
        return ready
    }
    /// What is given first: the run, if there is one, and the item behind it next time.
    mutating func first(before item: Item) -> Item {
        if let ready = take() {
            behind.append(item)
            return ready
        }
        if behind.isEmpty { return item }
        behind.append(item)
        return behind.removeFirst()
    }
    /// The item behind a run that was given.
    mutating func takeBehind() -> Item? { behind.isEmpty ? nil : behind.removeFirst() }
    /// The run, when nothing is there now. Nil while it may still become longer.
    mutating func takeRun(isClosing: Bool) -> Item? { isReplay && !isCaughtUp && !isClosing ? nil : take() }

    private mutating func take() -> Item? {
        guard let gap else { return nil }
        let others = details.count > Self.shown ? "; and for other reasons" : ""
        let detail = details.isEmpty ? nil : details.prefix(Self.shown).joined(separator: "; ") + others
        let whole = Gap(gap.sequences, epoch: gap.epoch, count: gap.count, reason: gap.reason, detail: detail)
        defer { (self.gap, place, details) = (nil, nil, []) }
        return Item(taken: make(whole), place: place)
    }
}
