import Synchronization

/// How many file descriptors of calls may be open: of one peer, and of all. A process has few.
final class DescriptorQuota: Sendable {
    static let perPeer = 2 * DescriptorBag.limit
    static let together = 256
    private let held = Mutex<(all: Int, peers: [String: Int])>((0, [:]))
    /// Those that are counted now.
    var count: Int { held.withLock { $0.all } }

    /// Counted as long as it lives.
    final class Hold: Sendable {
        private let quota: DescriptorQuota
        private let peer: String
        private let count: Int
        fileprivate init(_ quota: DescriptorQuota, _ peer: String, _ count: Int) {
            (self.quota, self.peer, self.count) = (quota, peer, count)
        }
        deinit { quota.release(peer, count) }
    }
    /// Nil: they would be too many.
    func admit(_ count: Int, of peer: String) -> Hold? {
        let isAdmitted = held.withLock { held in
            let own = held.peers[peer] ?? 0
            if own + count > Self.perPeer || held.all + count > Self.together { return false }
            held.peers[peer] = own + count
            held.all += count
            return true
        }
        return isAdmitted ? Hold(self, peer, count) : nil
    }
    private func release(_ peer: String, _ count: Int) {
        held.withLock { held in
            held.all -= count
            let left = (held.peers[peer] ?? 0) - count
            held.peers[peer] = left > 0 ? left : nil
        }
    }
}
