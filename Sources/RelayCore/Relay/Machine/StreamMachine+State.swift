/// What a stream does: each state holds what counts in it, and nothing else.
extension StreamMachine {
    enum State {
        /// The service has no owner. `isAbsent`: that is known; else the relay is off the bus, or has not asked yet.
        case unowned(Anchor, isAbsent: Bool)
        /// The service has an owner, and nothing is wanted of it.
        case unwanted(Anchor)
        /// `Attach` was requested and not answered. What comes is held.
        case attaching(Attaching)
        /// Between `beginAttach` and `finishAttach`: what the inlet has from before the answer is delivered. Held is
        /// what came before that, and lies behind a hole.
        case joining(HoldbackQueue<Payload>)
        /// Durable: something is missing up to a target, and a page is on its way. What comes is held.
        case reading(Reading)
        /// Durable: the consumer has no room. Nothing is read before `resume`, and what comes is dropped: it is read
        /// then.
        case behind(target: UInt64)
        /// Events are delivered as they come.
        case live
        /// The owner does not let this stream follow it. Nothing comes before the next owner.
        case refused(Anchor)
    }

    /// From where a stream that follows no run goes on once an owner answers.
    enum Anchor: Hashable {
        /// No place. `isAwaited`: this stream waited when the service had no owner, so that all of the run that comes
        /// counts; else it begins at the head.
        case nothing(isAwaited: Bool)
        /// The oldest event that can be read; where nothing can, as above.
        case oldest(isAwaited: Bool)
        /// A place that no owner has answered yet. Epoch 0: in whatever history the service has.
        case given(epoch: UInt64, sequence: UInt64)
        /// Where the stream stood with the owner that answered last.
        ///
        /// - `wasCutOff`: the relay was off the bus since: runs may have come and gone unseen.
        /// - `isBehind`: the consumer had no room, and has none yet.
        case reached(Position, wasCutOff: Bool = false, isBehind: Bool = false)

        var position: (epoch: UInt64, sequence: UInt64)? {
            switch self {
            case .nothing: nil
            case .oldest: (0, 0)
            case .given(let epoch, let sequence): (epoch, sequence)
            case .reached(let position, _, _): (position.epoch, position.sequence)
            }
        }
        var isBehind: Bool { if case .reached(_, _, let isBehind) = self { isBehind } else { false } }
        var isAwaited: Bool {
            get {
                switch self {
                case .nothing(let isAwaited), .oldest(let isAwaited): isAwaited
                case .given, .reached: false
                }
            }
            set {
                switch self {
                case .nothing: self = .nothing(isAwaited: newValue)
                case .oldest: self = .oldest(isAwaited: newValue)
                case .given, .reached: break
                }
            }
        }
        /// The epoch of the run that goes on from here is unknown, though all of it counts.
        var isOfUnknownRun: Bool {
            switch self {
            case .nothing(let isAwaited): isAwaited
            case .reached(let position, _, _): position.isEnded
            case .oldest, .given: false
            }
        }
        mutating func cutOff() {
            if case .reached(let position, _, let isBehind) = self {
                self = .reached(position, wasCutOff: true, isBehind: isBehind)
            }
        }
        /// The consumer has room, or none from `sequence` on.
        mutating func setBehind(_ isBehind: Bool, before sequence: UInt64? = nil) {
            guard case .reached(var position, let wasCutOff, _) = self else { return }
            if let sequence { position.goBack(before: sequence) }
            self = .reached(position, wasCutOff: wasCutOff, isBehind: isBehind)
        }
        /// The next owner's answer shows whether the place is one of its history.
        mutating func forgetOwner() {
            guard case .reached(var position, let wasCutOff, let isBehind) = self else { return }
            position.ownerEpoch = 0
            self = .reached(position, wasCutOff: wasCutOff, isBehind: isBehind)
        }
        /// Nothing more comes of the run; what it published after the position is unknown, unless it sent `End`.
        mutating func endRun() -> Gap? {
            guard case .reached(var position, let wasCutOff, let isBehind) = self, !position.isEnded else { return nil }
            position.isEnded = true
            self = .reached(position, wasCutOff: wasCutOff, isBehind: isBehind)
            return Gap.rest(of: position.epoch, after: position.sequence)
        }
    }

