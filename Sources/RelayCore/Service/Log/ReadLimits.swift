/// How much of what `Read` answered may be unread, as a value.
///
/// The bus keeps what a peer does not read, and at its bound stops reading from the service. So a page carries a random
/// number that the peer's next `Read` gives back, which proves that it has read that page; and until then it gets no
/// other.
struct ReadLimits: Sendable {
    enum Verdict: Hashable, Sendable {
        case admitted
        case refused(String)
        /// It owes a proof, and was refused so often that the refusals themselves are what fills the bus. Or the peer
        /// has gone.
        case ignored
    }
    /// Bytes of one user's peers.
    static let perUser = 4 << 20
    static let together = 16 << 20
    /// How many refusals in a row are answered for a peer that owes a proof, or the reading of an answer. A refusal
    /// caused by other peers is always answered: the peer must not wait for ever for a page that it could have later.
    static let refusals = 64

    private enum Page {
        /// The peer has asked; it is not known yet whose it is.
        case asked
        /// A page that is being read, or, once it has its number, has gone out.
        case owed(user: UInt32?, bytes: Int, token: UInt64?)
    }
    private struct Peer {
        var page: Page?
        var refusals = 0
    }
    private var peers: [String: Peer] = [:]
    /// A user that is not known is one of its own.
    private var bytesByUser: [UInt32?: Int] = [:]
    private(set) var bytes = 0

    /// How many peers are remembered: those that owe a proof, or were refused.
    var peerCount: Int { peers.count }
    func bytes(of user: UInt32?) -> Int { bytesByUser[user] ?? 0 }

    /// A peer asks for a page, and gives a number back; 0 stands for none.
    mutating func begin(_ peer: String, token: UInt64) -> Verdict {
        switch peers[peer]?.page {
        case nil: break
        case .owed(_, _, let owed?) where owed == token:
            release(peer)
            peers[peer]?.refusals = 0
        case .owed(_, _, _?):
            return blame(peer, "the page before was not proved to be read: give its token, not \(token)")
        case .asked, .owed: return blame(peer, "a Read is under way: wait for its answer, and give its token")
        }
        peers[peer, default: Peer()].page = .asked
        return .admitted
    }
    /// Makes room for the page that it has asked for, now that its user is known.
    mutating func reserve(_ peer: String, user: UInt32?, bytes count: Int) -> Verdict {
        guard case .asked? = peers[peer]?.page else { return .ignored }
        if let full = full(user, count) {
            withdraw(peer)
            return .refused(full)
        }
        owe(peer, user, count, token: nil)
        return .admitted
    }
    /// The page goes out, with so many bytes and this number. One for which there is no room, as it has a large event,
    /// does not.
    mutating func answer(_ peer: String, bytes count: Int, token: UInt64) -> Verdict {
        guard case .owed(let user, _, nil)? = peers[peer]?.page else { return .ignored }
        release(peer)
        if let full = full(user, count) {
            withdraw(peer)
            return .refused(full)
        }
        owe(peer, user, count, token: token)
        return .admitted
    }
    /// There is no page to wait for: it could not be had.
    mutating func withdraw(_ peer: String) {
        release(peer)
        if peers[peer]?.refusals == 0 { peers[peer] = nil }
    }
    /// The bus has dropped what it kept for the peer.
    mutating func depart(_ peer: String) {
        release(peer)
        peers[peer] = nil
    }

    private func full(_ user: UInt32?, _ count: Int) -> String? {
        if bytes(of: user) + count > Self.perUser {
            return "the peers of this user have \(bytes(of: user)) bytes of pages that are not proved to be read: wait"
        }
        if bytes + count > Self.together { return "\(bytes) bytes of pages are not proved to be read: wait" }
        return nil
    }
    private mutating func owe(_ peer: String, _ user: UInt32?, _ count: Int, token: UInt64?) {
        peers[peer]?.page = .owed(user: user, bytes: count, token: token)
        bytes += count
        bytesByUser[user, default: 0] += count
    }
    private mutating func release(_ peer: String) {
        if case .owed(let user, let count, _)? = peers[peer]?.page {
            bytes -= count
            let left = bytes(of: user) - count
            bytesByUser[user] = left == 0 ? nil : left
        }
        peers[peer]?.page = nil
    }
    private mutating func blame(_ peer: String, _ reason: String) -> Verdict {
        let count = peers[peer]?.refusals ?? 0
        if count >= Self.refusals { return .ignored }
        peers[peer, default: Peer()].refusals = count + 1
        return .refused(reason)
    }
}
