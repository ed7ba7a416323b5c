/// The file descriptors in replies that their callers have not read, as a value.
///
/// The bus keeps a reply until its caller reads it, and counts the descriptors in it against the service: dbus-daemon, as
/// it is built, stops reading from one of which it keeps 64. Those in answers to `OpenRing` are among them.
///
/// A caller has one such reply unread. It reports the serial of what it has read, which nobody can guess who has not: so
/// a caller that leaves replies unread and says otherwise gains nothing.
struct ReplyDescriptors: Sendable {
    /// Of one reply.
    static var most: Int32 { Int32(DescriptorBag.replyLimit) }
    /// How many serials a caller may report for one reply.
    static let guesses = 64

    private struct Unread {
        let charge: PeerLedger.Charge
        let serial: UInt32
        var guesses = 0
        /// The bus was asked how much it holds for the caller, and has not answered.
        var isAsked = false
    }
    private var peers: [String: Unread] = [:]
    private let ledger: PeerLedger

    init(_ ledger: PeerLedger) { self.ledger = ledger }

    /// Of the reply that a caller has unread.
    func serial(of peer: String) -> UInt32? { peers[peer]?.serial }

    /// Why a command must not run whose reply will have some; nil if it is likely that they can be sent.
    func refusal(_ peer: String) -> PeerLedger.Refusal? {
        if peers[peer] == nil { return ledger.refusal(.replyDescriptors, 1, for: peer) }
        let held = ledger.held(.replyDescriptors, of: peer)
        return PeerLedger.Refusal(
            resource: .replyDescriptors, holder: .peer(peer), held: held, more: 1, bound: held)
    }
    /// Counts a reply with so many as sent; false if it must not be: nothing is counted then.
    ///
    /// - Parameter serial: the reply's own, and a random one.
    mutating func send(_ number: Int, to peer: String, serial: UInt32) -> Bool {
        guard peers[peer] == nil, let charge = try? ledger.charge(.replyDescriptors, number, to: peer) else {
            return false
        }
        peers[peer] = Unread(charge: charge, serial: serial)
        return true
    }
    /// A caller reports that it has read the reply of a serial.
    mutating func received(_ serial: UInt32, by peer: String) {
        guard let unread = peers[peer], unread.guesses < Self.guesses else { return }
        if unread.serial == serial { forget(peer) } else { peers[peer]?.guesses += 1 }
    }
    /// The reply of a serial was read, or was not sent.
    mutating func settled(_ serial: UInt32, of peer: String) {
        if peers[peer]?.serial == serial { forget(peer) }
    }
    /// The bus has dropped what it kept for the caller.
    mutating func depart(_ peer: String) { forget(peer) }

    /// The callers, and the serials of their replies, about which the bus can be asked now. It answers.
    mutating func questions() -> [(peer: String, serial: UInt32)] {
        let unasked = peers.filter { !$0.value.isAsked }
        for peer in unasked.keys { peers[peer]?.isAsked = true }
        return unasked.map { ($0.key, $0.value.serial) }
    }
    /// The bus has answered, or will not.
    mutating func answered(_ peer: String, _ serial: UInt32, isRead: Bool) {
        guard peers[peer]?.serial == serial else { return }
        if isRead { forget(peer) } else { peers[peer]?.isAsked = false }
    }

    private mutating func forget(_ peer: String) { peers[peer] = nil }
}