    /// A place in a history, as far as it was seen.
    struct Position: Hashable {
        /// The run of `sequence`. 0: unknown, as nothing was delivered yet.
        var epoch: UInt64
        /// The sequence up to which all is accounted for.
        var sequence: UInt64
        /// The run that answered last: the position is one of its history.
        var ownerEpoch: UInt64
        /// Volatile: the service sent `End`, or the run's end was reported. Nothing more comes of this run.
        var isEnded = false
        /// The stream began with the oldest event, and no page was read: what was removed before is nobody's loss.
        var isBeforeOldest = false
        /// The owner is a mirror that has not come to the run of this position; so far it has come to here. Unless it
        /// comes to that run, its history is another one.
        var aheadOf: UInt64?
        var isAhead: Bool { aheadOf != nil }

        static var none: Self { Self(epoch: 0, sequence: 0, ownerEpoch: 0) }

        /// A place in a run is one to come back to. Where the run is unknown, it is as if none had answered.
        func anchor(isBehind: Bool = false) -> Anchor {
            if epoch != 0 { return .reached(self, isBehind: isBehind) }
            return isBeforeOldest ? .oldest(isAwaited: false) : .given(epoch: 0, sequence: sequence)
        }
        /// The event `sequence` is not accounted for after all.
        mutating func goBack(before sequence: UInt64) {
            if sequence <= self.sequence { self.sequence = sequence - min(sequence, 1) }
        }
    }

    struct Attaching {
        var anchor: Anchor
        /// Whether the owner's run began before this relay's eyes.
        var sawStart = false
        /// Nil: it overflowed.
        var held: HoldbackQueue<Payload>?
        /// `Head` or `End`, heard before the answer and before any event: where the run began.
        var firstWord: StreamHead?
        /// `End`, heard before the answer that it has to wait for.
        var lastWord: StreamHead?

        mutating func hear(_ word: StreamHead, isLast: Bool) {
            if isLast { lastWord = word }
            let isFirst = firstWord.map { $0.sequence > word.sequence } ?? held?.elements.isEmpty ?? false
            if isFirst { firstWord = word }
        }
    }

    struct Reading {
        /// The sequence up to which something is known to be missing.
        var target: UInt64
        var held: HoldbackQueue<Payload>
        /// The latest request's `after`.
        var after: UInt64
        /// How many requests in a row brought nothing.
        var fruitless = 0
        /// The page that is being read.
        var page: Page?

        mutating func hold(_ event: HoldbackQueue<Payload>.Element, cost: Int) {
            if held.append(event, cost: cost) { return }
            // All of it can be read; and the newest are those that may join what is read without another page.
            target = held.elements.reduce(max(target, event.sequence)) { max($0, $1.sequence) }
            held.removeAll()
            _ = held.append(event, cost: cost)
        }
    }
    struct Page: Hashable {
        let epoch: UInt64
        /// Those in the page that the stream has not come to.
        var gaps: [ClosedRange<UInt64>]
        var hasEvents = false
    }

    /// Whether something may have been lost that only another word of the owner would show.
    struct Doubt: Hashable {
        /// Events came that no `Head` has confirmed.
        var isOpen = false
        var hasHeardSinceTick = false
    }
}

extension Gap {
    /// What a run published after `sequence`, which nobody knows. Nil: nothing can follow.
    static func rest(of epoch: UInt64, after sequence: UInt64) -> Gap? {
        sequence == .max ? nil : Gap((sequence + 1)...UInt64.max, epoch: epoch, count: nil, reason: .epochChanged)
    }
}

extension StreamMachine.State: Equatable where Payload: Equatable {}
extension StreamMachine.State: Hashable where Payload: Hashable {}
extension StreamMachine.Attaching: Equatable where Payload: Equatable {}
extension StreamMachine.Attaching: Hashable where Payload: Hashable {}
extension StreamMachine.Reading: Equatable where Payload: Equatable {}
extension StreamMachine.Reading: Hashable where Payload: Hashable {}
