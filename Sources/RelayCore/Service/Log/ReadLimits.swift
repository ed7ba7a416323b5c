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
    /// How many refusals in a row are answered for a peer that owes a proof, or the reading of an answer. A refusal
    /// caused by other peers is always answered: the peer must not wait for ever for a page that it could have later.
    static let refusals = 64

    private enum Page {
        /// The peer has asked; it is not known yet whose it is.
        case asked
        /// A page that is being read, or, once it has its number, has gone out.
        case owed(PeerLedger.Charge, token: UInt64?)
    }
    private struct Peer {
        var page: Page?
        var refusals = 0
    }
    private var peers: [String: Peer] = [:]

    /// How many peers are remembered: those that owe a proof, or were refused.
    var peerCount: Int { peers.count }

    /// A peer asks for a page, and gives a number back; 0 stands for none.
    mutating func begin(_ peer: String, token: UInt64) -> Verdict {
        switch peers[peer]?.page {
        case nil: break
        case .owed(_, let owed?) where owed == token:
            peers[peer] = Peer()
        case .owed(_, _?):
            return blame(peer, "the page before was not proved to be read: give its token, not \(token)")
        case .asked, .owed: return blame(peer, "a Read is under way: wait for its answer, and give its token")
        }
        peers[peer, default: Peer()].page = .asked
        return .admitted
    }
    /// Makes room for the page that it has asked for, now that its user is known.
    mutating func reserve(_ peer: String, bytes count: Int, _ ledger: PeerLedger) -> Verdict {
        guard case .asked? = peers[peer]?.page else { return .ignored }
        do throws(PeerLedger.Refusal) {
            peers[peer]?.page = .owed(try ledger.charge(.pages, count, to: peer), token: nil)
            return .admitted
        } catch {
            withdraw(peer)
            return .refused(error.message)
        }
    }
    /// The page goes out, with so many bytes and this number. One for which there is no room, as it has a large event,
    /// does not.
    mutating func answer(_ peer: String, bytes count: Int, token: UInt64) -> Verdict {
        guard case .owed(let charge, nil)? = peers[peer]?.page else { return .ignored }
        do throws(PeerLedger.Refusal) {
            try charge.change(to: count)
            peers[peer]?.page = .owed(charge, token: token)
            return .admitted
        } catch {
            withdraw(peer)
            return .refused(error.message)
        }
    }
    /// There is no page to wait for: it could not be had.
    mutating func withdraw(_ peer: String) {
        peers[peer]?.page = nil
        if peers[peer]?.refusals == 0 { peers[peer] = nil }
    }
    /// The bus has dropped what it kept for the peer.
    mutating func depart(_ peer: String) { peers[peer] = nil }

    private mutating func blame(_ peer: String, _ reason: String) -> Verdict {
        let count = peers[peer]?.refusals ?? 0
        if count >= Self.refusals { return .ignored }
        peers[peer, default: Peer()].refusals = count + 1
        return .refused(reason)
    }
}
