@_spi(Relay) import RelayEvents

/// A relay's requests of `OpenRing`, as a value: a few are open at a time, the others wait in their order.
///
/// A service keeps sixteen calls of one peer waiting (`PeerResource.ringCalls`), and refuses more: a relay that follows
/// fifty interfaces would be refused by a healthy one. Half of that, since two relays of a process may share a
/// connection.
struct RingRequestPace<Request> {
    static var most: Int { 8 }
    private var waiting = Deque<Request>()
    private var open = 0
    /// Counts the owners: what a former one owes no longer counts.
    private(set) var round = 0

    mutating func add(_ request: Request) { waiting.append(request) }
    /// Takes the next request that is to be sent now; nil: none is. One that is not wanted any more has no turn.
    mutating func next(where isWanted: (Request) -> Bool) -> Request? {
        guard open < Self.most else { return nil }
        while let request = waiting.popFirst() {
            guard isWanted(request) else { continue }
            open += 1
            return request
        }
        return nil
    }
    /// The owner has answered one, or will not. Returns whether that counts.
    mutating func answered(inRound round: Int) -> Bool {
        guard round == self.round else { return false }
        open -= 1
        return true
    }
    /// The owner is gone.
    mutating func forget() {
        (waiting, open) = (Deque(), 0)
        round += 1
    }
}
