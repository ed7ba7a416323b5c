/// One interface's stream at a relay, as a value: what came in goes in, what to deliver comes out.
///
/// Invariants: sequences are delivered in ascending order within a history, none twice; between two deliveries every sequence
/// of the scope is accounted for, by a delivery or by a gap. A volatile interface's history is one run of its service, and
/// what is missing is a gap. A durable one's goes on over runs, and what is missing is read: a gap is what was removed from the
/// journal, or a history that the service no longer knows.
///
/// Whoever uses it runs the actions in order, and drops every answer of `Attach` or `Read` that is not the latest request's: that
/// is, one to a former owner or connection, and one that was asked before the last `.attach`, or `.read`, respectively.
package struct StreamMachine<Payload> {
    /// What to do now, in this order.
    package enum Action {
        case deliver(Payload, epoch: UInt64)
        case gap(Gap)
        /// Ask the owner: `Attach(epoch, after, …)`. An answer under way no longer counts.
        case attach(epoch: UInt64, after: UInt64)
        /// Ask the owner: `Read(…, after, …)`, of the names that are wanted now. A page under way no longer counts.
        case read(after: UInt64)
    }
    /// What to do with the event at hand. A fast path: no array, and the payload stays where it is.
    package enum Verdict: Equatable {
        case drop
        /// Keep a copy, and give it to `hold`.
        case hold
        case deliver(epoch: UInt64, after: Gap?)
    }

    /// A place in a history, as far as it was seen.
    struct Run: Hashable {
        /// 0: whatever run the service has. Nothing was delivered yet.
        var epoch: UInt64
        /// The sequence up to which all is accounted for.
        var position: UInt64
        /// Volatile: the service said its last word, or its end was reported: nothing more comes of this run.
        var isEnded = false
    }
    enum Phase {
        /// No owner, or nothing wanted.
        case idle
        /// Asked, no answer yet. What comes is held.
        case attaching
        /// Durable: something is missing, and a page is on its way, or waits for `resume`. What comes is held.
        case reading
        case live
        /// The owner does not let this stream follow it: nothing comes before the next one.
        case refused
    }
    /// Events of a run that no gap can name: no answer told its epoch.
    static var unknownRun: Gap { Gap(1...UInt64.max, epoch: 0, count: nil, reason: .epochChanged) }

    var phase = Phase.idle
    var run: Run?
    /// How holes are found now. Behind `wanted` while a wider scope has not been answered.
    var scope = NameScope.nothing { didSet { isWidening = scope != wanted } }
    var wanted = NameScope.nothing { didSet { isWidening = scope != wanted } }
    /// Kept beside them, as it is asked about every event.
    private var isWidening = false
    var wantedNames: Set<String>? = []
    var hasOwner = false
    /// The name is known to have no owner.
    var isAbsent = false
    /// This stream waited when the name had no owner: all of the run that comes counts, though no answer has told its epoch.
    var beginsAtFirst = false
    /// The bus was gone meanwhile: runs may have come and gone unseen.
    var wasCutOff = false
    /// The owner's run began before this relay's eyes.
    var sawStart = false
    /// `Head` or `End`, heard before the answer and before any event: where the run began.
    var firstWord: StreamHead?
    /// `End`, heard before the answer that it has to wait for.
    var lastWord: StreamHead?
    var held: HoldbackQueue<Payload>
    /// Something came that had no room there, before the answer.
    var heldOverflowed = false
    /// Something may have been lost that only another word of the owner would show: events came that no `Head` has confirmed.
    var isUnconfirmed = false
    /// Events come out of a ring, which tells itself what it lacks: no `Head` need confirm them.
    package var isByRing = false
    private var hasHeardSinceTick = false

    /// Whether the owner's last answer said that events can be read; before the first, what was told at the beginning.
    package internal(set) var isDurable: Bool
    /// The run that answered last: the position is one of its history.
    var ownerEpoch: UInt64?
    /// The runs that led to the position, for a service that does not know its run.
    var lineage = RunLineage()
    /// Nothing was read yet: what was removed before is nobody's loss.
    var beginsAtOldest: Bool
    /// The consumer has no room: nothing is read before `resume`.
    var isBehind = false
    var newcomers = LateNames()
    /// Reading: the sequence up to which something is known to be missing.
    var target: UInt64 = 0
    /// Reading: the latest request's `after`, and how many in a row brought nothing.
    var readAfter: UInt64 = 0
    var fruitlessReads = 0
    /// The run of the page that is being looked at, and whether it has had an event.
    var pageEpoch: UInt64?
    var pageHasEvents = false

    /// How many events are held at the most. Past it they count as lost where nothing can be read.
    package static var heldLimit: Int { 1_024 }
    /// How much they may cost together, in bytes.
    package static var heldCostLimit: Int { 16 << 20 }

    /// - Parameters:
    ///   - start: where it begins. Its names are then wanted for its whole life: another name begins now.
    ///   - isDurable: what is known of the interface before the service tells.
    ///   - heldLimit: how many events are held at the most.
    package init(from start: StreamStart = .now, isDurable: Bool = false, heldLimit: Int = Self.heldLimit) {
        self.isDurable = isDurable
        held = HoldbackQueue(countLimit: heldLimit, costLimit: Self.heldCostLimit)
        beginsAtOldest = start == .oldest
        switch start {
        case .now: run = nil
        case .oldest: run = Run(epoch: 0, position: 0)
        case .at(let sequence): run = Run(epoch: 0, position: sequence)
        case .after(let epoch, let sequence, let runs):
            run = Run(epoch: epoch, position: sequence)
            lineage.learn(runs)
        }
    }

    /// Whether the relay is in step with the service, or has nothing to follow.
    package var isSettled: Bool { phase == .live || wanted == .nothing }
    /// An answer of `Attach` is due that tells from where events count, or those of a wider scope: what a ring has is not for now.
    var awaitsAnswer: Bool { phase == .attaching || phase == .live && isWidening }
    /// Where this stream stands: all is accounted for up to here. Epoch 0: in whatever history.
    package var position: (epoch: UInt64, sequence: UInt64)? { run.map { ($0.epoch, $0.position) } }

    // MARK: Signals

    /// Accounts for an event that comes in its place, which is nearly every one: it is to be delivered now. Returns its epoch; nil
    /// says that nothing was done, and that `receive` is to be asked.
    @inline(__always)
    mutating func receiveNext(_ name: String, _ sequence: UInt64, _ previous: UInt64) -> UInt64? {
        guard phase == .live, newcomers.isEmpty, case .next = place(of: name, sequence, previous) else { return nil }
        hasHeardSinceTick = true
        return take(sequence)
    }
    /// An event came from the owner.
    package mutating func receive(_ name: String, _ sequence: UInt64, _ previous: UInt64) -> Verdict {
        if let epoch = receiveNext(name, sequence, previous) { return .deliver(epoch: epoch, after: nil) }
        switch phase {
        case .idle, .refused: return .drop
        case .attaching:
            if held.isFull { overflow() }
            return heldOverflowed ? .drop : .hold
        case .reading:
            guard place(of: name, sequence, previous) != .nowhere else { return .drop }
            if isBehind { target = max(target, sequence) }
            return isBehind ? .drop : .hold
        case .live: break
        }
        let gap: Gap?
        switch place(of: name, sequence, previous) {
        case .nowhere: return .drop
        case .next: gap = nil
        case .behindHole(let through):
            if isDurable { return .hold }
            gap = run.map { missing($0, through: through) }
        }
        let epoch = take(sequence)
        hasHeardSinceTick = true
        // Only behind `answered` there are any: what the ring has from before the answer is not for a new name.
        if newcomers.exclude(name, sequence) { return .drop }
        return .deliver(epoch: epoch, after: gap)
    }
    /// Keeps an event, of so many bytes, until its turn.
    package mutating func hold(
        _ name: String, _ sequence: UInt64, _ previous: UInt64, _ payload: Payload, cost: Int = 0
    ) -> [Action] {
        let event = HoldbackQueue.Element(name: name, sequence: sequence, previous: previous, payload: payload)
        switch phase {
        case .idle, .refused: return []
        case .attaching:
            if !held.append(event, cost: cost) { overflow() }
            return []
        case .reading:
            if isBehind { return [] }
            if held.append(event, cost: cost) { return [] }
            // All of it can be read; and the newest are those that may join what is read without another page.
            target = held.elements.reduce(max(target, sequence)) { max($0, $1.sequence) }
            held.removeAll()
            _ = held.append(event, cost: cost)
            return []
        case .live:
            guard case .behindHole(let through) = place(of: name, sequence, previous) else { return [] }
            _ = held.append(event, cost: cost)
            return beginReading(through: max(through, held.elements.isEmpty ? sequence : 0))
        }
    }
    /// The place of what was held is reported or read, once the answer tells how far it reaches.
    private mutating func overflow() {
        held.removeAll()
        heldOverflowed = true
    }

    /// The owner announced where it stands; with `isLast` it will publish nothing more.
    package mutating func head(epoch: UInt64, sequence: UInt64, last: [String: UInt64], isLast: Bool = false)
        -> [Action]
    {
        if phase == .attaching {
            let word = StreamHead(epoch: epoch, sequence: sequence, last: last)
            if isLast { lastWord = word }
            let isFirst = firstWord.map { $0.sequence > sequence } ?? (held.elements.isEmpty && !heldOverflowed)
            if isFirst { firstWord = word }
        }
        guard phase == .live || phase == .reading, ownerEpoch == epoch, let run else { return [] }
        if phase == .reading {
            raiseTarget(to: sequence, last: last)
            return []
        }
        confirm()
        if isDurable {
            let through = end(to: sequence, last: last)
            if through > run.position { return beginReading(through: through) }
            advance(to: sequence, in: epoch)
            return []
        }
        let gap = account(to: sequence, last: last)
        if isLast { self.run?.isEnded = true }
        return gap.map { [.gap($0)] } ?? []
    }

    // MARK: Silence

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
    /// Something was lost on the way here, of this stream or of another: more may be than what shows it.
    package mutating func suspectLoss() {
        if phase == .live || isByRing { isUnconfirmed = true }
    }
    /// The owner's word tells where it stood. What a ring lost may be younger: that stays in doubt until it was asked about.
    mutating func confirm() {
        if !isByRing { isUnconfirmed = false }
    }
    /// Whether a tick is to be ordered.
    package var needsTick: Bool { phase == .live && isUnconfirmed }

    // MARK: Steps

    mutating func attach() -> [Action] {
        (phase, heldOverflowed, pageEpoch) = (.attaching, false, nil)
        held.removeAll()
        return [ask()]
    }
    /// What the service is to know of a position in the run `epoch`, beside the position.
    package func ancestry(of epoch: UInt64) -> [StreamRun] { lineage.ancestry(of: epoch) }
    func ask() -> Action { .attach(epoch: run?.epoch ?? 0, after: run?.position ?? 0) }
    mutating func leave() {
        (phase, hasOwner, firstWord, lastWord) = (.idle, false, nil, nil)
        held.removeAll()
        (heldOverflowed, isUnconfirmed, pageEpoch) = (false, false, nil)
        // What waited to count counts from the next run on.
        scope = wanted
    }
    /// Nothing more comes of the run; what it published after the position is unknown unless it said so.
    mutating func endRun() -> Gap? {
        guard let ended = run, !ended.isEnded else { return nil }
        run?.isEnded = true
        if ended.position == .max { return nil }
        return Gap((ended.position + 1)...UInt64.max, epoch: ended.epoch, count: nil, reason: .epochChanged)
    }
    /// Everything up to `head` was sent before this word: what is not here is lost.
    mutating func account(to head: UInt64, last: [String: UInt64]) -> Gap? {
        guard let run, scope != .nothing else { return nil }
        let through = end(to: head, last: last)
        defer { self.run?.position = max(run.position, head) }
        return through > run.position ? missing(run, through: through) : nil
    }
}

// Equal machines go on alike.
extension StreamMachine: Equatable where Payload: Equatable {}
extension StreamMachine: Hashable where Payload: Hashable {}
