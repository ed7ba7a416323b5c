import RelayCore

/// An event, for ever: no two have the same epoch and sequence.
struct ModelEvent: Hashable {
    let epoch, sequence: UInt64
}

/// A service with a journal that may be put back, as a value.
struct ModelOrigin: Hashable {
    struct Journal: Hashable {
        var runs: [StreamRun] = []
        /// The epochs of the events, by their sequences.
        var events: [UInt64] = []
        var pruned: UInt64 = 0
        var head: UInt64 { UInt64(events.count) }

        func has(_ event: ModelEvent) -> Bool {
            event.sequence > pruned && event.sequence <= head && events[Int(event.sequence) - 1] == event.epoch
        }
    }
    private(set) var journal = Journal()
    private var backup: Journal?
    /// What was in the journal when each run began.
    private var pasts: [UInt64: [UInt64]] = [:]
    private(set) var all: Set<ModelEvent> = []
    /// Events that were in the journal, until another one took its place.
    private(set) var undone: Set<ModelEvent> = []

    init() { begin() }

    var epoch: UInt64 { journal.runs.last?.epoch ?? 0 }
    private mutating func begin() {
        let epoch = UInt64(pasts.count) + 101
        pasts[epoch] = journal.events
        journal.runs.append(StreamRun(epoch: epoch, first: journal.head + 1))
    }
    @discardableResult mutating func commit() -> Bool {
        journal.events.append(epoch)
        all.insert(ModelEvent(epoch: epoch, sequence: journal.head))
        return true
    }
    mutating func restart() -> Bool {
        if pasts.count == 8 { return false }
        begin()
        return true
    }
    mutating func prune() -> Bool {
        if journal.pruned == journal.head { return false }
        journal.pruned += 1
        return true
    }
    mutating func backUp() -> Bool {
        if backup == journal { return false }
        backup = journal
        return true
    }
    /// The backup and the journal change places, so that the same again undoes it.
    mutating func restore() -> Bool {
        guard let former = backup, pasts.count < 8 else { return false }
        let replaced = journal
        for (index, epoch) in replaced.events.enumerated()
        where index >= former.events.count || former.events[index] != epoch {
            undone.insert(ModelEvent(epoch: epoch, sequence: UInt64(index) + 1))
        }
        (journal, backup) = (former, replaced)
        begin()
        return true
    }
    /// It is of the present history, and removed.
    func hasPruned(_ event: ModelEvent) -> Bool {
        event.sequence <= journal.pruned && journal.events[Int(event.sequence) - 1] == event.epoch
    }
    /// The event that has a sequence in the history of a run; nil: there never was one.
    func event(_ sequence: UInt64, ofHistory epoch: UInt64) -> ModelEvent? {
        guard sequence > 0, let past = pasts[epoch] else { return nil }
        let event = ModelEvent(
            epoch: sequence <= past.count ? past[Int(sequence) - 1] : epoch, sequence: sequence)
        return all.contains(event) ? event : nil
    }
}
