/// One interface's stream at a relay, as a value: what came in goes in, what to deliver comes out.
///
/// Invariants: sequences are delivered in ascending order within an epoch, none twice; between two deliveries every sequence
/// of the scope is accounted for, by a delivery or by a gap.
package struct LaneMachine<Payload> {
    /// What to do now, in this order.
    package enum Action {
        case deliver(Payload, epoch: UInt64)
        case gap(Gap)
        /// Ask the owner: `Attach(epoch, after, …)`.
        case attach(epoch: UInt64, after: UInt64)
    }
    /// What to do with the event at hand. A fast path: no array, and the payload stays where it is.
    package enum Verdict: Equatable {
        case drop
        /// Keep a copy, and give it to `hold`.
        case hold
        case deliver(epoch: UInt64, after: Gap?)
    }

    /// One run of the service, as far as it was seen.
    private struct Run {
        let epoch: UInt64
        /// The sequence up to which all is accounted for.
        var position: UInt64
        /// The service said its last word, or its end was reported: nothing more comes of this run.
        var isEnded = false
    }
    private enum Phase {
        /// No owner, or nothing wanted.
        case idle
        /// Asked, no answer yet.
        case attaching
        case live
        /// The owner does not let this lane follow it: nothing comes before the next one.
        case refused
    }
    private struct Held {
        let name: String
        let sequence: UInt64
        let previous: UInt64
        let payload: Payload
    }
    /// Events of a run that no gap can name: no answer told its epoch.
    private static var unknownRun: Gap { Gap(1...UInt64.max, epoch: 0, count: nil, reason: .epochChanged) }

    private var phase = Phase.idle
    private var run: Run?
    /// How holes are found now. Behind `wanted` while a wider scope has not been answered.
    private var scope = LaneScope.nothing
    private var wanted = LaneScope.nothing
    private var hasOwner = false
    /// The name is known to have no owner.
    private var isAbsent = false
    /// This lane waited when the name had no owner: all of the run that comes counts, though no answer has told its epoch.
    private var beginsAtFirst = false
    /// The bus was gone meanwhile: runs may have come and gone unseen.
    private var wasCutOff = false
    /// `End`, heard before the answer that it has to wait for.
    private var lastWord: StreamHead?
    private var held: [Held] = []
    private var heldCost = 0
    private var heldOverflowed = false
    /// Events came that no `Head` has confirmed.
    private var isUnconfirmed = false
    private var hasHeardSinceTick = false

    /// How many events wait for the answer of `Attach` at the most. Past it they count as lost.
    package static var heldLimit: Int { 1_024 }
    /// How much they may cost together, in bytes.
    package static var heldCostLimit: Int { 16 << 20 }

    package init() {}

    /// Whether the relay is in step with the service, or has nothing to follow.
    package var isSettled: Bool { phase == .live || wanted == .nothing }
    /// Where this lane stands, for people.
    package var position: (epoch: UInt64, sequence: UInt64)? { run.map { ($0.epoch, $0.position) } }

    // MARK: Inputs

    /// The service's name has an owner, whose signals follow.
    ///
    /// - Parameter isNew: whether it took the name while this relay was on the bus, so that all of its run can be had; not
    ///   if it was found there.
    package mutating func ownerAppeared(isNew: Bool) -> [Action] {
        (hasOwner, isAbsent) = (true, false)
        if isNew { beginsAtFirst = wanted != .nothing }
        return wanted == .nothing ? [] : attach()
    }

    /// Nobody has the service's name.
    package mutating func ownerAbsent() { (isAbsent, beginsAtFirst) = (true, wanted != .nothing) }

    /// The owner left the bus: its run is over.
    package mutating func ownerVanished() -> [Action] {
        defer {
            leave()
            ownerAbsent()
        }
        if phase == .attaching {
            // What it said at last is as good as an answer.
            if let lastWord { return join(lastWord) }
            // A run that was never attached to, though this lane waited for it: it has no name, and may have published.
            if run.map(\.isEnded) ?? beginsAtFirst { return [.gap(Self.unknownRun)] }
        }
        return endRun().map { [.gap($0)] } ?? []
    }

    /// The bus is gone; the service may live on.
    package mutating func disconnected() -> [Action] {
        wasCutOff = run != nil
        isAbsent = false
        defer { leave() }
        return run == nil && beginsAtFirst && phase == .attaching ? [.gap(Self.unknownRun)] : []
    }

    /// What subscribers want has changed.
    package mutating func want(_ names: Set<String>?) -> [Action] {
        let new = LaneScope(names: names)
        if new == wanted { return [] }
        wanted = new
        if phase == .refused && new != .nothing {
            (scope, run, beginsAtFirst, wasCutOff) = (new, nil, false, false)
            return []
        }
        switch (scope, new) {
        case (_, .nothing):
            let owned = hasOwner
            (scope, run) = (.nothing, nil)
            leave()
            hasOwner = owned
            return []
        case (.all, .one),
            (.one, .one) where scope == new:
            // All before the position is accounted for: true of each name, too.
            scope = new
            return hasOwner && phase == .attaching ? [ask()] : []
        case (.one, .all) where hasOwner: return [ask()]
        case (.one, .one), (.nothing, _):
            (scope, run, beginsAtFirst, wasCutOff) = (new, nil, isAbsent, false)
            return hasOwner ? attach() : []
        default:
            scope = new
            return []
        }
    }

    /// The latest `attach` got no answer in time: asks again.
    package func unanswered() -> [Action] {
        hasOwner && wanted != .nothing && phase != .refused ? [ask()] : []
    }

    /// The owner does not let this lane follow it. Asks no more before the next owner.
    package mutating func refused() -> [Action] {
        guard hasOwner, wanted != .nothing else { return [] }
        defer {
            leave()
            (phase, hasOwner) = (.refused, true)
        }
        return endRun().map { [.gap($0)] } ?? []
    }

    /// The owner answered the latest `attach`.
    package mutating func attached(_ answer: Attachment) -> [Action] {
        guard hasOwner, wanted != .nothing, phase != .refused else { return [] }
        return join(StreamHead(epoch: answer.epoch, sequence: answer.head, last: answer.last))
    }
    /// Goes on with a run from where this lane stands in it, now that it is known how far the run has come.
    private mutating func join(_ head: StreamHead) -> [Action] {
        var actions: [Action] = []
        if let run, run.epoch != head.epoch {
            if let gap = endRun() {
                actions.append(.gap(gap))
            } else if wasCutOff {
                actions.append(.gap(Self.unknownRun))
            }
            // It was followed before this run began: everything of it counts.
            self.run = Run(epoch: head.epoch, position: 0)
        } else if run == nil {
            self.run = Run(epoch: head.epoch, position: beginsAtFirst ? 0 : head.sequence)
        }
        if lastWord?.epoch == head.epoch { run?.isEnded = true }
        let waiting = held
        (held, heldCost, heldOverflowed, lastWord) = ([], 0, false, nil)
        (wasCutOff, beginsAtFirst) = (false, false)
        phase = .live
        for event in waiting {
            guard case .deliver(let epoch, let gap) = receive(event.name, event.sequence, event.previous) else {
                continue
            }
            if let gap { actions.append(.gap(gap)) }
            actions.append(.deliver(event.payload, epoch: epoch))
        }
        if let gap = account(to: head.sequence, last: head.last) { actions.append(.gap(gap)) }
        scope = wanted
        isUnconfirmed = false
        return actions
    }

    /// An event came from the owner.
    package mutating func receive(_ name: String, _ sequence: UInt64, _ previous: UInt64) -> Verdict {
        switch phase {
        case .idle, .refused: return .drop
        case .attaching:
            if held.count >= Self.heldLimit { overflow() }
            return heldOverflowed ? .drop : .hold
        case .live: break
        }
        guard var run, scope.includes(name), sequence > run.position, previous < sequence else { return .drop }
        var gap: Gap?
        switch scope {
        case .all where sequence > run.position + 1: gap = missing(run, through: sequence - 1)
        case .one where previous > run.position: gap = missing(run, through: previous)
        default: break
        }
        run.position = sequence
        self.run = run
        (isUnconfirmed, hasHeardSinceTick) = (true, true)
        return .deliver(epoch: run.epoch, after: gap)
    }
    /// Keeps an event, of so many bytes, until `attached`.
    package mutating func hold(
        _ name: String, _ sequence: UInt64, _ previous: UInt64, _ payload: Payload, cost: Int = 0
    ) {
        heldCost += cost
        if heldCost > Self.heldCostLimit { return overflow() }
        held.append(Held(name: name, sequence: sequence, previous: previous, payload: payload))
    }
    /// The place of what was held is reported, once the answer tells how far it reaches.
    private mutating func overflow() { (held, heldCost, heldOverflowed) = ([], 0, true) }

    /// The owner announced where it stands; with `isLast` it will publish nothing more.
    package mutating func head(epoch: UInt64, sequence: UInt64, last: [String: UInt64], isLast: Bool = false)
        -> [Action]
    {
        if isLast && phase == .attaching { lastWord = StreamHead(epoch: epoch, sequence: sequence, last: last) }
        guard phase == .live, run?.epoch == epoch else { return [] }
        let gap = account(to: sequence, last: last)
        isUnconfirmed = false
        if isLast { run?.isEnded = true }
        return gap.map { [.gap($0)] } ?? []
    }

    /// What a tick asks for.
    package enum Tick: Equatable {
        /// Nothing is open: no tick is needed until the next event.
        case rest
        case again
        /// Neither event nor `Head` since the last tick: `Head` may be lost, like what it would announce.
        case attach(epoch: UInt64, after: UInt64)
    }
    /// Comes every two seconds while events are unconfirmed.
    package mutating func tick() -> Tick {
        guard phase == .live, isUnconfirmed, let run else { return .rest }
        if hasHeardSinceTick {
            hasHeardSinceTick = false
            return .again
        }
        isUnconfirmed = false
        return .attach(epoch: run.epoch, after: run.position)
    }
    /// Messages of other lanes were lost on the way here: its own may be, too, with the `Head` that would tell.
    package mutating func suspectLoss() {
        if phase == .live { isUnconfirmed = true }
    }
    /// Whether a tick is to be ordered.
    package var needsTick: Bool { phase == .live && isUnconfirmed }

    // MARK: Steps

    private mutating func attach() -> [Action] {
        phase = .attaching
        (held, heldCost, heldOverflowed) = ([], 0, false)
        return [ask()]
    }
    private func ask() -> Action { .attach(epoch: run?.epoch ?? 0, after: run?.position ?? 0) }
    private mutating func leave() {
        (phase, hasOwner, lastWord) = (.idle, false, nil)
        (held, heldCost, heldOverflowed, isUnconfirmed) = ([], 0, false, false)
        // What waited to count counts from the next run on.
        scope = wanted
    }
    /// Nothing more comes of the run; what it published after the position is unknown unless it said so.
    private mutating func endRun() -> Gap? {
        guard let ended = run, !ended.isEnded else { return nil }
        run?.isEnded = true
        if ended.position == .max { return nil }
        return Gap((ended.position + 1)...UInt64.max, epoch: ended.epoch, count: nil, reason: .epochChanged)
    }
    /// Everything up to `head` was sent before this word: what is not here is lost.
    private mutating func account(to head: UInt64, last: [String: UInt64]) -> Gap? {
        guard let run else { return nil }
        let through: UInt64
        switch scope {
        case .nothing: return nil
        case .one(let name): through = min(last[name] ?? 0, head)
        case .all: through = head
        }
        defer { self.run?.position = max(run.position, head) }
        return through > run.position ? missing(run, through: through) : nil
    }
    private func missing(_ run: Run, through last: UInt64) -> Gap {
        let first = run.position + 1  // Never past the end: something after the position came.
        // Of one name at least the last one is missing; who is between is unknown.
        let count = scope == .all || first == last ? Int(clamping: min(last - first, UInt64(Int.max) - 1) + 1) : nil
        return Gap(first...last, epoch: run.epoch, count: count, reason: .lost)
    }
}
