/// Owners, wants and answers: how a stream comes to follow a run, and which history it goes on with.
extension StreamMachine {
    // MARK: The owner

    /// The service's name has an owner, whose signals follow.
    ///
    /// - Parameter isNew: whether it took the name while this relay was on the bus, so that all of its run can be had; not
    ///   if it was found there.
    package mutating func ownerAppeared(isNew: Bool) -> [Action] {
        (hasOwner, isAbsent, sawStart) = (true, false, isNew)
        if isNew { beginsAtFirst = wanted != .nothing }
        return wanted == .nothing ? [] : attach()
    }

    /// Nobody has the service's name.
    package mutating func ownerAbsent() {
        (isAbsent, beginsAtFirst) = (true, wanted != .nothing)
        newcomers.admitUnresolved()
    }

    /// The owner left the bus: its run is over. What a durable stream missed of it can be read from the next.
    package mutating func ownerVanished() -> [Action] {
        defer {
            leave()
            ownerAbsent()
        }
        if isDurable { return missRun() }
        // A place that nobody has answered yet: whether it was of a run or of a journal, the next owner's answer tells.
        if run != nil && ownerEpoch == nil { return [] }
        if phase == .attaching {
            // What it said at last is as good as an answer.
            if let lastWord { return join(lastWord) }
            // A run that was never attached to, though this stream waited for it: it has no name, and may have published.
            if run.map(\.isEnded) ?? beginsAtFirst { return [.gap(Self.unknownRun)] }
        }
        return endRun().map { [.gap($0)] } ?? []
    }

    /// The bus is gone; the service may live on.
    package mutating func disconnected() -> [Action] {
        wasCutOff = run != nil
        isAbsent = false
        defer { leave() }
        return missRun()
    }
    /// A run that this stream waited for went out of sight before it answered: it counts from its first word on, the `Head` with
    /// which a service takes its name. (If the bus lost that one, and the events up to another, they go unseen.)
    private mutating func missRun() -> [Action] {
        guard run == nil, beginsAtFirst, phase == .attaching else { return [] }
        if isDurable, sawStart, let firstWord {
            run = Run(epoch: firstWord.epoch, position: firstWord.sequence)
            return []
        }
        return [.gap(Self.unknownRun)]
    }

    // MARK: What is wanted

    /// What subscribers want has changed.
    ///
    /// A name that was not wanted before gets what comes from now on. Where nobody had the service's name meanwhile it may get
    /// what the last run left unseen, too.
    package mutating func want(_ names: Set<String>?) -> [Action] {
        let (new, old) = (NameScope(names: names), wantedNames)
        let hasGained = names.map { names in old.map { !names.isSubset(of: $0) } ?? false } ?? (old != nil)
        wantedNames = names
        if new == wanted && !(isDurable && hasGained) { return [] }
        wanted = new
        if new == .nothing {
            let owned = hasOwner
            (run, ownerEpoch, beginsAtOldest, isBehind) = (nil, nil, false, false)
            newcomers.removeAll()
            leave()
            hasOwner = owned
            return []
        }
        if case (.one, .one) = (scope, new), scope != new { return startAfresh(new) }
        if scope == .nothing { return startAfresh(new) }
        if phase == .refused {
            scope = new
            if !isDurable { (run, beginsAtFirst, wasCutOff) = (nil, false, false) }
        }
        if isDurable && hasGained { welcome(beyond: old) }
        if scope != .all && new == .all && hasOwner && phase != .refused {
            // The page under way may reach beyond the answer, and lacks the new names.
            if phase == .reading { (phase, pageEpoch) = (.attaching, nil) }
            return [ask()]
        }
        // All before the position is accounted for: true of each name, too.
        let isNarrower = scope == .all || scope == new
        scope = new
        if phase == .reading && hasGained { return read() }
        return isNarrower && hasOwner && phase == .attaching && new != .all ? [ask()] : []
    }
    private mutating func startAfresh(_ new: NameScope) -> [Action] {
        // What a stream begins with is kept until it is first wanted.
        if scope != .nothing { (run, ownerEpoch, beginsAtOldest) = (nil, nil, false) }
        newcomers.removeAll()
        scope = new
        if phase == .refused {
            (beginsAtFirst, wasCutOff) = (false, false)
            return []
        }
        (beginsAtFirst, wasCutOff) = (isAbsent, false)
        return hasOwner ? attach() : []
    }
    private mutating func welcome(beyond old: Set<String>?) {
        switch phase {
        case .reading: newcomers.add(beyond: old, through: scope == .all ? target : nil)
        case .live where scope == .all: break
        default: if !isAbsent { newcomers.add(beyond: old, through: nil) }
        }
    }

    // MARK: Answers

    /// The latest `attach` or `read` got no answer in time: asks again.
    package mutating func unanswered() -> [Action] {
        guard hasOwner, wanted != .nothing, phase != .refused else { return [] }
        return phase == .reading ? read() : [ask()]
    }

    /// The owner does not let this stream follow it. Asks no more before the next owner.
    package mutating func refused() -> [Action] {
        guard hasOwner, wanted != .nothing else { return [] }
        defer {
            leave()
            (phase, hasOwner) = (.refused, true)
        }
        if isDurable || run != nil && ownerEpoch == nil { return [] }
        return endRun().map { [.gap($0)] } ?? []
    }

