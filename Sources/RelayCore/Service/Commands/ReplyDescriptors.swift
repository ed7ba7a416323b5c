/// The file descriptors in replies that their callers have not read, as a value.
///
/// The bus keeps a reply until its caller reads it, and counts the descriptors in it against the service: dbus-daemon, as
/// it is built, stops reading from one of which it keeps 64. Those in answers to `OpenRing` are among them.
///
/// A caller has one such reply unread. It reports the serial of what it has read, which nobody can guess who has not: so
/// a caller that leaves replies unread and says otherwise gains nothing. A user gets more only while it has no more than
/// twice what is left then; there is room for the next one.
struct ReplyDescriptors: Sendable {
    static let together = 22
    /// Of one reply.
    static var most: Int32 { Int32(DescriptorBag.replyLimit) }
    /// With the answers to `OpenRing`.
    static let ofBus = 62
    /// How many serials a caller may report for one reply.
    static let guesses = 64

    private struct Unread {
        let user: UInt32?
        let count: Int
        let serial: UInt32
        var guesses = 0
        /// The bus was asked how much it holds for the caller, and has not answered.
        var isAsked = false
    }
    private var peers: [String: Unread] = [:]
    private var users: [UInt32?: Int] = [:]
    /// All that are unread.
    private(set) var count = 0
    /// Of the reply that a caller has unread.
    func serial(of peer: String) -> UInt32? { peers[peer]?.serial }

    /// Whether a command may run whose reply will have some: it is likely that they can be sent.
    ///
    /// - Parameters:
    ///   - user: whose the caller is, if that is known.
    ///   - rings: the descriptors that are unread in answers to `OpenRing`.
    func mayRun(_ peer: String, user: UInt32?, besides rings: Int) -> Bool { fits(1, peer, user, rings) }
    /// Counts a reply with so many as sent; false if it must not be: nothing is counted then.
    ///
    /// - Parameter serial: the reply's own, and a random one.
    mutating func send(_ number: Int, to peer: String, user: UInt32?, serial: UInt32, besides rings: Int) -> Bool {
        guard fits(number, peer, user, rings) else { return false }
        peers[peer] = Unread(user: user, count: number, serial: serial)
        users[user, default: 0] += number
        count += number
        return true
    }
    private func fits(_ number: Int, _ peer: String, _ user: UInt32?, _ rings: Int) -> Bool {
        let (own, left) = (users[user] ?? 0, min(Self.together, Self.ofBus - rings) - count - number)
        return peers[peer] == nil && left >= 0 && (own == 0 || own + number <= 2 * left)
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

    private mutating func forget(_ peer: String) {
        guard let unread = peers.removeValue(forKey: peer) else { return }
        count -= unread.count
        let left = (users[unread.user] ?? 0) - unread.count
        users[unread.user] = left > 0 ? left : nil
    }
}
