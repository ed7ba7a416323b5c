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
    static let reserve = PeerResource.unreadReplies.bounds.reserve
    private static let bound = PeerResource.unreadReplies.bounds.peer
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
    private var peers = PeerTable<Peer>()
    private let ledger: PeerLedger
    /// False once no bus can be asked: then nothing is known, and nothing refused.
    var isKnowable = true

    init(_ ledger: PeerLedger) { self.ledger = ledger }

    var peerCount: Int { peers.count }
    func unread(of peer: String) -> Int { peers[peer]?.unread ?? 0 }

    /// A peer calls, and wants an answer.
    mutating func call(_ name: String) -> Verdict {
        let ledger = ledger
        let place = peers.place(of: name, orMake: Peer(charge: ledger.charge(growing: .unreadReplies, of: name)))
        guard isKnowable else { return .admitted }
        let wasRefused = peers[place].isRefused
        if wasRefused && peers[place].unread >= Self.bound / 2 { return .ignored }
        let refusal = refusal(place, 0, name)
        if refusal == nil && !wasRefused { return .admitted }
        peers[place].isRefused = refusal != nil
        guard let refusal else { return .admitted }
        return wasRefused ? .ignored : .refused("\(refusal.message); until then calls get no answer")
    }
    /// Whether a reply that can wait may be sent now.
    func admits(_ name: String, bytes: Int) -> Bool {
        guard isKnowable, let place = peers.place(of: name) else { return true }
        return refusal(place, bytes + Self.overhead, name) == nil
    }
    /// Why a peer may not have so much more unread. What is its own, nobody else has used up.
    private func refusal(_ place: Int, _ bytes: Int, _ name: String) -> PeerLedger.Refusal? {
        peers[place].unread + bytes <= Self.reserve ? nil : ledger.refusal(.unreadReplies, bytes, for: name)
    }
    /// Whether a call's progress may be sent now. A peer that has left gets none.
    func admitsProgress(_ name: String, bytes: Int) -> Bool {
        guard let place = peers.place(of: name) else { return false }
        return peers[place].unread + bytes + Self.overhead <= Self.progressRoom
    }
    /// A reply goes out. To a peer that has left: then it counts for nothing.
    mutating func sent(_ name: String, bytes: Int) {
        if let place = peers.place(of: name) { count(place, bytes + Self.overhead) }
    }
    /// What to ask the bus, if it is time, and nothing is asked about this peer already.
    mutating func question(about name: String) -> Question? {
        guard isKnowable, let place = peers.place(of: name), !peers[place].isAsked, peers[place].unread > Self.reserve
        else { return nil }
        peers[place].isAsked = true
        return question(name, place)
    }
    /// What to ask the bus when somebody waits for others' reading: about those with most unread, of which little is
    /// known.
    mutating func questions(atMost limit: Int) -> [Question] {
        guard isKnowable else { return [] }
        let unasked = peers.entries.filter { !$0.value.isAsked && $0.value.unread > 1 << 10 }
        let chosen = unasked.sorted { ($0.value.unread, $1.name) > ($1.value.unread, $0.name) }.prefix(limit)
        return chosen.map { ask($0.name) }
    }
    /// The same about those whose replies hold what is scarce.
    mutating func questionsAboutDeliveries() -> [Question] {
        guard isKnowable else { return [] }
        let unasked = peers.entries.filter { peer in
            !peer.value.isAsked && peer.value.deliveries.contains { $0.charge != nil }
        }
        return unasked.map { ask($0.name) }
    }
    /// Of a peer that is there.
    private mutating func ask(_ name: String) -> Question {
        guard let place = peers.place(of: name) else { return Question(peer: name, sent: 0, deliveries: 0) }
        peers[place].isAsked = true
        return question(name, place)
    }
    private func question(_ name: String, _ place: Int) -> Question {
        Question(peer: name, sent: peers[place].sent, deliveries: peers[place].lastDelivery)
    }
    /// The bus held so many bytes for the peer when it came to the question.
    mutating func answered(_ question: Question, held: Int) {
        guard let place = peers.place(of: question.peer) else { return }
        peers[place].isAsked = false
        // Others send to the peer, too: at most what is ours.
        // It may have confirmed later ones meanwhile.
        let known = min(question.sent, peers[place].read)
        let read = question.sent - min(question.sent - known, UInt64(max(0, held)))
        wasRead(read, by: place)
        if held <= 0 { peers[place].deliveries.removeAll { $0.number <= question.deliveries } }
    }
    /// The bus did not answer in time: nothing is known that was not before.
    mutating func unanswered(_ question: Question) {
        if let place = peers.place(of: question.peer) { peers[place].isAsked = false }
    }
    /// The bus has dropped what it kept for the peer.
    mutating func depart(_ name: String) { peers.remove(name) }

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
        guard let place = peers.place(of: name) else { return }
        count(place, bytes + Self.overhead)
        // What the refusal before this one proves, this one does.
        if peers[place].deliveries.last.map({ $0.charge == nil }) == true { peers[place].deliveries.removeLast() }
        peers[place].lastDelivery += 1
        let (number, sent) = (peers[place].lastDelivery, peers[place].sent)
        peers[place].deliveries.append(Delivery(serial: serial, number: number, sent: sent, charge: charge))
        peers[place].guesses = 0
    }
    /// A peer reports that it has read the reply of a serial. Returns whether it has, which nobody knew.
    mutating func received(_ serial: UInt32, by name: String) -> Bool {
        guard let place = peers.place(of: name), !peers[place].deliveries.isEmpty, peers[place].guesses < Self.guesses
        else { return false }
        guard let index = peers[place].deliveries.firstIndex(where: { $0.serial == serial }) else {
            peers[place].guesses += 1
            return false
        }
        let sent = peers[place].deliveries[index].sent
        peers[place].deliveries.removeFirst(index + 1)
        peers[place].guesses = 0
        wasRead(sent, by: place)
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
        guard let place = peers.place(of: name) else { return "\(name) has left" }
        if peers[place].isReading { return "a Read is under way: wait for its answer" }
        if holds(.pages, name) {
            return
                "the page before is not confirmed: call \(Stream1.name).Received with its serial, or with that of this error"
        }
        peers[place].isReading = true
        return nil
    }
    mutating func endReading(_ name: String) {
        if let place = peers.place(of: name) { peers[place].isReading = false }
    }

    private mutating func wasRead(_ read: UInt64, by place: Int) {
        guard read > peers[place].read else { return }
        let bytes = Int(read - peers[place].read)
        peers[place].read = read
        peers[place].charge.add(-bytes)
    }
    private mutating func count(_ place: Int, _ bytes: Int) {
        peers[place].sent += UInt64(bytes)
        peers[place].charge.add(bytes)
    }
}
