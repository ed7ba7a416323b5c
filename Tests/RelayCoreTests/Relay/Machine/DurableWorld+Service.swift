@testable import RelayCore

/// The service: its runs, its journal and its rings, and what it answers.
extension DurableWorld {
    var word: StreamHead { StreamHead(epoch: epoch, sequence: emitted, last: journal.heads(emitted)) }
    mutating func send(_ message: Message) { if isConnected { wire.append(message) } }
    mutating func begin() {
        newest += 1
        journal.begin(newest)
        isClosed = false
        appear()
    }
    /// Serves the last run that the journal knows.
    mutating func appear() {
        epoch = journal.runs.last?.epoch ?? 0
        isRunning = true
        if origin != nil { mirrored.insert(epoch) }
        (attached, isHandedOver) = (.none, false)
        retireRing()
        emitted = journal.head
        announced = emitted
        send(.appeared(epoch: epoch))
        send(.head(word, isLast: false))
    }
    var canPublish: Bool { isRunning && origin == nil && !isClosed }
    mutating func rebuild() -> Bool {
        guard origin == nil, !isClosed, !wasRestored, journal.runs.starts(with: backup.runs),
            let prefix = journal.prefix(through: backup.head, runs: backup.runs.count), prefix != journal
        else { return false }
        if isRunning { end() }
        (origin, journal) = (journal, prefix)
        appear()
        return true
    }
    mutating func catchUp() -> Bool {
        guard isRunning, let origin else { return false }
        let (count, head) = (journal.runs.count, journal.head)
        if count < origin.runs.count, origin.runs[count].first == head + 1 {
            guard let next = origin.prefix(through: head, runs: count + 1) else { return false }
            emit(arrives: true)
            send(.head(word, isLast: true))
            end()
            journal = next
            appear()
        } else {
            guard head < origin.head, let next = origin.prefix(through: head + 1, runs: count) else { return false }
            journal = next
        }
        if journal == origin { self.origin = nil }
        return true
    }
    mutating func closeRun() -> Bool {
        if origin == nil { return false }
        if isRunning { end() }
        for index in facts.indices where !journal.knows(facts[index].row) { facts[index].isGone = true }
        (origin, isClosed, wasRestored) = (nil, true, true)
        appear()
        return true
    }
    mutating func end() {
        send(.vanished)
        isRunning = false
        if ring?.number != ringNumber { rings[ringNumber] = nil }
    }
    @discardableResult mutating func commit(_ name: String) -> DurableJournal.Row {
        let row = journal.commit(name)
        facts.append(Fact(row: row, isDue: isDue(row)))
        return row
    }
    func isDue(_ row: DurableJournal.Row) -> Bool {
        switch start {
        case .now: due.contains(row.name)
        case .oldest: true
        case .at(let sequence), .after(_, let sequence, _): row.sequence > sequence
        }
    }
    mutating func publish(_ name: String, arrives: Bool, isTooLarge: Bool = false) -> Bool {
        if !canPublish || !arrives && !isSent(name) { return false }
        emit(arrives: true)
        commit(name)
        emit(arrives: arrives, isTooLarge: isTooLarge)
        return true
    }
    mutating func emit(arrives: Bool, isTooLarge: Bool = false) {
        for row in journal.rows where row.sequence > emitted {
            rings[ringNumber]?.append(RingRow(row: row, isTooLarge: isTooLarge))
            if arrives && isSent(row.name) { send(.event(row)) }
        }
        emitted = journal.head
    }
    /// The bus has a rule for what is wanted, and brings nothing else; none while the ring is read.
    func isSent(_ name: String) -> Bool {
        if isRestricted { return isServed && attached.map { NameScope(names: $0).includes(name) } == true }
        return ring == nil && NameScope(names: names).includes(name)
    }
    var isServed: Bool { attached != nil && !isHandedOver }
    /// The ring ends, and another one begins.
    mutating func retireRing() {
        if !hasRings { return }
        if ring?.number != ringNumber && !wire.contains(.opened(ringNumber)) { rings[ringNumber] = nil }
        ringNumber += 1
        (rings[ringNumber], isHandedOver) = ([], false)
    }
    mutating func restore() -> Bool {
        backup == journal ? false : replace(with: backup)
    }
    mutating func replace(with other: DurableJournal) -> Bool {
        if isRunning { end() }
        origin = nil
        for index in facts.indices {
            // What was removed since the copy was made is back.
            let isGone = !other.knows(facts[index].row)
            if facts[index].isGone && !isGone { facts[index].isBack = true }
            facts[index].isGone = isGone
        }
        (replaced, journal) = (journal, other)
        wasRestored = true
        begin()
        return true
    }
    mutating func serve() -> Bool {
        let isOpened = wire.contains { if case .opened = $0 { true } else { false } }
        if attaching == nil && reading == nil && (opening == nil || isOpened) { return false }
        // In the order in which a relay asks: one that has attached before it asks for the ring again.
        if isRetrying { serveAttach() }
        if let owner = opening, isRunning, owner == epoch, !isOpened {
            emit(arrives: true)
            send(.opened(ringNumber))
            isHandedOver = true
        }
        serveAttach()
        if let question = reading, isRunning, question.owner == epoch {
            send(.page(journal.page(after: question.after, question.names)))
        }
        (attaching, reading) = (nil, nil)
        return true
    }
    mutating func serveAttach() {
        if let question = attaching, isRunning, question.owner == epoch {
            emit(arrives: true)
            send(
                .answer(
                    journal.attachment(
                        question.epoch, question.after, question.ancestry, question.names, emitted: emitted,
                        isOpen: origin != nil)))
            attached = .some(question.names)
        }
        attaching = nil
    }
    func canMove(_ index: Int) -> Bool {
        switch wire[index] {
        case .event, .head, .page: true
        case .answer, .vanished, .appeared, .opened, .reattach: false
        }
    }
}
