import RelayCore

extension UnitOfWork {
    /// Leaves out sequences of an interface: the journal of a mirror never had their events, which its origin lost. The
    /// unit's events of the interface come behind them.
    ///
    /// - Parameter last: the last sequence that is left out; the first one follows the last event.
    /// - Throws: `.notFound` for an interface of no service with this journal. `.invalidArgument` for a sequence that is
    ///   there, and behind an event of the interface in this unit.
    package mutating func skip(through last: UInt64, in interface: String) throws {
        try engine.skip(through: last, in: interface)
    }
}

extension JournalEngine {
    fileprivate func skip(through last: UInt64, in name: String) throws(RelayError) {
        guard let index = interfaces.firstIndex(where: { $0.logged.name == name }) else {
            throw RelayError(
                .notFound, "nobody exports \(name) with \(file.path): make the EventService with this journal first")
        }
        let isPublished = group.events.contains { event in
            if case .durable(index, _) = event { true } else { false }
        }
        let present = nextPlace(of: index) - 1
        if isPublished || last <= present || last > UInt64(JournalExamination.limit) {
            throw RelayError(
                .invalidArgument,
                "\(name) cannot leave out sequences up to \(last): it has come to \(present)"
                    + (isPublished ? ", and has events in this unit" : ""))
        }
        group.skips.append((index, last))
    }
    /// The sequence of the next event, as the unit that runs has left sequences out.
    func nextPlace(of index: Int) -> UInt64 {
        max(interfaces[index].counters.sequence, group.skips.last { $0.interface == index }?.last ?? 0) + 1
    }
}
