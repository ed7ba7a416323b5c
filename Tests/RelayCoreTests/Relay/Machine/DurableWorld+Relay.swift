@testable import RelayCore

/// The relay, as a follower uses its machine; and what it may show its subscriber.
extension DurableWorld {
    func isWanted(_ name: String) -> Bool { names?.contains(name) ?? true }

    mutating func forgetAnswers() {
        wire.removeAll { message in
            switch message {
            case .answer, .page: true
            case .event, .head, .vanished, .appeared, .opened, .reattach: false
            }
        }
    }
    mutating func loseOwner() {
        owner = 0
        (attaching, reading) = (nil, nil)
        closeRing()
        isRefused = false
        forgetAnswers()
    }
    mutating func want(_ new: Set<String>?) -> Bool {
        if new == names { return false }
        let all = Set(DurableJournal.names)
        let gained = (new ?? all).subtracting(names ?? all)
        due.formIntersection(new ?? all)
        // A stream that follows all is not to attach for one more name.
        let isAttached = machine.isReading || machine.isFollowing
        if isAttached && machine.scope.isAll && NameScope(names: new) == .all { due.formUnion(gained) }
        for index in facts.indices {
            let name = facts[index].row.name
            if !(new ?? all).contains(name) || gained.contains(name) { facts[index].isDue = false }
            if gained.contains(name) && !isOnItsWay(facts[index].row) { facts[index].isOld = owner != 0 }
        }
        if names == [] { hasAnswered = false }
        awaited.formIntersection(new ?? all)
        if owner == 0 && isConnected { awaited.formUnion(gained) }
        names = new
        run(machine.want(new))
        if new == [] { closeRing() }
        return true
    }
    mutating func absent() {
        awaited = names ?? Set(DurableJournal.names)
        // What a waiting stream did not see of the last run is not told from what the next one brings.
        for index in facts.indices where !due.contains(facts[index].row.name) { facts[index].isOld = false }
    }
    /// This relay waited for the run: all of it counts.
    mutating func count(_ names: Set<String>, from epoch: UInt64) {
        if start != .now { return }
        due.formUnion(names)
        for index in facts.indices where facts[index].row.epoch >= epoch && names.contains(facts[index].row.name) {
            if !facts[index].isOld { facts[index].isDue = true }
        }
    }
    /// It comes, or may have come, by itself.
    private func isOnItsWay(_ row: DurableJournal.Row) -> Bool {
        if let ring, let records = rings[ring.number], records[ring.next...].contains(where: { $0.row == row }) {
            return true
        }
        // Lost there: it is read as what a stream that follows all has missed.
        if overwritten.contains(row) { return true }
        // Of a run that the relay has not heard of: while it reads a ring it has no rule for events, and a signal of it does not count.
        if hasRings && wire.contains(.appeared(epoch: row.epoch)) { return true }
        if case .reading(let reading) = machine.state, reading.held.elements.contains(where: { $0.payload == row }) {
            return true
        }
        return wire.contains(.event(row))
    }

    // MARK: What comes

    mutating func receive(_ message: Message) {
        switch message {
        case .event(let row):
            // On the ring signals count for nothing.
            if hasEndedRing { reattach() }
            if owner != 0 && ring == nil { receive(row) }
        case .opened(let number): opened(number)
        case .reattach: if owner != 0 { reattach() }
        case .answer(let answer):
            if owner == 0 { return }
            if ring != nil {
                run(machine.beginAttach(answer))
                while let next = unread, next.row.sequence <= answer.head { _ = fetch() }
            }
            run(machine.finishAttach(answer))
            (hasAnswered, awaited) = (true, [])
            if answer.epoch == epoch { due = names ?? Set(DurableJournal.names) }
            if !machine.awaitsAnswer { drain() }
        case .page(let page): receive(page)
        case .head(let head, let isLast):
            if owner == 0 { return }
            if ring != nil {
                if machine.awaitsAnswer && !isLast { return }
                drain()
                if hasEndedRing && !isLast { return reattach() }
            }
            if !hasEvent { hasFirstWord = true }
            run(machine.head(epoch: head.epoch, sequence: head.sequence, last: head.last, isLast: isLast))
        case .appeared(let epoch):
            owner = epoch
            (hasFirstWord, hasEvent) = (false, false)
            run(machine.ownerAppeared(isNew: true))
            // Of a run that a mirror has in part, what comes behind its first word counts.
            if epoch > heard && !mirrored.contains(epoch) { count(names ?? Set(DurableJournal.names), from: epoch) }
            heard = max(heard, epoch)
        case .vanished:
            drain()
            loseOwner()
            absent()
            run(machine.ownerVanished())
        }
        if machine.isSettled && names != [] { hasRead = true }
    }
    private mutating func receive(_ row: DurableJournal.Row) {
        hasEvent = true
        let action = machine.receive(row.name, row.sequence, row.previous)
        run(action)
        switch action.event {
        case .drop: break
        case .hold: run(machine.hold(row.name, row.sequence, row.previous, row))
        case .deliver(let epoch): _ = show(.deliver(row, epoch: epoch))
        }
    }

