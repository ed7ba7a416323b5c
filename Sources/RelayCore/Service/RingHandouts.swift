/// How many answers to `OpenRing` may be unread, as a value; who comes past that waits.
///
/// The bus keeps an answer until its peer reads it, and counts the descriptors in it against the service: dbus-daemon, as it is built,
/// stops reading from one of which it keeps 64. An answer carries two.
struct RingHandouts<Request> {
    static var together: Int { 28 }
    static var perUser: Int { 20 }
    static var perPeer: Int { 1 }
    /// Who may wait, and how long, in nanoseconds.
    static var waiting: Int { 1_024 }
    static var waitingPerPeer: Int { 16 }
    static var patience: UInt64 { 2_000_000_000 }

    private struct Unread {
        let peer: String
        let user: UInt32
        let isRead: () -> Bool
    }
    private struct Waiting {
        let peer: String
        let user: UInt32
        let deadline: UInt64
        let request: Request
    }
    private var unread: [Unread] = []
    private var queue: [Waiting] = []

    var unreadCount: Int { unread.count }
    var isIdle: Bool { queue.isEmpty }

    /// Puts a request into the queue; false when that is full.
    mutating func ask(_ peer: String, user: UInt32, _ request: Request, now: UInt64) -> Bool {
        guard queue.count < Self.waiting, queue.count(where: { $0.peer == peer }) < Self.waitingPerPeer else {
            return false
        }
        queue.append(Waiting(peer: peer, user: user, deadline: now + Self.patience, request: request))
        return true
    }
    /// Takes the next request that can be answered now, those of one peer in their order; nil when there is none.
    mutating func next() -> Request? {
        guard !queue.isEmpty else { return nil }
        unread.removeAll { $0.isRead() }
        guard unread.count < Self.together else { return nil }
        // Whoever does not have to wait for itself goes first.
        let index = queue.firstIndex { waiting in
            unread.count { $0.user == waiting.user } < Self.perUser
                && unread.count { $0.peer == waiting.peer } < Self.perPeer
        }
        return index.map { queue.remove(at: $0).request }
    }
    /// Takes a request that has waited long enough.
    mutating func expired(now: UInt64) -> Request? {
        // In the order of their deadlines.
        guard let first = queue.first, first.deadline <= now else { return nil }
        return queue.removeFirst().request
    }
    /// An answer goes out.
    mutating func sent(to peer: String, user: UInt32, isRead: @escaping () -> Bool) {
        unread.append(Unread(peer: peer, user: user, isRead: isRead))
    }
    /// The bus has dropped what it kept for the peer.
    mutating func depart(_ peer: String) {
        unread.removeAll { $0.peer == peer }
        queue.removeAll { $0.peer == peer }
    }
}
