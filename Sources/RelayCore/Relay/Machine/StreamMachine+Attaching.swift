/// Owners and answers: how a stream comes to follow a run, and which history it goes on with.
extension StreamMachine {
    // MARK: The owner

    /// The service's name has an owner, whose signals follow.
    ///
    /// - Parameter isNew: whether it took the name while this relay was on the bus, so that all of its run can be had;
    ///   not if it was found there.
    package mutating func ownerAppeared(isNew: Bool) -> Action {
        var anchor = anchor
        if isNew { anchor.isAwaited = scope != .nothing }
        if scope == .nothing {
            state = .unwanted(anchor)
            return .nothing
        }
        awaitAnswer(from: anchor, sawStart: isNew)
        return attachAgain()
    }
    /// Nobody has the service's name.
    package mutating func ownerAbsent() {
        if case .unowned(let anchor, _) = state { leave(toAbsenceFrom: anchor) }
    }
    /// The owner left the bus: its run is over. What a durable stream missed of it can be read from the next.
    package mutating func ownerVanished() -> Action {
        var anchor = anchor
        let action: Action
        switch anchor {
        case _ where isDurable:
            action = .report(missRun(&anchor))
            // A mirror that was rebuilt has the same run, and less of it.
            anchor.forgetOwner()
        // No owner has answered it: whether it is a place in a run or in a journal, the next owner's answer shows.
        case .oldest, .given: action = .nothing
        case .nothing, .reached:
            if case .attaching(let attaching) = state, let word = attaching.lastWord {
                // Its last word is as good as an answer.
                action = .show(join(word))
                anchor = self.anchor
            } else if case .attaching = state, anchor.isOfUnknownRun {
                action = .report(Self.unknownRun)
            } else {
                action = .report(anchor.endRun())
            }
        }
        leave(toAbsenceFrom: anchor)
        return action
    }
    /// The bus is gone; the service may live on.
    package mutating func disconnected() -> Action {
        var anchor = anchor
        anchor.cutOff()
        let gap = missRun(&anchor)
        leave(to: .unowned(anchor, isAbsent: false))
        return .report(gap)
    }
    /// A run that this stream waited for went out of sight before it answered: it counts from its first word on, the
    /// `Head` with which a service takes its name. (If the bus lost that one, and the events up to another, they go
    /// unseen.)
    private func missRun(_ anchor: inout Anchor) -> Gap? {
        guard case .attaching(let attaching) = state, case .nothing(isAwaited: true) = anchor else { return nil }
        guard isDurable, attaching.sawStart, let word = attaching.firstWord else { return Self.unknownRun }
        anchor = .given(epoch: word.epoch, sequence: word.sequence)
        return nil
    }
    /// Events of a run that no gap can name: its epoch is unknown without an answer.
    static var unknownRun: Gap { Gap(1...UInt64.max, epoch: 0, count: nil, reason: .epochChanged) }

    // MARK: Answers

