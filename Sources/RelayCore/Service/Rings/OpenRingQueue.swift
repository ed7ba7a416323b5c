@_spi(Relay) import RelayEvents

/// The calls of `OpenRing` that wait for their turn, as a value: users take turns, and so do the peers of a user.
///
/// A call waits until the bus may keep the descriptors of its answer. Of each peer one answer is unread at a time.
struct OpenRingQueue<Request> {
    /// A request that can be answered now, and what its answer holds until it was read.
    struct Turn {
        let request: Request
        let charge: PeerLedger.Charge
    }
    private struct Waiting {
        let number: UInt64
        let request: Request
        let charge: PeerLedger.Charge
    }
    private struct Peer {
        let user: UInt32
        var queue: [Waiting] = []
        /// It is in its user's list.
        var isListed = false
    }
    private let ledger: PeerLedger
    /// How long a call waits, in nanoseconds.
    private let patience: UInt64
    private var peers: [String: Peer] = [:]
    /// Of each user the peers whose calls can be answered, in the order in which they could be; and some whose calls no
    /// longer can.
    private var ready: [UInt32: Deque<String>] = [:]
    /// Users with peers in their lists: each in its turn.
    private var turns = Deque<UInt32>()
    /// Calls in the order of their deadlines; also some that wait no longer.
    private var deadlines = Deque<(number: UInt64, peer: String, deadline: UInt64)>()
    private var lastNumber: UInt64 = 0
    private var waitingCount = 0

    init(_ ledger: PeerLedger, patience: Duration) {
        (self.ledger, self.patience) = (ledger, MonotonicClock.nanoseconds(patience))
    }

    var isIdle: Bool { waitingCount == 0 }

    /// Puts a request into the queue. Throws when there is no room for it.
    mutating func ask(
        _ name: String, user: UInt32, _ request: Request, now: UInt64
    ) throws(PeerLedger.Refusal) {
        let charge = try ledger.charge(.ringCalls, to: name)
        lastNumber += 1
        waitingCount += 1
        let waiting = Waiting(number: lastNumber, request: request, charge: charge)
        peers[name, default: Peer(user: user)].queue.append(waiting)
        deadlines.append((lastNumber, name, now + patience))
        list(name)
    }
    /// Takes the next request that can be answered now: users in turn, of a user's peers the one that was ready first,
    /// of a peer's requests the oldest. Returns nil when there is none.
    mutating func next() -> Turn? {
        for _ in 0..<turns.count {
            guard let user = turns.first else { return nil }
            let turn: Turn?
            do throws(PeerLedger.Refusal) { turn = try next(of: user) } catch {
                if error.holder == .all { return nil }
                turn = nil
            }
            _ = turns.popFirst()
            if ready[user]?.isEmpty == false { turns.append(user) } else { ready[user] = nil }
            if let turn { return turn }
        }
        return nil
    }
    private mutating func next(of user: UInt32) throws(PeerLedger.Refusal) -> Turn? {
        while let name = ready[user]?.first {
            guard isReady(name) else {
                _ = ready[user]?.popFirst()
                peers[name]?.isListed = false
                forgetIfUnused(name)
                continue
            }
            let charge: PeerLedger.Charge?
            do throws(PeerLedger.Refusal) { charge = try ledger.charge(.ringReplies, to: name) } catch {
                guard error.holder == .peer(name) else { throw error }
                // Its last answer is unread: see `retry`.
                charge = nil
            }
            _ = ready[user]?.popFirst()
            peers[name]?.isListed = false
            guard let charge, let request = takeFirst(of: name) else { continue }
            // Its user has its turn now.
            if isReady(name) {
                peers[name]?.isListed = true
                ready[user]?.append(name)
            }
            return Turn(request: request, charge: charge)
        }
        return nil
    }
    /// Takes a request that has waited long enough.
    mutating func expired(now: UInt64) -> Request? {
        while let first = deadlines.first {
            guard let number = peers[first.peer]?.queue.first?.number, number <= first.number else {
                // It was taken, or its peer has left.
                _ = deadlines.popFirst()
                continue
            }
            guard first.deadline <= now else { return nil }
            _ = deadlines.popFirst()
            // The peer's oldest: those before it had earlier deadlines.
            return takeFirst(of: first.peer)
        }
        return nil
    }
    /// A peer has read what was sent to it: its calls can be answered again.
    mutating func retry(_ name: String) { list(name) }
    /// Takes a peer's requests that are not to be answered any more. What it has unread goes on to count.
    mutating func withdraw(_ name: String, where isMeant: (Request) -> Bool) -> [Request] {
        let taken = peers[name]?.queue.filter { isMeant($0.request) } ?? []
        peers[name]?.queue.removeAll { isMeant($0.request) }
        waitingCount -= taken.count
        forgetIfUnused(name)
        return taken.map(\.request)
    }
    /// The bus has dropped what it kept for the peer.
    mutating func depart(_ name: String) {
        guard let peer = peers.removeValue(forKey: name) else { return }
        waitingCount -= peer.queue.count
        if peer.isListed { ready[peer.user]?.filter { $0 != name } }
    }

    private func isReady(_ name: String) -> Bool { peers[name]?.queue.isEmpty == false }
    /// Gives a peer that has something to be answered its place.
    private mutating func list(_ name: String) {
        guard isReady(name), let peer = peers[name], !peer.isListed else { return }
        peers[name]?.isListed = true
        if ready[peer.user] == nil { turns.append(peer.user) }
        ready[peer.user, default: Deque()].append(name)
    }
    private mutating func takeFirst(of name: String) -> Request? {
        guard peers[name]?.queue.isEmpty == false, let first = peers[name]?.queue.removeFirst() else { return nil }
        waitingCount -= 1
        forgetIfUnused(name)
        return first.request
    }
    private mutating func forgetIfUnused(_ name: String) {
        if let peer = peers[name], peer.queue.isEmpty, !peer.isListed { peers[name] = nil }
    }
}