    /// The owner answered the latest `attach`.
    package mutating func attached(_ answer: Attachment) -> [Action] {
        guard hasOwner, wanted != .nothing, phase != .refused else { return [] }
        isDurable = answer.oldest != .max
        if isDurable { return join(durable: answer) }
        (isBehind, pageEpoch) = (false, nil)
        newcomers.removeAll()
        return join(StreamHead(epoch: answer.epoch, sequence: answer.head, last: answer.last))
    }
    /// The owner answered the latest `attach`, and what it had published by then is still to be received, up to the answer's head,
    /// because a ring has it; `attached` follows behind that. Nothing to do for a stream that is in step.
    package mutating func answered(_ answer: Attachment) -> [Action] {
        guard hasOwner, wanted != .nothing, phase == .attaching, !isBehind else { return [] }
        isDurable = answer.oldest != .max
        var actions: [Action] = []
        if isDurable {
            adopt(answer, into: &actions)
        } else {
            newcomers.removeAll()
            adopt(StreamHead(epoch: answer.epoch, sequence: answer.head, last: answer.last), into: &actions)
        }
        // A hole may be one of signals only: what is behind it is in the ring, too, or is held until then.
        drain(reading: true, into: &actions)
        (phase, target, pageEpoch) = (.live, 0, nil)
        return actions
    }
    /// From where a ring of this run is to be read: behind this sequence. Nil: nothing is wanted that was published before the
    /// answer, or it can be read elsewhere.
    package func place(inRingOf epoch: UInt64) -> UInt64? {
        if let run, run.epoch == epoch { return run.position }
        if isDurable { return nil }
        // A place of another run, or of whatever run there is, says nothing about this one, which may not have come as far: passing
        // over what is behind it would lose what is published next. The answer shows what counts.
        return run != nil || beginsAtFirst ? 0 : nil
    }
    /// Goes on with a run from where this stream stands in it, now that it is known how far the run has come.
    private mutating func join(_ head: StreamHead) -> [Action] {
        var actions: [Action] = []
        adopt(head, into: &actions)
        drain(reading: false, into: &actions)
        if let gap = account(to: head.sequence, last: head.last) { actions.append(.gap(gap)) }
        scope = wanted
        goLive()
        confirm()
        return actions
    }
    private mutating func adopt(_ head: StreamHead, into actions: inout [Action]) {
        if let run, run.epoch == 0 {
            // Nothing older than the head can be had.
            self.run = beginsAtOldest ? nil : Run(epoch: head.epoch, position: min(run.position, head.sequence))
        }
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
        settle(with: head.epoch)
    }
    /// Goes on with the history, if it is the one in which this stream stands; asks for what is missing of it.
    private mutating func join(durable answer: Attachment) -> [Action] {
        var actions: [Action] = []
        let isOther = adopt(answer, into: &actions)
        if phase == .reading && !isOther {
            raiseTarget(to: answer.head, last: answer.last)
            return actions
        }
        target = 0
        if isBehind { held.removeAll() }
        // By the old scope: what came before this answer is not for a new name.
        var isWhole = drain(reading: true, into: &actions)
        raiseTarget(to: answer.head, last: answer.last)
        if isWhole { isWhole = target <= position(of: run) && !isBehind }
        if isWhole { advance(to: answer.head, in: answer.epoch) }
        scope = wanted
        guard isWhole else { return actions + read() }
        goLive()
        confirm()
        return actions
    }
    /// Returns whether the history is another one than before.
    @discardableResult
    private mutating func adopt(_ answer: Attachment, into actions: inout [Action]) -> Bool {
        var isOther = false
        if let run {
            if run.epoch == 0 {
                self.run?.position = min(run.position, answer.head)
            } else if ownerEpoch != answer.epoch && run.position != answer.from {
                // Restored from a backup, or another journal. (A run that answered before cannot have lost what it had: there
                // `from` may be behind what was read, since it counts what was emitted.)
                if let gap = endRun() { actions.append(.gap(Self.parted(gap, at: answer.from))) }
                self.run = Run(epoch: answer.epoch, position: answer.from)
                newcomers.removeResolved()
                isOther = true
            }
        } else {
            run = Run(epoch: answer.epoch, position: beginsAtFirst ? answer.base : answer.head)
        }
        lineage.learn(answer.details.runs)
        if let run { lineage.narrow(to: run.epoch) }
        settle(with: answer.epoch)
        newcomers.resolve(answer.head)
        return isOther
    }
    /// What came above `sequence` is undone, too, though no gap may name what was delivered.
    private static func parted(_ gap: Gap, at sequence: UInt64) -> Gap {
        let text =
            "the journal was replaced: its history is the same up to #\(sequence), and what was delivered of run "
            + "\(gap.epoch) above that is undone"
        return Gap(gap.sequences, epoch: gap.epoch, count: gap.count, reason: gap.reason, detail: text)
    }
    private mutating func settle(with epoch: UInt64) {
        ownerEpoch = epoch
        (wasCutOff, beginsAtFirst, heldOverflowed) = (false, false, false)
        (firstWord, lastWord) = (nil, nil)
    }
}
