@_spi(Relay) import RelayEvents

/// Answers to `OpenRing` that are unread, and the calls that wait for their turn, as a value.
///
/// The bus keeps an answer until its peer reads it, and counts the descriptors in it against the service: dbus-daemon,
/// as it is built, stops reading from one of which it keeps 64. An answer carries two.
///
/// Each capacity has one rule, so that nobody takes all of it: a user gets more while it has less than twice what is
/// left. Alone it gets two thirds, and there is room for the next one.
struct OpenRingQuota<Request> {
    /// Unread answers.
    static var together: Int { 28 }
    /// Descriptors of an answer.
    static var each: Int { 2 }
    static var perPeer: Int { 1 }
    /// Calls that wait. Beside them, from a reserve, one of each peer.
    static var waiting: Int { 1_024 }
    static var waitingPerPeer: Int { 16 }
    static var reserve: Int { 4_096 }
    /// How long a call waits, in nanoseconds.
    static var patience: UInt64 { 2_000_000_000 }

    /// What one user gets of a capacity when nobody else has any.
    static func share(of capacity: Int) -> Int { (2 * capacity + 2) / 3 }
    private static func mayTake(_ used: Int, of capacity: Int, taken: Int) -> Bool { used < 2 * (capacity - taken) }

    private struct Unread {
        let peer: String
        let isRead: () -> Bool
    }
    private struct Waiting {
        let number: UInt64
        let request: Request
        let isReserved: Bool
    }
    private struct Peer {
        let user: UInt32
        var queue: [Waiting] = []
        var hasUnread = false
        /// It is in its user's list.
        var isListed = false
        var isReady: Bool { !queue.isEmpty && !hasUnread }
    }
    private struct User {
        var unread = 0
        var waiting = 0
        var reserved = 0
        /// Peers whose calls can be answered, in the order in which they could be; and some that no longer can.
        var ready = Deque<String>()
        /// It is among those that have their turns.
        var isListed = false
    }
    private var peers: [String: Peer] = [:]
    private var users: [UInt32: User] = [:]
    private var unread: [Unread] = []
    /// Users with peers in their lists: each in its turn.
    private var turns = Deque<UInt32>()
    /// Calls in the order of their deadlines; also some that wait no longer.
    private var deadlines = Deque<(number: UInt64, peer: String, deadline: UInt64)>()
    private var lastNumber: UInt64 = 0
    private var waitingCount = 0
    private var reservedCount = 0

    init() {}

    var unreadCount: Int { unread.count }
    /// The descriptors in answers that are unread.
    mutating func unreadDescriptors() -> Int {
        collect()
        return Self.each * unread.count
    }
    var isIdle: Bool { waitingCount + reservedCount == 0 }

