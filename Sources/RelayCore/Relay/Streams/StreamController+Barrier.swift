/// A barrier: everything up to a head that the owner reported has been delivered.
extension StreamController {
    /// The owner has reported how far the stream has come. False: it cannot be looked at yet, since a reply is due that
    /// decides which of the ring's events count.
    func hear(_ head: StreamHead) -> Bool {
        if !inlets.takesSignals {
            if awaitsAnswer { return false }
            drain()
        }
        // One that waits for the reply to `Attach` learns by that reply where the stream stands, and no earlier.
        for member in members where !member.machine.awaitsAnswer {
            let action = member.machine.head(epoch: head.epoch, sequence: head.sequence, last: head.last)
            run(action, member)
        }
        return true
    }
    /// Whether every member has had everything up to this head: as an event, or in a gap.
    func isPast(_ head: StreamHead) -> Bool { members.allSatisfy { $0.search == nil && $0.machine.isPast(head) } }
}

extension StreamMachine {
    /// Whether everything up to this head of the present owner was delivered or reported.
    func isPast(_ head: StreamHead) -> Bool {
        if scope == .nothing { return true }
        switch state {
        case .unwanted, .refused: return true
        case .unowned, .attaching: return false
        case .live, .joining, .reading, .behind:
            // A name that was wanted meanwhile counts from the answer on that is due.
            if awaitsAnswer || reached.ownerEpoch != head.epoch { return false }
            return reached.sequence >= end(to: head.sequence, last: head.last)
        }
    }
}
