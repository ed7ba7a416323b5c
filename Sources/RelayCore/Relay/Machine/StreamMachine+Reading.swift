/// Holes: how they are found, and how a durable stream fills them.
extension StreamMachine {
    // MARK: Pages

    /// A page of `Read` came, which answers the latest `.read`: followed by `pageEvent` for each of its events, in order, and by
    /// `pageEnded`.
    ///
    /// Returns what was removed from the journal before it could be read, to be reported before the page's events.
    package mutating func pageBegan(epoch: UInt64, oldest: UInt64) -> Gap? {
        guard phase == .reading, !isBehind, let run else { return nil }
        (pageEpoch, pageHasEvents) = (epoch, false)
        let isFirst = beginsAtOldest
        beginsAtOldest = false
        guard oldest > 0, oldest - 1 > run.position else { return nil }
        advance(to: oldest - 1, in: epoch)
        let lost = missing(run, through: oldest - 1)
        return isFirst ? nil : Gap(lost.sequences, epoch: epoch, count: lost.count, reason: .expired)
    }
    /// An event of the page. True: deliver it, in the page's epoch.
    package mutating func pageEvent(_ name: String, _ sequence: UInt64) -> Bool {
        guard let pageEpoch, let run else { return false }
        pageHasEvents = true
        if sequence <= run.position { return false }
        advance(to: sequence, in: pageEpoch)
        return scope.includes(name) && !newcomers.exclude(name, sequence)
    }
    /// The page is over: everything wanted up to `through` was in it or is gone; the journal has events up to `head`.
    ///
    /// Asks for the next page, or goes on with what was held, and live. A service that answers twice in a row that there is
    /// more, without giving any, is taken for one that keeps nothing: see `readRefused`.
    package mutating func pageEnded(through: UInt64, head: UInt64) -> [Action] {
        guard let epoch = pageEpoch else { return [] }
        pageEpoch = nil
        // What is beyond the head does not exist yet, and cannot be accounted for. What is behind the last event may be of a
        // later run; of which, only the owner's own is sure not to have ended before.
        advance(to: min(through, head), in: pageHasEvents ? ownerEpoch ?? epoch : epoch)
        fruitlessReads = position(of: run) > readAfter ? 0 : fruitlessReads + 1
        var actions: [Action] = []
        var isWhole = position(of: run) >= head
        // Before the target is looked at: what was held may reach it.
        if isWhole { isWhole = drain(reading: true, into: &actions) && position(of: run) >= target }
        if isWhole {
            goLive()
            return actions
        }
        return actions + (fruitlessReads < 2 ? read() : readRefused())
    }
    /// The service cannot give what is missing: it becomes a gap.
    package mutating func readRefused() -> [Action] {
        guard phase == .reading, let run else { return [] }
        var actions: [Action] = []
        if target > run.position {
            actions.append(.gap(missing(run, through: target)))
            advance(to: target, in: ownerEpoch ?? run.epoch)
        }
        drain(reading: false, into: &actions)
        goLive()
        return actions
    }

    // MARK: Room

    /// The consumer has no room: a durable stream drops what comes, and goes on with the journal at `resume`.
    ///
    /// - Parameter sequence: the first event that was to be delivered and had no room. Those behind it, of the same actions or
    ///   page, are not to be delivered. Without it everything delivered so far had room. Gaps need none.
    package mutating func fellBehind(before sequence: UInt64? = nil) {
        guard isDurable, let run else { return }
        isBehind = true
        held.removeAll()
        if let sequence, sequence <= run.position {
            target = max(target, run.position)
            self.run?.position = sequence - min(sequence, 1)
        }
        pageEpoch = nil
        if phase == .live { _ = beginReading(through: position(of: self.run)) }
    }
    /// The consumer has room again.
    package mutating func resume() -> [Action] {
        if !isBehind { return [] }
        isBehind = false
        return phase == .reading ? read() : []
    }

    // MARK: Steps

    /// Something is missing up to `through`.
    mutating func beginReading(through: UInt64) -> [Action] {
        target = max(target, through)
        if scope != wanted {
            // An answer is due that tells from where the wider scope counts: a page now might reach beyond it.
            phase = .attaching
            return []
        }
        return read()
    }
    mutating func read() -> [Action] {
        if phase != .reading { fruitlessReads = 0 }
        (phase, pageEpoch, readAfter) = (.reading, nil, position(of: run))
        return isBehind ? [] : [.read(after: readAfter)]
    }
    mutating func goLive() {
        phase = .live
        held.removeAll()
        newcomers.removeResolved()
        (target, beginsAtOldest, pageEpoch) = (0, false, nil)
        if run?.epoch == 0, let ownerEpoch { run?.epoch = ownerEpoch }
        // `Head` may have come, and been lost, while this stream was busy.
        if !isByRing { isUnconfirmed = true }
    }

    /// Delivers what was held. A hole in it is reported, or, when `reading`, left with what is behind it. False: such a hole is left.
    @discardableResult
    mutating func drain(reading: Bool, into actions: inout [Action]) -> Bool {
        var taken = 0
        defer { held.removeFirst(taken) }
        for event in held.elements {
            switch place(of: event.name, event.sequence, event.previous) {
            case .nowhere: break
            case .behindHole(let through):
                if reading { return false }
                if let run { actions.append(.gap(missing(run, through: through))) }
                fallthrough
            case .next:
                let isOld = newcomers.exclude(event.name, event.sequence)
                let epoch = take(event.sequence)
                if !isOld { actions.append(.deliver(event.payload, epoch: epoch)) }
            }
            taken += 1
        }
        return true
    }

    enum Place: Equatable {
        /// Not wanted, here already, or nonsense.
        case nowhere
        case next
        case behindHole(through: UInt64)
    }
    @inline(__always) func place(of name: String, _ sequence: UInt64, _ previous: UInt64) -> Place {
        guard let run, scope.includes(name), sequence > run.position, previous < sequence else { return .nowhere }
        switch scope {
        case .all where sequence > run.position + 1: return .behindHole(through: sequence - 1)
        case .one where previous > run.position: return .behindHole(through: previous)
        default: return .next
        }
    }
    /// Accounts for an event from the owner itself; returns its epoch.
    @inline(__always) mutating func take(_ sequence: UInt64) -> UInt64 {
        let epoch = ownerEpoch ?? 0
        run?.epoch = epoch
        run?.position = sequence
        if !isByRing { isUnconfirmed = true }
        return epoch
    }
    mutating func advance(to sequence: UInt64, in epoch: UInt64) {
        guard let run, sequence > run.position else { return }
        self.run?.epoch = epoch
        self.run?.position = sequence
    }
    func position(of run: Run?) -> UInt64 { run?.position ?? 0 }
    /// The last sequence up to `head` that must have come.
    func end(to head: UInt64, last: [String: UInt64]) -> UInt64 {
        switch scope {
        case .nothing: 0
        case .one(let name): min(last[name] ?? 0, head)
        case .all: head
        }
    }
    mutating func raiseTarget(to head: UInt64, last: [String: UInt64]) {
        target = max(target, end(to: head, last: last))
    }
    func missing(_ run: Run, through last: UInt64) -> Gap {
        let first = run.position + 1  // Never past the end: something after the position came.
        // Of one name at least the last one is missing; who is between is unknown.
        let count = scope == .all || first == last ? Int(clamping: min(last - first, UInt64(Int.max) - 1) + 1) : nil
        return Gap(first...last, epoch: run.epoch, count: count, reason: .lost)
    }
}
