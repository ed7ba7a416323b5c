/// Holes: how a durable stream fills them.
extension StreamMachine {
    // MARK: Pages

    /// A page of `Read` came, which answers the latest `.read`. Call `pageEvent` for each of its events, in order, then
    /// `pageEnded`.
    ///
    /// Reports what was removed from the journal before it could be read.
    ///
    /// - Parameter gaps: what the journal never had, by rising sequence. If there is any, call `pageGaps` before each
    ///   event.
    package mutating func pageBegan(epoch: UInt64, oldest: UInt64, gaps: [ClosedRange<UInt64>] = []) -> Action {
        guard case .reading(var reading) = state else { return .nothing }
        reading.page = Page(epoch: epoch, gaps: gaps)
        state = .reading(reading)
        let isFirst = reached.isBeforeOldest
        reached.isBeforeOldest = false
        guard oldest > 0, oldest - 1 > reached.sequence else { return .nothing }
        let lost = missing(through: oldest - 1)
        advance(to: oldest - 1, in: epoch)
        return .report(isFirst ? nil : Gap(lost.sequences, epoch: epoch, count: lost.count, reason: .expired))
    }
    /// Reports what the journal never had before this sequence: any event may have been there.
    package mutating func pageGaps(before sequence: UInt64) -> Action {
        guard case .reading(var reading) = state, var page = reading.page, !page.gaps.isEmpty else { return .nothing }
        let passed = page.gaps.prefix { $0.upperBound < sequence }
        page.gaps.removeFirst(passed.count)
        reading.page = page
        state = .reading(reading)
        var output: [Output] = []
        for gap in passed { cross(gap, in: page.epoch, into: &output) }
        return .show(output)
    }
    /// An event of the page. True: deliver it, in the page's epoch.
    package mutating func pageEvent(_ name: String, _ sequence: UInt64) -> Bool {
        guard case .reading(let reading) = state, let page = reading.page else { return false }
        if !page.hasEvents { notePageEvent() }
        if sequence <= reached.sequence { return false }
        advance(to: sequence, in: page.epoch)
        return scope.includes(name) && !lateNames.exclude(name, sequence)
    }
    private mutating func notePageEvent() {
        guard case .reading(var reading) = state else { return }
        reading.page?.hasEvents = true
        state = .reading(reading)
    }
    /// The page is over: everything wanted up to `through` was in it or is gone; the journal has events up to `head`.
    ///
    /// Requests the next page, or goes on with what was held, and live. A service that answers twice in a row that
    /// there is more, without giving any, is taken for one that keeps nothing: see `readRefused`.
    package mutating func pageEnded(through: UInt64, head: UInt64) -> Action {
        let end = min(through, head)
        let crossed = pageGaps(before: end == .max ? end : end + 1)
        guard case .reading(var reading) = state, let page = reading.page else { return .nothing }
        // Out of the state, so that the queue is not copied. Every way from here sets another.
        state = .live
        // What is beyond the head does not exist yet, and cannot be accounted for. What is behind the last event may be
        // of a later run; of which, only the owner's own is sure not to have ended before.
        advance(to: end, in: page.hasEvents ? reached.ownerEpoch : page.epoch)
        reading.fruitless = reached.sequence > reading.after ? 0 : reading.fruitless + 1
        var output = crossed.output
        var isWhole = reached.sequence >= head
        // Before the target is checked: what was held may reach it.
        if isWhole { isWhole = drain(&reading.held, reading: true, into: &output) }
        if isWhole { isWhole = reached.sequence >= reading.target }
        if isWhole {
            goLive()
        } else if reading.fruitless < 2 {
            return read(reading, behind: output)
        } else {
            giveUp(reading.target, &reading.held, into: &output)
        }
        return .show(output)
    }
    /// The service cannot give what is missing: it becomes a gap.
    package mutating func readRefused() -> Action {
        var output: [Output] = []
        switch state {
        case .reading(let reading):
            var held = takeHeld()
            giveUp(reading.target, &held, into: &output)
        case .behind(let target):
            var held = emptyQueue()
            giveUp(target, &held, into: &output)
        case .unowned, .unwanted, .attaching, .joining, .live, .refused: return .nothing
        }
        return .show(output)
    }
    private mutating func giveUp(_ target: UInt64, _ held: inout HoldbackQueue<Payload>, into output: inout [Output]) {
        if target > reached.sequence {
            output.append(.gap(missing(through: target)))
            advance(to: target, in: reached.ownerEpoch)
        }
        drain(&held, reading: false, into: &output)
        goLive()
    }

    // MARK: Room

    /// The consumer has no room: a durable stream drops what comes, and goes on with the journal at `resume`.
    ///
    /// - Parameter sequence: the first event that was to be delivered and had no room. Those behind it, of the same
    ///   actions or page, are not to be delivered. Without it everything delivered so far had room. Gaps need none.
    package mutating func fellBehind(before sequence: UInt64? = nil) {
        if !isDurable { return }
        switch state {
        case .unowned(var anchor, let isAbsent):
            anchor.setBehind(true, before: sequence)
            state = .unowned(anchor, isAbsent: isAbsent)
        case .refused(var anchor):
            anchor.setBehind(true, before: sequence)
            state = .refused(anchor)
        case .attaching(var attaching):
            attaching.anchor.setBehind(true, before: sequence)
            if attaching.held != nil { attaching.held = emptyQueue() }
            state = .attaching(attaching)
        case .unwanted: break
        case .reading(let reading): fallBehind(before: sequence, reading.target)
        case .behind(let target): fallBehind(before: sequence, target)
        case .joining, .live: fallBehind(before: sequence, 0)
        }
    }
    private mutating func fallBehind(before sequence: UInt64?, _ target: UInt64) {
        let target = max(target, reached.sequence)
        if let sequence { reached.goBack(before: sequence) }
        if scope.isWidening {
            awaitAnswer(from: reached.anchor(isBehind: true))
        } else {
            state = .behind(target: target)
        }
    }
    /// The consumer has room again.
    package mutating func resume() -> Action {
        switch state {
        case .behind(let target): return read(Reading(target: target, held: emptyQueue(), after: 0))
        case .unowned(var anchor, let isAbsent):
            anchor.setBehind(false)
            state = .unowned(anchor, isAbsent: isAbsent)
        case .refused(var anchor):
            anchor.setBehind(false)
            state = .refused(anchor)
        case .attaching(var attaching):
            attaching.anchor.setBehind(false)
            state = .attaching(attaching)
        case .unwanted, .joining, .reading, .live: break
        }
        return .nothing
    }

    // MARK: Steps

    /// Something is missing up to `target`: reads it, unless an answer is due first.
    mutating func beginReading(through target: UInt64, _ held: HoldbackQueue<Payload>) -> Action {
        if scope.isWidening {
            // That answer decides from where the wider scope counts: a page now might reach beyond it.
            awaitAnswer(from: reached.anchor(), held)
            return .nothing
        }
        return read(Reading(target: target, held: held, after: 0))
    }
    /// Requests a page, in place of any that is under way.
    mutating func read(_ reading: Reading, behind output: [Output] = []) -> Action {
        var reading = reading
        (reading.after, reading.page) = (reached.sequence, nil)
        state = .reading(reading)
        return .read(output, after: reading.after)
    }
    mutating func goLive() {
        state = .live
        lateNames.removeResolved()
        reached.isBeforeOldest = false
        if reached.epoch == 0 { reached.epoch = reached.ownerEpoch }
        // `Head` may have come, and been lost, while this stream was busy.
        if !reportsLoss { doubt.isOpen = true }
    }
}
