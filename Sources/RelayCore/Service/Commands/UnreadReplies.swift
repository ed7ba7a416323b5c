/// What peers leave unread of what was sent to them, as a value.
///
/// The bus keeps what a peer does not read, and at its bound stops reading from the service. D-Bus has no read
/// receipts. But a bus can report how much it holds for a connection: so the bytes of all replies to a peer are counted,
/// errors included; past a mark the bus is asked, and what it does not hold has been read.
///
/// Of replies with pages or file descriptors there is a better proof: the peer reports the reply's serial, a random
/// number that nobody can guess who has not read it. A bus keeps the order of messages. So whatever was sent before that
/// reply was read as well, or the bus has dropped it.
struct UnreadReplies: Sendable {
    enum Verdict: Hashable, Sendable {
        case admitted
        /// The one refusal that a peer over its bound gets.
        case refused(String)
        /// It was refused, and nothing has been read since: its calls are dropped.
        case ignored
    }
    /// A question to the bus about a peer: how much was sent to it before, and how many replies that it confirms.
    struct Question: Hashable, Sendable {
        let peer: String
        let sent: UInt64
        let deliveries: UInt64
    }
    /// How many wrong serials a peer may report between two replies.
    static let guesses = 64

    /// A reply that its peer confirms.
    private struct Delivery {
        let serial: UInt32
        let number: UInt64
        /// All bytes that were sent up to this one's end.
        let sent: UInt64
        /// What the reply holds until then; nil: a refusal, which proves what came before it.
        let charge: PeerLedger.Charge?
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
        /// In the order in which they were sent.
        var deliveries: [Delivery] = []
        var lastDelivery: UInt64 = 0
        var guesses = 0
        /// A page is being read for it.
        var isReading = false
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
        return Self.question(name, peer)
    }
    /// What to ask the bus when somebody waits for others' reading: about those with most unread, of which little is
    /// known.
    mutating func questions(atMost limit: Int) -> [Question] {
        guard isKnowable else { return [] }
        let unasked = peers.filter { !$0.value.isAsked && $0.value.unread > 1 << 10 }
        let chosen = unasked.sorted { ($0.value.unread, $1.key) > ($1.value.unread, $0.key) }.prefix(limit)
        for (name, _) in chosen { peers[name]?.isAsked = true }
        return chosen.map { Self.question($0.key, $0.value) }
    }
    /// The same about those whose replies hold what is scarce.
    mutating func questionsAboutDeliveries() -> [Question] {
        guard isKnowable else { return [] }
        let unasked = peers.filter { !$0.value.isAsked && $0.value.deliveries.contains { $0.charge != nil } }
        for name in unasked.keys { peers[name]?.isAsked = true }
        return unasked.map { Self.question($0.key, $0.value) }
    }
    private static func question(_ name: String, _ peer: Peer) -> Question {
        Question(peer: name, sent: peer.sent, deliveries: peer.lastDelivery)
    }
    /// The bus held so many bytes for the peer when it came to the question.
    mutating func answered(_ question: Question, held: Int) {
        guard let peer = peers[question.peer] else { return }
        peers[question.peer]?.isAsked = false
        // Others send to the peer, too: at most what is ours.
        let read = question.sent - min(question.sent - peer.read, UInt64(max(0, held)))
        wasRead(read, by: question.peer)
        if held <= 0 { peers[question.peer]?.deliveries.removeAll { $0.number <= question.deliveries } }
    }
    /// The bus did not answer in time: nothing is known that was not before.
    mutating func unanswered(_ question: Question) { peers[question.peer]?.isAsked = false }
    /// The bus has dropped what it kept for the peer.
    mutating func depart(_ name: String) { peers[name] = nil }

    // MARK: Replies that are confirmed

    /// A reply leaves that its peer confirms, by `send`, which is given its serial.
    ///
    /// Within the lock of all others: none overtakes another one.
    ///
    /// - Parameters:
    ///   - charge: what it holds until then.
    ///   - bytes: its own, if they are counted.
    mutating func deliver(
        to name: String, _ charge: PeerLedger.Charge?, bytes: Int = 0, send: (UInt32) throws(RelayError) -> Void
    ) throws(RelayError) {
        // As the connection's own, of the upper half. Of the system's random numbers: nobody knows the next one.
        let serial = UInt32.random(in: 0x8000_0000...UInt32.max)
        try send(serial)
        // Nobody confirms anything who has left.
        guard var peer = peers[name] else { return }
        sent(name, bytes: bytes)
        // What the refusal before this one proves, this one does.
        if peer.deliveries.last.map({ $0.charge == nil }) == true { peer.deliveries.removeLast() }
        peer.lastDelivery += 1
        let total = peers[name]?.sent ?? 0
        peer.deliveries.append(Delivery(serial: serial, number: peer.lastDelivery, sent: total, charge: charge))
        peers[name]?.deliveries = peer.deliveries
        peers[name]?.lastDelivery = peer.lastDelivery
        peers[name]?.guesses = 0
    }
    /// A peer reports that it has read the reply of a serial. Returns whether it has, which nobody knew.
    mutating func received(_ serial: UInt32, by name: String) -> Bool {
        guard let peer = peers[name], !peer.deliveries.isEmpty, peer.guesses < Self.guesses else { return false }
        guard let index = peer.deliveries.firstIndex(where: { $0.serial == serial }) else {
            peers[name]?.guesses += 1
            return false
        }
        peers[name]?.deliveries.removeFirst(index + 1)
        peers[name]?.guesses = 0
        wasRead(peer.deliveries[index].sent, by: name)
        return true
    }
    /// Whether a reply that holds this is unread.
    func holds(_ resource: PeerResource, _ name: String) -> Bool {
        peers[name]?.deliveries.contains { $0.charge?.resource == resource } == true
    }
    /// The serials of what a peer has unread, in order.
    func serials(of name: String) -> [UInt32] { peers[name]?.deliveries.map(\.serial) ?? [] }

    /// A peer asks for a page: one is read for it at a time, and none before the last one was read. Returns why not.
    mutating func beginReading(_ name: String) -> String? {
        guard let peer = peers[name] else { return "\(name) has left" }
        if peer.isReading { return "a Read is under way: wait for its answer" }
        if holds(.pages, name) {
            return
                "the page before is not confirmed: call \(Stream1.name).Received with its serial, or with that of this error"
        }
        peers[name]?.isReading = true
        return nil
    }
    mutating func endReading(_ name: String) { peers[name]?.isReading = false }

    private mutating func wasRead(_ read: UInt64, by name: String) {
        guard let peer = peers[name], read > peer.read else { return }
        peers[name]?.read = read
        peer.charge.add(-Int(read - peer.read))
    }
    private mutating func count(_ name: String, _ bytes: Int) {
        peers[name]?.sent += UInt64(bytes)
        peers[name]?.charge.add(bytes)
    }
}