    // MARK: The ring

    private mutating func opened(_ number: UInt64) {
        if opening == nil || owner == 0 { return }
        let wasRetrying = isRetrying
        (opening, isRetrying) = (nil, false)
        let (records, place) = (rings[number] ?? [], machine.place(inRun: owner))
        let next = place.flatMap { place in records.firstIndex { $0.row.sequence > place } } ?? records.count
        ring = RingPlace(epoch: owner, number: number, next: next)
        machine.reportsLoss = true
        // Who reads learns of the head by its page.
        if !wasRetrying || !machine.isReading { run(machine.unanswered()) }
    }
    private mutating func closeRing() {
        if let ring {
            if ring.number != ringNumber || !isRunning { rings[ring.number] = nil }
            if ring.number == ringNumber { isHandedOver = false }
        }
        (ring, opening, isRetrying, machine.reportsLoss) = (nil, nil, false, false)
        forgetOpened()
    }
    private mutating func forgetOpened() {
        wire.removeAll { if case .opened = $0 { true } else { false } }
    }
    /// Its last record was read, and the service lives on.
    var hasEndedRing: Bool {
        guard let ring, owner == epoch, isRunning else { return false }
        return ring.number != ringNumber && unread == nil
    }
    /// The owner has ended the ring, or the attachment: both are asked for again.
    mutating func reattach() {
        if ring != nil {
            drain()
            closeRing()
            (isRetrying, opening) = (true, owner)
            run(machine.reattach())
        } else if opening != nil {
            // An answer under way no longer counts; the owner may have given what it has ended since.
            forgetOpened()
            if isRetrying { run(machine.reattach()) }
        } else {
            run(machine.reattach())
        }
    }
    private var unread: RingRow? {
        guard let ring, let records = rings[ring.number], ring.next < records.count else { return nil }
        return records[ring.next]
    }
    mutating func fetch() -> Bool {
        guard let ring, let next = unread else { return false }
        self.ring?.next += 1
        if !next.isTooLarge {
            receive(next.row)
        } else if machine.accounts(for: next.row.name) {
            let (name, sequence) = (next.row.name, next.row.sequence)
            run(machine.head(epoch: ring.epoch, sequence: sequence, last: [name: sequence]))
        }
        return true
    }
    mutating func loseRecord(_ place: RingPlace) {
        if let records = rings[place.number] { overwritten.insert(records[place.next].row) }
        ring?.next += 1
    }
    mutating func drain() { while fetch() {} }
    mutating func faultRing() -> Bool {
        if ring == nil { return false }
        while let place = ring, unread != nil { loseRecord(place) }
        closeRing()
        isRefused = true
        run(machine.reattach())
        return true
    }

    // MARK: Pages and actions