    /// The latest `attach` or `read` got no answer in time: asks again.
    package mutating func unanswered() -> Action {
        switch state {
        case .attaching, .joining, .live: return attachAgain()
        case .reading(let reading): return read(reading)
        case .unowned, .unwanted, .behind, .refused: return .nothing
        }
    }
    /// The owner has detached this stream, or a transport has ended before it was read: asks where the owner stands.
    ///
    /// Also while something is read, or waits for room: a page shows what there was when it was made, and what came
    /// between that and the answer is announced by nothing else. The page stays under way.
    package func reattach() -> Action {
        switch state {
        case .attaching, .joining, .reading, .behind, .live: return attachAgain()
        case .unowned, .unwanted, .refused: return .nothing
        }
    }
    /// The owner does not let this stream follow it. Asks no more before the next owner.
    package mutating func refused() -> Action {
        switch state {
        case .unowned, .unwanted, .refused: return .nothing
        case .attaching, .joining, .reading, .behind, .live: break
        }
        var anchor = anchor
        let gap = isDurable ? nil : anchor.endRun()
        leave(to: .refused(anchor))
        return .report(gap)
    }
    /// The owner answered the latest `attach`, and a direct inlet still has what it published up to the answer's head.
    /// Drain that, then call `finishAttach`. A stream that is in step has nothing to do.
    package mutating func beginAttach(_ answer: Attachment) -> Action {
        guard case .attaching(let attaching) = state, !attaching.anchor.isBehind else { return .nothing }
        isDurable = answer.oldest != .max
        var output: [Output] = []
        var held = takeHeld()
        if isDurable {
            adopt(answer, into: &output)
        } else {
            lateNames.removeAll()
            adopt(StreamHead(answer), lastWord: attaching.lastWord, into: &output)
        }
        // A hole may be one of signals only: what is behind it is in the inlet, too, or is held until then.
        drain(&held, reading: true, into: &output)
        state = .joining(held)
        return .show(output)
    }
    /// The owner answered the latest `attach`, and what it had published by then is here, or is missing.
    package mutating func finishAttach(_ answer: Attachment) -> Action {
        switch state {
        case .unowned, .unwanted, .refused: return .nothing
        case .attaching, .joining, .reading, .behind, .live: break
        }
        isDurable = answer.oldest != .max
        if isDurable { return join(durable: answer) }
        lateNames.removeAll()
        return .show(join(StreamHead(answer)))
    }
    /// From where a direct inlet of this run is to be read: behind this sequence. Nil: nothing is wanted that was
    /// published before the answer, or it can be read elsewhere.
    package func place(inRun epoch: UInt64) -> UInt64? {
        if let position, position.epoch == epoch { return position.sequence }
        if isDurable { return nil }
        // A place of another run, or of whatever run there is, is none in this one, which may not have come as far:
        // passing over what is behind it would lose what is published next. The answer shows what counts.
        if case .nothing(isAwaited: false) = anchor { return nil }
        return 0
    }
    /// Goes on with a run from where this stream stands in it, now that it is known how far the run has come.
    private mutating func join(_ head: StreamHead) -> [Output] {
        var output: [Output] = []
        var lastWord: StreamHead?
        if case .attaching(let attaching) = state { lastWord = attaching.lastWord }
        var held = takeHeld()
        adopt(head, lastWord: lastWord, into: &output)
        drain(&held, reading: false, into: &output)
        if let gap = account(to: head.sequence, last: head.last) { output.append(.gap(gap)) }
        scope.settle()
        goLive()
        confirm()
        return output
    }
    private mutating func adopt(_ head: StreamHead, lastWord: StreamHead?, into output: inout [Output]) {
        var position = Position(epoch: head.epoch, sequence: 0, ownerEpoch: head.epoch)
        switch anchor {
        // Nothing older than the head can be had.
        case .nothing(let isAwaited), .oldest(let isAwaited): position.sequence = isAwaited ? 0 : head.sequence
        case .given(0, let sequence): position.sequence = min(sequence, head.sequence)
        case .given(head.epoch, let sequence): position.sequence = sequence
        // It was followed before this run began: everything of it counts.
        case .given(let epoch, let sequence):
            if let gap = Gap.rest(of: epoch, after: sequence) { output.append(.gap(gap)) }
        case .reached(let former, _, _) where former.epoch == head.epoch:
            position = former
            position.ownerEpoch = head.epoch
        case .reached(let former, let wasCutOff, _):
            let gap = former.isEnded ? nil : Gap.rest(of: former.epoch, after: former.sequence)
            if let gap = gap ?? (wasCutOff ? Self.unknownRun : nil) { output.append(.gap(gap)) }
        }
        if lastWord?.epoch == head.epoch { position.isEnded = true }
        reached = position
    }
    /// Goes on with the history, if it is the one in which this stream stands; asks for what is missing of it.
    private mutating func join(durable answer: Attachment) -> Action {
        var output: [Output] = []
        let (isBehind, isOther) = (isBehind, adopt(answer, into: &output))
        let target = end(to: answer.head, last: answer.last)
        switch state {
        case .reading(var reading) where !isOther:
            reading.target = max(reading.target, target)
            state = .reading(reading)
            return .show(output)
        case .behind(let former) where !isOther:
            state = .behind(target: max(former, target))
            return .show(output)
        case .unowned, .unwanted, .attaching, .joining, .reading, .behind, .live, .refused: break
        }
        if isBehind {
            scope.settle()
            state = .behind(target: target)
            return .show(output)
        }
        // What the journal never had need not be read.
        for gap in answer.details.gaps where gap.contains(reached.sequence &+ 1) && gap.upperBound <= answer.head {
            if reached.epoch != 0 { cross(gap, in: answer.epoch, into: &output) }
        }
        // By the old scope: what came before this answer is not for a new name.
        var held = takeHeld()
        let isWhole = drain(&held, reading: true, into: &output) && target <= reached.sequence
        if isWhole { advance(to: answer.head, in: answer.epoch) }
        scope.settle()
        guard isWhole else {
            return read(Reading(target: target, held: held, after: reached.sequence), behind: output)
        }
        goLive()
        confirm()
        return .show(output)
    }
    /// Returns whether the history is another one than before.
    @discardableResult
    private mutating func adopt(_ answer: Attachment, into output: inout [Output]) -> Bool {
        var position = Position(epoch: answer.epoch, sequence: answer.from, ownerEpoch: answer.epoch)
        var isOther = false
        switch anchor {
        case .nothing(let isAwaited): position.sequence = isAwaited ? answer.base : answer.head
        case .oldest: (position.epoch, position.sequence, position.isBeforeOldest) = (0, 0, true)
        case .given(0, let sequence): (position.epoch, position.sequence) = (0, min(sequence, answer.head))
        case .given(let epoch, let sequence) where isAhead(sequence, in: epoch, of: answer):
            (position.epoch, position.sequence) = (epoch, sequence)
            position.aheadOf = epoch != answer.epoch ? answer.head : nil
        case .given(let epoch, answer.from): position.epoch = epoch
        case .given(let epoch, let sequence):
            isOther = true
            part(from: Gap.rest(of: epoch, after: sequence), at: answer.from, into: &output)
        case .reached(let former, _, _) where isAhead(former.sequence, in: former.epoch, of: answer):
            position = former
            position.ownerEpoch = answer.epoch
            position.aheadOf = former.epoch != answer.epoch ? answer.head : nil
        // A run that answered before cannot have lost what it had: there `from` may be behind what was read, since it
        // counts what was emitted.
        case .reached(let former, _, _)
        where former.sequence == answer.from || former.ownerEpoch == answer.epoch && !former.isAhead:
            position = former
            (position.ownerEpoch, position.aheadOf) = (answer.epoch, nil)
        case .reached(let former, _, _):
            isOther = true
            position.isBeforeOldest = former.isBeforeOldest
            let rest = former.isEnded ? nil : Gap.rest(of: former.epoch, after: former.sequence)
            part(from: rest, at: answer.from, into: &output)
        }
        reached = position
        lineage.learn(answer.details.runs)
        lineage.narrow(to: position.epoch)
        lateNames.resolve(answer.head)
        return isOther
    }
    /// Whether the owner is a mirror that may still come to this place: the run that it knows last goes on, and all that
    /// it has is of this stream's history; or may be, where the stream does not know which runs led to its place.
    private func isAhead(_ sequence: UInt64, in epoch: UInt64, of answer: Attachment) -> Bool {
        if !answer.details.isOpen || sequence <= answer.from { return false }
        // It has come to a later run, and so has all that it will ever have of this one.
        if answer.details.runs.dropLast().contains(where: { $0.epoch == epoch }) { return false }
        if answer.from >= answer.head { return true }
        return answer.from == 0 && answer.head <= sequence && lineage.ancestry(of: epoch).isEmpty
    }
    /// The journal was restored from a backup, or is another one. What came above `sequence` is undone, too, though no
    /// gap may name what was delivered.
    private mutating func part(from rest: Gap?, at sequence: UInt64, into output: inout [Output]) {
        lateNames.removeResolved()
        guard let rest else { return }
        let text =
            "its history is the same up to #\(sequence), and what was delivered of run \(rest.epoch) above that is undone"
        output.append(
            .gap(
                Gap(
                    rest.sequences, epoch: rest.epoch, count: rest.count, reason: .historyReplaced, detail: text,
                    commonThrough: sequence)))
    }

