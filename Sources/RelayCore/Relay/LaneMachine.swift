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
    }
    private struct Held {
        let name: String
        let sequence: UInt64
        let previous: UInt64
        let payload: Payload
    }

    private var phase = Phase.idle
    private var run: Run?
    /// How holes are found now. Behind `wanted` while a wider scope has not been answered.
    private var scope = LaneScope.nothing
    private var wanted = LaneScope.nothing
    private var hasOwner = false
    private var held: [Held] = []
    private var heldOverflowed = false
    /// Events came that no `Head` has confirmed.
    private var isUnconfirmed = false
    private var hasHeardSinceTick = false

    /// How many events wait for the answer of `Attach` at the most. Past it they count as lost.
    package static var heldLimit: Int { 1_024 }

    package init() {}

    /// Whether the relay is in step with the service, or has nothing to follow.
    package var isSettled: Bool { phase == .live || wanted == .nothing }
    /// Where this lane stands, for people.
    package var position: (epoch: UInt64, sequence: UInt64)? { run.map { ($0.epoch, $0.position) } }

    // MARK: Inputs

    /// The service's name has an owner, whose signals follow.
    package mutating func ownerAppeared() -> [Action] {
        hasOwner = true
        return wanted == .nothing ? [] : attach()
    }

    /// The owner left the bus: its run is over.
    package mutating func ownerVanished() -> [Action] {
        hasOwner = false
        defer { leave() }
        // A run that was never attached to, though this lane waited for it: it has no name, and may have published.
        if phase == .attaching, run?.isEnded ?? false {
            return [.gap(Gap(1...UInt64.max, epoch: 0, count: nil, reason: .epochChanged))]
        }
        return endRun().map { [.gap($0)] } ?? []
    }

    /// The bus is gone; the service may live on.
    package mutating func disconnected() {
        hasOwner = false
        leave()
    }

    /// What subscribers want has changed.
    package mutating func want(_ names: Set<String>?) -> [Action] {
        let new = LaneScope(names: names)
        if new == wanted { return [] }
        let old = wanted
        wanted = new
        switch (old, new) {
        case (_, .nothing):
            (scope, run) = (.nothing, nil)
            leave()
            return []
        case (.all, .one):
            // All before the position is accounted for: true of each name, too.
            scope = new
            return hasOwner && phase == .attaching ? [ask()] : []
        case (.one, .all) where hasOwner: return [ask()]
        case (.one, .one), (.nothing, _):
            (scope, run) = (new, nil)
            return hasOwner ? attach() : []
        default:
            scope = new
            return []
        }
    }

    /// The owner answered the latest `attach`.
    package mutating func attached(_ answer: Attachment) -> [Action] {
        guard hasOwner, wanted != .nothing else { return [] }
        var actions: [Action] = []
        if let run, run.epoch != answer.epoch {
            if let gap = endRun() { actions.append(.gap(gap)) }
            // It was followed before this run began: everything of it counts.
            self.run = Run(epoch: answer.epoch, position: 0)
        } else if run == nil {
            self.run = Run(epoch: answer.epoch, position: answer.head)
        }
        run?.isEnded = false
        let waiting = held
        (held, heldOverflowed) = ([], false)
        phase = .live
        for event in waiting {
            guard case .deliver(let epoch, let gap) = receive(event.name, event.sequence, event.previous) else {
                continue
            }
            if let gap { actions.append(.gap(gap)) }
            actions.append(.deliver(event.payload, epoch: epoch))
        }
        if let gap = account(to: answer.head, last: answer.last) { actions.append(.gap(gap)) }
        scope = wanted
        if let position = run?.position, position < answer.head { run?.position = answer.head }
        isUnconfirmed = false
        return actions
    }

    /// An event came from the owner.
    package mutating func receive(_ name: String, _ sequence: UInt64, _ previous: UInt64) -> Verdict {
        switch phase {
        case .idle: return .drop
        case .attaching:
            if held.count >= Self.heldLimit {
                // Their place is reported, once the answer tells how far it reaches.
                (held, heldOverflowed) = ([], true)
            }
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
    /// Keeps an event until `attached`.
    package mutating func hold(_ name: String, _ sequence: UInt64, _ previous: UInt64, _ payload: Payload) {
        held.append(Held(name: name, sequence: sequence, previous: previous, payload: payload))
    }

    /// The owner announced where it stands; with `isLast` it will publish nothing more.
    package mutating func head(epoch: UInt64, sequence: UInt64, last: [String: UInt64], isLast: Bool = false)
        -> [Action]
    {
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
    /// Whether a tick is to be ordered.
    package var needsTick: Bool { phase == .live && isUnconfirmed }

    // MARK: Steps

    private mutating func attach() -> [Action] {
        phase = .attaching
        (held, heldOverflowed) = ([], false)
        return [ask()]
    }
    private func ask() -> Action { .attach(epoch: run?.epoch ?? 0, after: run?.position ?? 0) }
    private mutating func leave() {
        phase = .idle
        (held, heldOverflowed, isUnconfirmed) = ([], false, false)
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
        let count = scope == .all ? Int(clamping: min(last - first, UInt64(Int.max) - 1) + 1) : nil
        return Gap(first...last, epoch: run.epoch, count: count, reason: .lost)
    }
}