    private mutating func receive(_ page: DurableJournal.Page) {
        let isTaken = machine.isReading && !machine.isBehind
        for gap in machine.pageBegan(epoch: page.epoch, oldest: page.oldest, gaps: page.gaps).gaps {
            report(gap, page.removed)
        }
        if isTaken && !hasRead {
            hasRead = true
            // Gone before the first page: nobody's loss, for who asked for the oldest there is.
            for index in facts.indices where start == .oldest && facts[index].row.sequence < page.oldest {
                facts[index].isDue = false
            }
        }
        for row in page.rows {
            run(machine.pageGaps(before: row.sequence))
            if machine.pageEvent(row.name, row.sequence) { _ = show(.deliver(row, epoch: page.epoch)) }
        }
        run(machine.pageEnded(through: page.through, head: page.head))
    }
    mutating func run(_ action: Machine.Action) {
        var hasRoom = true
        for step in action.steps {
            switch step {
            case .attach(let epoch, let after): ask(epoch, after)
            case .read(let after):
                reading = Question(owner: owner, epoch: 0, after: after, names: names)
                wire.removeAll { if case .page = $0 { true } else { false } }
            // Those behind the first that has no room are read later.
            case .show(.deliver) where !hasRoom: break
            case .show(let output): hasRoom = show(output) && hasRoom
            }
        }
    }
    mutating func ask(_ epoch: UInt64, _ after: UInt64) {
        wire.removeAll { if case .answer = $0 { true } else { false } }
        if hasRings && ring == nil && !isRefused && !isRetrying {
            attaching = nil
            if opening == nil { opening = owner }
        } else {
            attaching = Question(
                owner: owner, epoch: epoch, after: after, ancestry: machine.ancestry(of: epoch), names: names)
        }
    }
    /// False: it had no room.
    private mutating func show(_ output: Machine.Output) -> Bool {
        switch output {
        case .gap(let gap): report(gap)
        case .deliver(let row, _) where !isWanted(row.name): break
        case .deliver(let row, _) where isFull:
            machine.fellBehind(before: row.sequence)
            return false
        case .deliver(let row, let epoch): deliver(row, epoch)
        }
        return true
    }

    // MARK: Checks

    private mutating func deliver(_ row: DurableJournal.Row, _ epoch: UInt64) {
        let text = "\(epoch)#\(row.sequence)"
        guard row.epoch == epoch, let index = facts.firstIndex(where: { $0.row == row }) else {
            faults.append("\(text) was never published")
            return
        }
        if facts[index].isDelivered && !facts[index].isBack { faults.append("\(text) comes twice") }
        if facts[index].isClaimed && !facts[index].isBack { faults.append("\(text) after a gap that claims it") }
        if facts[index].isOld { faults.append("\(text) is from before it was wanted") }
        if row.sequence <= lastDelivered && !mayGoBack { faults.append("\(text) after #\(lastDelivered)") }
        facts[index].isDelivered = true
        (lastDelivered, mayGoBack) = (row.sequence, false)
    }
    /// - Parameter removed: what was gone when the page was made that says so. A backup may have brought it back since: the page
    ///   was on its way.
    private mutating func report(_ gap: Gap, _ removed: Set<DurableJournal.Row> = []) {
        let text = "\(gap.reason.rawValue) \(gap.epoch)#\(gap.sequences)"
        switch gap.reason {
        case .expired:
            let range = facts.indices.filter {
                let row = facts[$0].row
                return !facts[$0].isGone && isWanted(row.name) && gap.sequences.contains(row.sequence)
            }
            if !range.contains(where: {
                removed.contains(facts[$0].row) && (!facts[$0].isDelivered || facts[$0].isBack)
            }) {
                faults.append("\(text) where nothing was removed")
            }
            for index in range {
                if !removed.contains(facts[index].row) {
                    faults.append("\(text) claims #\(facts[index].row.sequence), which is there")
                }
                if facts[index].isDelivered && !facts[index].isBack {
                    faults.append("\(text) claims #\(facts[index].row.sequence), which came")
                }
                facts[index].isClaimed = true
            }
        case .unrecorded:
            for index in facts.indices where gap.sequences.contains(facts[index].row.sequence) && !facts[index].isGone {
                let row = facts[index].row
                if !journal.lacks(row) && origin?.lacks(row) != true && isWanted(row.name) {
                    faults.append("\(text) claims #\(row.sequence), which is there")
                }
                facts[index].isClaimed = true
            }
        case .epochChanged where gap.epoch == 0:
            // It waited for a run that it never heard a word of.
            if hasAnswered || hasFirstWord || start != .now { faults.append("\(text), though it has a place") }
            for index in facts.indices { facts[index].isDue = false }
            (due, awaited) = ([], [])
        case .historyReplaced:
            if gap.commonThrough == nil { faults.append("\(text) without what is in common") }
            if !wasRestored { faults.append("\(text) where nothing was restored") }
            for index in facts.indices {
                let row = facts[index].row
                if row.epoch == gap.epoch && gap.sequences.contains(row.sequence) {
                    if facts[index].isDelivered && !facts[index].isBack {
                        faults.append("\(text) claims #\(row.sequence), which came")
                    }
                    facts[index].isClaimed = true
                }
                // A run that this stream never heard of has no other name.
                if row.epoch > gap.epoch && row.epoch < epoch { facts[index].isHidden = true }
            }
            mayGoBack = true
        default: faults.append("\(text) on a stream that can read")
        }
    }
}