    // MARK: Steps

    /// From where the stream goes on if it leaves its run now.
    var anchor: Anchor {
        switch state {
        case .unowned(let anchor, _), .unwanted(let anchor), .refused(let anchor): anchor
        case .attaching(let attaching): attaching.anchor
        case .behind: reached.anchor(isBehind: true)
        case .joining, .reading, .live: reached.anchor()
        }
    }
    /// The consumer has no room.
    var isBehind: Bool { anchor.isBehind }
    /// What `Attach` asks about. Epoch 0: whatever run there is.
    var question: (epoch: UInt64, sequence: UInt64) { position ?? (0, 0) }
    /// A mirror that this stream is ahead of has come to a sequence. In a run that did not lead to this stream's place,
    /// or beyond the place, its history is another one: its answer shows from where on. Else it may still come here.
    mutating func askWhoIsAhead(at sequence: UInt64) -> Action {
        guard let come = reached.aheadOf, sequence > come else { return .nothing }
        if sequence <= reached.sequence {
            let ancestry = lineage.ancestry(of: reached.epoch)
            if ancestry.isEmpty || ancestry.contains(where: { $0.epoch == reached.ownerEpoch }) { return .nothing }
        }
        awaitAnswer(from: reached.anchor())
        return attachAgain()
    }
    func attachAgain() -> Action {
        let question = question
        return .attach(epoch: question.epoch, after: question.sequence)
    }
    /// What the service is to know of a position in the run `epoch`, beside the position.
    package func ancestry(of epoch: UInt64) -> [StreamRun] { lineage.ancestry(of: epoch) }

    mutating func awaitAnswer(
        from anchor: Anchor, _ held: HoldbackQueue<Payload>? = nil, sawStart: Bool = false, lastWord: StreamHead? = nil
    ) {
        state = .attaching(
            Attaching(anchor: anchor, sawStart: sawStart, held: held ?? emptyQueue(), lastWord: lastWord))
        reached = .none
    }
    mutating func leave(to state: State) {
        self.state = state
        reached = .none
        doubt.isOpen = false
        // What waited to count counts from the next run on.
        scope.settle()
    }
    private mutating func leave(toAbsenceFrom anchor: Anchor) {
        var anchor = anchor
        anchor.isAwaited = scope != .nothing
        leave(to: .unowned(anchor, isAbsent: true))
        lateNames.admitUnresolved()
    }
}

extension StreamHead {
    fileprivate init(_ answer: Attachment) {
        self.init(epoch: answer.epoch, sequence: answer.head, last: answer.last)
    }
}
