import Synchronization

/// How many file descriptors of calls may be open: of one peer, of one user's peers, and of all. A process has few.
///
/// A call is counted when it comes, and for its user as soon as the bus has said who that is. A user gets more only
/// while it has no more than twice what is left then: two thirds are the most, and others have room.
final class DescriptorQuota: Sendable {
    static let perPeer = 2 * DescriptorBag.limit
    static let together = 256
    static var refusal: String {
        "file descriptors of calls: at most \(perPeer) of a peer, two thirds of a user's peers, and \(together) of all are "
            + "held: wait for answers before the next call"
    }
    private struct Held {
        var all = 0
        var peers: [String: Int] = [:]
        var users: [UInt32?: Int] = [:]
    }
    private let held = Mutex(Held())
    /// Those that are counted now.
    var count: Int { held.withLock { $0.all } }

    /// Counted as long as it lives.
    final class Hold: Sendable {
        private let quota: DescriptorQuota
        private let peer: String
        private let count: Int
        /// Whose they are; nil: that is not known yet.
        private let user = Mutex<UInt32??>(nil)
        fileprivate init(_ quota: DescriptorQuota, _ peer: String, _ count: Int) {
            (self.quota, self.peer, self.count) = (quota, peer, count)
        }
        deinit { quota.release(peer, user.withLock { $0 }, count) }

        /// Counts them for a user, once. False: they would be too many.
        ///
        /// - Parameter owner: nil: the bus does not say who it is. Of such ones all are one user.
        func belongs(to owner: UInt32?) -> Bool {
            guard quota.assign(count, to: owner) else { return false }
            user.withLock { $0 = .some(owner) }
            return true
        }
    }
    /// Nil: they would be too many.
    func admit(_ count: Int, of peer: String) -> Hold? {
        let isAdmitted = held.withLock { held in
            let own = held.peers[peer] ?? 0
            if own + count > Self.perPeer || held.all + count > Self.together { return false }
            if count > 0 { held.peers[peer] = own + count }
            held.all += count
            return true
        }
        return isAdmitted ? Hold(self, peer, count) : nil
    }
    private func assign(_ count: Int, to user: UInt32?) -> Bool {
        held.withLock { held in
            if count == 0 { return true }
            let own = held.users[user] ?? 0
            if own > 0 && own + count > 2 * (Self.together - held.all) { return false }
            held.users[user] = own + count
            return true
        }
    }
    private func release(_ peer: String, _ user: UInt32??, _ count: Int) {
        if count == 0 { return }
        held.withLock { held in
            held.all -= count
            held.peers[peer] = Self.rest(held.peers[peer], count)
            if case .some(let user) = user { held.users[user] = Self.rest(held.users[user], count) }
        }
    }
    private static func rest(_ own: Int?, _ count: Int) -> Int? {
        let left = (own ?? 0) - count
        return left > 0 ? left : nil
    }
}
