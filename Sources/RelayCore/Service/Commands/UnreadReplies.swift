/// How many bytes of replies peers may leave unread, as a value.
///
/// The bus keeps what a peer does not read, and at its bound stops reading from the service. D-Bus has no read
/// receipts, but a bus can report how much it holds for a connection. So the bytes of all replies to a peer are
/// counted, errors included; past a mark the bus is asked, and what it does not hold has been read. Pages of `Read`
/// have a bound of their own: `ReadLimits`.
struct UnreadReplies: Sendable {
    enum Verdict: Hashable, Sendable {
        case admitted
        /// The one refusal that a peer over its bound gets.
        case refused(String)
        /// It was refused, and nothing has been read since: its calls are dropped.
        case ignored
    }
    /// A question to the bus about a peer: how much was sent to it before.
    struct Question: Hashable, Sendable {
        let peer: String
        let sent: UInt64
    }
    /// Past what is a peer's own the bus is asked.
    static var reserve: Int { PeerResource.unreadReplies.bounds.reserve }
    /// Progress has this much, so that the bus is asked before it is used up.
    static var progressRoom: Int { 2 * reserve }
    /// What a message takes beside its body.
    static let overhead = 128

    private struct Peer {
        /// What it has unread.
        let charge: PeerLedger.Charge
        /// All bytes that were sent, and those of which it is known that they were read.
        var (sent, read): (UInt64, UInt64) = (0, 0)
        var isAsked = false
        var isRefused = false
        init(charge: PeerLedger.Charge) { self.charge = charge }
        var unread: Int { Int(clamping: sent - read) }
    }
    /// From a peer's first call to its departure.
    private var peers: [String: Peer] = [:]
    private let ledger: PeerLedger
    /// False once no bus can be asked: then nothing is known, and nothing refused.
    var isKnowable = true

    init(_ ledger: PeerLedger) { self.ledger = ledger }

    var peerCount: Int { peers.count }
    func unread(of peer: String) -> Int { peers[peer]?.unread ?? 0 }

    /// A peer calls, and wants an answer.
    mutating func call(_ name: String) -> Verdict {
        let peer = peers[name] ?? Peer(charge: ledger.charge(growing: .unreadReplies, of: name))
        peers[name] = peer
        guard isKnowable else { return .admitted }
        if peer.isRefused && peer.unread >= PeerResource.unreadReplies.bounds.peer / 2 { return .ignored }
        let refusal = ledger.refusal(.unreadReplies, 0, for: name)
        peers[name]?.isRefused = refusal != nil
        guard let refusal else { return .admitted }
        return peer.isRefused ? .ignored : .refused("\(refusal.message); until then calls get no answer")
    }
    /// Whether a reply that can wait may be sent now.
    func admits(_ name: String, bytes: Int) -> Bool {
        guard peers[name] != nil, isKnowable else { return true }
        return ledger.refusal(.unreadReplies, bytes + Self.overhead, for: name) == nil
    }
    /// Whether a call's progress may be sent now. A peer that has left gets none.
    func admitsProgress(_ name: String, bytes: Int) -> Bool {
        guard let peer = peers[name] else { return false }
        return peer.unread + bytes + Self.overhead <= Self.progressRoom
    }
    /// A reply goes out. To a peer that has left: then it counts for nothing.
    mutating func sent(_ name: String, bytes: Int) {
        if peers[name] != nil { count(name, bytes + Self.overhead) }
    }
    /// What to ask the bus, if it is time, and nothing is asked about this peer already.
    mutating func question(about name: String) -> Question? {
        guard isKnowable, let peer = peers[name], !peer.isAsked, peer.unread > Self.reserve else { return nil }
        peers[name]?.isAsked = true
        return Question(peer: name, sent: peer.sent)
    }
    /// What to ask the bus when somebody waits for others' reading: about those with most unread, of which little is
    /// known.
    mutating func questions(atMost limit: Int) -> [Question] {
        guard isKnowable else { return [] }
        let unasked = peers.filter { !$0.value.isAsked && $0.value.unread > 1 << 10 }
        let chosen = unasked.sorted { ($0.value.unread, $1.key) > ($1.value.unread, $0.key) }.prefix(limit)
        for (name, _) in chosen { peers[name]?.isAsked = true }
        return chosen.map { Question(peer: $0.key, sent: $0.value.sent) }
    }
    /// The bus held so many bytes for the peer when it came to the question.
    mutating func answered(_ question: Question, held: Int) {
        guard let peer = peers[question.peer] else { return }
        peers[question.peer]?.isAsked = false
        // Others send to the peer, too: at most what is ours.
        let read = question.sent - min(question.sent - peer.read, UInt64(max(0, held)))
        let gain = Int(read - peer.read)
        peers[question.peer]?.read = read
        peer.charge.add(-gain)
    }
    /// The bus did not answer in time: nothing is known that was not before.
    mutating func unanswered(_ question: Question) { peers[question.peer]?.isAsked = false }
    /// The bus has dropped what it kept for the peer.
    mutating func depart(_ name: String) { peers[name] = nil }

    private mutating func count(_ name: String, _ bytes: Int) {
        peers[name]?.sent += UInt64(bytes)
        peers[name]?.charge.add(bytes)
    }
}