    /// Puts a request into the queue; false when there is no room for it.
    mutating func ask(_ name: String, user: UInt32, _ request: Request, now: UInt64) -> Bool {
        var peer = peers[name] ?? Peer(user: user)
        var share = users[user] ?? User()
        guard peer.queue.count < Self.waitingPerPeer else { return false }
        let isReserved =
            !peer.queue.contains { $0.isReserved }
            && Self.mayTake(share.reserved, of: Self.reserve, taken: reservedCount)
        if isReserved {
            share.reserved += 1
            reservedCount += 1
        } else {
            guard Self.mayTake(share.waiting, of: Self.waiting, taken: waitingCount) else { return false }
            share.waiting += 1
            waitingCount += 1
        }
        lastNumber += 1
        peer.queue.append(Waiting(number: lastNumber, request: request, isReserved: isReserved))
        (peers[name], users[user]) = (peer, share)
        deadlines.append((lastNumber, name, now + Self.patience))
        list(name)
        return true
    }
    /// Takes the next request that can be answered now: users in turn, of a user's peers the one that was ready first,
    /// of a peer's requests the oldest. Returns nil when there is none.
    ///
    /// - Parameter replies: the descriptors that are unread in replies of commands.
    mutating func next(besides replies: Int = 0) -> Request? {
        if isIdle { return nil }
        collect()
        for _ in 0..<turns.count {
            guard unread.count < Self.together, Self.each * (unread.count + 1) + replies <= ReplyDescriptors.ofBus,
                let user = turns.popFirst(), var share = users[user]
            else { return nil }
            share.isListed = false
            if !Self.mayTake(share.unread, of: Self.together, taken: unread.count) {
                share.isListed = true
                users[user] = share
                turns.append(user)
                continue
            }
            var (found, unready): (String?, [String]) = (nil, [])
            while found == nil, let name = share.ready.popFirst() {
                peers[name]?.isListed = false
                if peers[name]?.isReady == true { found = name } else { unready.append(name) }
            }
            if !share.ready.isEmpty {
                share.isListed = true
                turns.append(user)
            }
            users[user] = share
            for name in unready { forgetIfUnused(name, user) }
            if let found {
                defer { list(found) }
                return takeFirst(of: found)
            }
            forgetIfUnused(user)
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
    /// An answer goes out.
    mutating func sent(to name: String, user: UInt32, isRead: @escaping () -> Bool) {
        var peer = peers[name] ?? Peer(user: user)
        peer.hasUnread = true
        peers[name] = peer
        users[user, default: User()].unread += 1
        unread.append(Unread(peer: name, isRead: isRead))
    }
    /// Takes a peer's requests that are not to be answered any more. What it has unread goes on to count.
    mutating func withdraw(_ name: String, where isMeant: (Request) -> Bool) -> [Request] {
        guard var peer = peers[name] else { return [] }
        let taken = peer.queue.filter { isMeant($0.request) }
        peer.queue.removeAll { isMeant($0.request) }
        peers[name] = peer
        for waiting in taken { count(waiting, of: peer.user) }
        forgetIfUnused(name, peer.user)
        return taken.map(\.request)
    }
    /// The bus has dropped what it kept for the peer.
    mutating func depart(_ name: String) {
        guard let peer = peers.removeValue(forKey: name) else { return }
        for waiting in peer.queue { count(waiting, of: peer.user) }
        if peer.isListed { users[peer.user]?.ready.filter { $0 != name } }
        if peer.hasUnread {
            unread.removeAll { $0.peer == name }
            users[peer.user]?.unread -= 1
        }
        forgetIfUnused(peer.user)
    }

    /// Forgets the answers that were read.
    private mutating func collect() {
        var read: [String] = []
        unread.removeAll { answer in
            let isRead = answer.isRead()
            if isRead { read.append(answer.peer) }
            return isRead
        }
        for name in read {
            guard let user = peers[name]?.user else { continue }
            peers[name]?.hasUnread = false
            users[user]?.unread -= 1
            if peers[name]?.isReady == true { list(name) } else { forgetIfUnused(name, user) }
        }
    }
    /// Gives a peer that has something to be answered its place.
    private mutating func list(_ name: String) {
        guard var peer = peers[name], peer.isReady, !peer.isListed, var share = users[peer.user] else { return }
        peer.isListed = true
        share.ready.append(name)
        if !share.isListed {
            share.isListed = true
            turns.append(peer.user)
        }
        (peers[name], users[peer.user]) = (peer, share)
    }
    private mutating func takeFirst(of name: String) -> Request? {
        guard let user = peers[name]?.user, let first = peers[name]?.queue.removeFirst() else { return nil }
        count(first, of: user)
        forgetIfUnused(name, user)
        return first.request
    }
    /// One waits no longer.
    private mutating func count(_ waiting: Waiting, of user: UInt32) {
        if waiting.isReserved {
            users[user]?.reserved -= 1
            reservedCount -= 1
        } else {
            users[user]?.waiting -= 1
            waitingCount -= 1
        }
    }
    private mutating func forgetIfUnused(_ name: String, _ user: UInt32) {
        if let peer = peers[name], peer.queue.isEmpty, !peer.hasUnread, !peer.isListed { peers[name] = nil }
        forgetIfUnused(user)
    }
    private mutating func forgetIfUnused(_ user: UInt32) {
        guard let share = users[user], !share.isListed else { return }
        if share.unread + share.waiting + share.reserved == 0 { users[user] = nil }
    }
}
