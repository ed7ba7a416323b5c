/// One interface's stream at a relay, as a value: what came in goes in, what to deliver comes out.
///
/// Invariants: sequences are delivered in ascending order within a history, none twice. Between two deliveries every
/// sequence of the scope is accounted for, by a delivery or by a gap. A volatile interface's history is one run of its
/// service, and what is missing is a gap. A durable one's goes on over runs, and what is missing is read: a gap is what
/// was removed from the journal, or a history that the service no longer knows.
///
/// Each input that can ask for something returns an `Action`. The caller performs it at once. The caller drops every
/// reply to `Attach` or `Read` that does not answer the latest request: one to a former owner or connection, and one
/// that was requested before the last `.attach` or `.read`, respectively.
package struct StreamMachine<Payload> {
    /// What the stream does now.
    var state: State { didSet { noteInOrder() } }
    /// Where the stream stands while it follows a run; `.none` in all other states.
    ///
    /// Beside the state and not in it, as nearly every event changes it: the payload of an enum cannot be changed in
    /// place.
    var reached = Position.none
    /// What is wanted, and which of it has been answered.
    var scope = StreamScope.nothing { didSet { noteInOrder() } }
    /// Whether the last events may lack a successor.
    var doubt = Doubt()
    /// The inlet shows by itself what it lost (`Inlet.reportsLoss`): no `Head` need confirm its events.
    package var reportsLoss = false
    /// Whether events can be read, by the owner's last answer; before the first, what was known at the beginning.
    package internal(set) var isDurable: Bool
    /// Names that were added while the stream was behind.
    var lateNames = LateNames()
    /// The runs that led to the position, for a service that does not know its run.
    var lineage = RunLineage()
    /// What the next event in order is looked up in, derived from `state` and `scope`: to take a payload out of an enum
    /// costs more than all else that is done for such an event.
    private var inOrder = InOrder.none
    /// The name that counts, for `.one`; else empty, so that equal machines have equal parts.
    private var nameInOrder = ""
    let heldLimit: Int

    /// How many events are held at the most. Past it they count as lost where nothing can be read.
    package static var heldLimit: Int { 1_024 }
    /// How much they may cost together, in bytes.
    package static var heldCostLimit: Int { 16 << 20 }

    /// - Parameters:
    ///   - start: where it begins. Its names are then wanted for its whole life: another name begins now.
    ///   - isDurable: what is known of the interface before the service answers.
    ///   - heldLimit: how many events are held at the most.
    package init(from start: StreamStart = .now, isDurable: Bool = false, heldLimit: Int = Self.heldLimit) {
        (self.isDurable, self.heldLimit) = (isDurable, heldLimit)
        let anchor: Anchor
        switch start {
        case .now: anchor = .nothing(isAwaited: false)
        case .oldest: anchor = .oldest(isAwaited: false)
        case .at(let sequence): anchor = .given(epoch: 0, sequence: sequence)
        case .after(let epoch, let sequence, let runs):
            anchor = .given(epoch: epoch, sequence: sequence)
            lineage.learn(runs)
        }
        state = .unowned(anchor, isAbsent: false)
    }

    // MARK: Where it stands

    /// The run of the service that answered last, while its events are delivered or read; nil: none has.
    var ownerEpoch: UInt64? { isFollowing || isReading ? reached.ownerEpoch : nil }

    /// Whether the relay is in step with the service, or has nothing to follow.
    package var isSettled: Bool { isFollowing || scope == .nothing }
    /// Events are delivered as they come.
    var isFollowing: Bool {
        switch state {
        case .live, .joining: true
        case .unowned, .unwanted, .attaching, .reading, .behind, .refused: false
        }
    }
    /// Something is missing that can be read: a page is on its way, or waits for room.
    var isReading: Bool {
        switch state {
        case .reading, .behind: true
        case .unowned, .unwanted, .attaching, .joining, .live, .refused: false
        }
    }
    /// The reply to `Attach` is due, which decides from where events count, or those of a wider scope. Leave a direct
    /// inlet alone until then.
    var awaitsAnswer: Bool {
        switch state {
        case .attaching: true
        case .live, .joining: scope.isWidening
        case .unowned, .unwanted, .reading, .behind, .refused: false
        }
    }
    /// Whether an event of this name is accounted for now.
    func accounts(for name: String) -> Bool { (isFollowing || isReading) && scope.includes(name) }
    /// All is accounted for up to here. Epoch 0: in whatever history.
    package var position: (epoch: UInt64, sequence: UInt64)? {
        switch state {
        case .joining, .reading, .behind, .live: (reached.epoch, reached.sequence)
        case .unowned(let anchor, _), .unwanted(let anchor), .refused(let anchor): anchor.position
        case .attaching(let attaching): attaching.anchor.position
        }
    }

    /// Which events may be the next in order.
    private enum InOrder: Hashable { case none, one, all }
    private mutating func noteInOrder() {
        if inOrder == .one { nameInOrder = "" }
        inOrder = .none
        guard case .live = state, !reached.isAhead else { return }
        switch scope {
        case .nothing: break
        case .one(let name), .widening(let name, _): (inOrder, nameInOrder) = (.one, name)
        case .all: inOrder = .all
        }
    }

    // MARK: Signals

    /// Accounts for an event that comes in its place, as nearly every one does. Returns its epoch: deliver it now. Nil:
    /// nothing was done; call `receive`.
    @inline(__always)
    mutating func receiveNext(_ name: String, _ sequence: UInt64, _ previous: UInt64) -> UInt64? {
        guard previous < sequence else { return nil }
        switch inOrder {
        case .all: guard sequence == reached.sequence &+ 1 else { return nil }
        case .one:
            guard sequence > reached.sequence, previous <= reached.sequence, name == nameInOrder else { return nil }
        case .none: return nil
        }
        doubt.hasHeardSinceTick = true
        return take(sequence)
    }
    /// An event came from the owner.
    package mutating func receive(_ name: String, _ sequence: UInt64, _ previous: UInt64) -> Action {
        if let epoch = receiveNext(name, sequence, previous) { return .deliver(epoch: epoch, after: nil) }
        switch state {
        case .unowned, .unwanted, .refused: return .nothing
        case .attaching(var attaching):
            guard attaching.held?.isFull ?? true else { return .hold }
            // It is reported or read, once the answer shows how far it reaches.
            attaching.held = nil
            state = .attaching(attaching)
            return .nothing
        case .reading: return place(of: name, sequence, previous) == .nowhere ? .nothing : .hold
        case .behind(let target):
            if place(of: name, sequence, previous) != .nowhere { state = .behind(target: max(target, sequence)) }
            return .nothing
        case .joining, .live: return receiveInOrder(name, sequence, previous)
        }
    }
    private mutating func receiveInOrder(_ name: String, _ sequence: UInt64, _ previous: UInt64) -> Action {
        if reached.isAhead { return askWhoIsAhead(at: sequence) }
        let gap: Gap?
        switch place(of: name, sequence, previous) {
        case .nowhere: return .nothing
        case .next: gap = nil
        case .behindHole(let through):
            if isDurable { return .hold }
            gap = missing(through: through)
        }
        doubt.hasHeardSinceTick = true
        let epoch = take(sequence)
        // While it joins there may be some: what the inlet has from before the answer is not for a new name.
        if lateNames.exclude(name, sequence) { return .nothing }
        return .deliver(epoch: epoch, after: gap)
    }
    /// Keeps an event, of so many bytes, until its turn.
    package mutating func hold(
        _ name: String, _ sequence: UInt64, _ previous: UInt64, _ payload: Payload, cost: Int = 0
    ) -> Action {
        let event = HoldbackQueue.Element(name: name, sequence: sequence, previous: previous, payload: payload)
        switch state {
        case .unowned, .unwanted, .refused, .behind: return .nothing
        case .attaching(var attaching):
            // Out of the state, so that the queue is not copied.
            state = .live
            if attaching.held?.append(event, cost: cost) == false { attaching.held = nil }
            state = .attaching(attaching)
            return .nothing
        case .reading(var reading):
            state = .live
            reading.hold(event, cost: cost)
            state = .reading(reading)
            return .nothing
        case .joining, .live:
            guard case .behindHole(let through) = place(of: name, sequence, previous) else { return .nothing }
            var held = takeHeld()
            _ = held.append(event, cost: cost)
            let target = max(through, held.elements.isEmpty ? sequence : 0)
            return beginReading(through: target, held)
        }
    }
    /// The owner announced where it stands; with `isLast` it will publish nothing more.
    package mutating func head(
        epoch: UInt64, sequence: UInt64, last: [String: UInt64], isLast: Bool = false
    ) -> Action {
        switch state {
        case .unowned, .unwanted, .refused: return .nothing
        case .attaching(var attaching):
            attaching.hear(StreamHead(epoch: epoch, sequence: sequence, last: last), isLast: isLast)
            state = .attaching(attaching)
            return .nothing
        case .reading(var reading):
            guard reached.ownerEpoch == epoch else { return .nothing }
            reading.target = max(reading.target, end(to: sequence, last: last))
            state = .reading(reading)
            return .nothing
        case .behind(let target):
            guard reached.ownerEpoch == epoch else { return .nothing }
            state = .behind(target: max(target, end(to: sequence, last: last)))
            return .nothing
        case .joining, .live:
            guard reached.ownerEpoch == epoch else { return .nothing }
            confirm()
            if reached.isAhead { return askWhoIsAhead(at: sequence) }
            return isDurable ? readHole(to: sequence, last: last) : reportHole(to: sequence, last: last, isLast: isLast)
        }
    }
    private mutating func readHole(to head: UInt64, last: [String: UInt64]) -> Action {
        let through = end(to: head, last: last)
        guard through > reached.sequence else {
            advance(to: head, in: reached.ownerEpoch)
            return .nothing
        }
        return beginReading(through: through, takeHeld())
    }
    private mutating func reportHole(to head: UInt64, last: [String: UInt64], isLast: Bool) -> Action {
        let gap = account(to: head, last: last)
        if isLast { reached.isEnded = true }
        return .report(gap)
    }

    // MARK: Silence

    /// Comes every two seconds while `needsTick`. A second one without event or `Head` in between asks: `Head` may be
    /// lost, like what it would announce.
    package mutating func tick() -> Action {
        guard needsTick else { return .nothing }
        if doubt.hasHeardSinceTick {
            doubt.hasHeardSinceTick = false
            return .nothing
        }
        doubt.isOpen = false
        return .attach(epoch: reached.epoch, after: reached.sequence)
    }
    /// Something was lost on the way here, of this stream or of another: more may be lost than what shows it.
    package mutating func suspectLoss() { if reportsLoss || isFollowing { doubt.isOpen = true } }
    /// The owner's word shows where it stood. What an inlet has reported as lost may be younger: that stays in doubt
    /// until the owner was asked about it.
    mutating func confirm() { if !reportsLoss { doubt.isOpen = false } }
    /// Whether a tick is to be scheduled: after any input, and after the last tick.
    package var needsTick: Bool { doubt.isOpen && isFollowing }
}

// Equal machines go on alike.
extension StreamMachine: Equatable where Payload: Equatable {}
extension StreamMachine: Hashable where Payload: Hashable {}
