/// Steps that several inputs share: where an event is, accounting for it, and what is held.
extension StreamMachine {
    func emptyQueue() -> HoldbackQueue<Payload> {
        HoldbackQueue(countLimit: heldLimit, costLimit: Self.heldCostLimit)
    }
    /// What is held; the state then holds nothing.
    mutating func takeHeld() -> HoldbackQueue<Payload> {
        switch state {
        case .attaching(var attaching):
            let held = attaching.held
            attaching.held = emptyQueue()
            state = .attaching(attaching)
            return held ?? emptyQueue()
        case .reading(var reading):
            let held = reading.held
            reading.held = emptyQueue()
            state = .reading(reading)
            return held
        case .joining(let held):
            state = .joining(emptyQueue())
            return held
        case .unowned, .unwanted, .behind, .live, .refused: return emptyQueue()
        }
    }

    enum Place: Equatable {
        /// Not wanted, here already, or nonsense.
        case nowhere
        case next
        case behindHole(through: UInt64)
    }
    @inline(__always) func place(of name: String, _ sequence: UInt64, _ previous: UInt64) -> Place {
        guard sequence > reached.sequence, previous < sequence else { return .nowhere }
        switch scope {
        case .all: return sequence > reached.sequence + 1 ? .behindHole(through: sequence - 1) : .next
        case .one(let mine), .widening(let mine, _):
            if mine != name { return .nowhere }
            return previous > reached.sequence ? .behindHole(through: previous) : .next
        case .nothing: return .nowhere
        }
    }
    /// Accounts for an event from the owner itself; returns its epoch.
    @inline(__always) mutating func take(_ sequence: UInt64) -> UInt64 {
        reached.epoch = reached.ownerEpoch
        reached.sequence = sequence
        if !reportsLoss { doubt.isOpen = true }
        return reached.ownerEpoch
    }
    mutating func advance(to sequence: UInt64, in epoch: UInt64) {
        if sequence > reached.sequence { (reached.epoch, reached.sequence) = (epoch, sequence) }
    }
    /// The last sequence up to `head` that must have come.
    func end(to head: UInt64, last: [String: UInt64]) -> UInt64 {
        switch scope {
        case .nothing: 0
        case .one(let name), .widening(let name, _): min(last[name] ?? 0, head)
        case .all: head
        }
    }
    /// Everything up to `head` was sent before this word: what is not here is lost.
    mutating func account(to head: UInt64, last: [String: UInt64]) -> Gap? {
        let through = end(to: head, last: last)
        let gap = through > reached.sequence ? missing(through: through) : nil
        reached.sequence = max(reached.sequence, head)
        return gap
    }
    /// From the position to `last`, which is above it.
    func missing(through last: UInt64) -> Gap {
        let first = reached.sequence + 1
        // Of one name at least the last one is missing; how many between are of that name is unknown.
        let isCounted = scope.isAll || first == last
        let count = isCounted ? Int(clamping: min(last - first, UInt64(Int.max) - 1) + 1) : nil
        return Gap(first...last, epoch: reached.epoch, count: count, reason: .lost)
    }
    /// Passes by what the journal never had, unless the stream is beyond that.
    mutating func cross(_ gap: ClosedRange<UInt64>, in epoch: UInt64, into output: inout [Output]) {
        guard gap.upperBound > reached.sequence else { return }
        advance(to: gap.lowerBound - min(gap.lowerBound, 1), in: epoch)
        let lost = missing(through: gap.upperBound)
        let count = scope.isAll ? lost.count : nil
        output.append(.gap(Gap(lost.sequences, epoch: epoch, count: count, reason: .unrecorded)))
        advance(to: gap.upperBound, in: epoch)
    }
    /// Delivers what was held. A hole in it is reported, or, when `reading`, left with what is behind it. False: such a
    /// hole is left.
    @discardableResult
    mutating func drain(
        _ held: inout HoldbackQueue<Payload>, reading: Bool, into output: inout [Output]
    ) -> Bool {
        var taken = 0
        defer { held.removeFirst(taken) }
        for event in held.elements {
            switch place(of: event.name, event.sequence, event.previous) {
            case .nowhere: break
            case .behindHole(let through):
                if reading { return false }
                output.append(.gap(missing(through: through)))
                fallthrough
            case .next:
                let isOld = lateNames.exclude(event.name, event.sequence)
                let epoch = take(event.sequence)
                if !isOld { output.append(.deliver(event.payload, epoch: epoch)) }
            }
            taken += 1
        }
        return true
    }
}
