/// How many calls may wait, as a value: of each peer, of each user, and of all together.
///
/// A reserve of each peer's own is there however much the others have waiting. A user's peers share what one user may
/// have; one user's many connections can take all of that, except each other's reserves.
struct WaitingQuota: Sendable {
    struct Amount: Hashable, Sendable {
        var calls = 0
        /// Of their arguments.
        var bytes = 0

        fileprivate func fits(_ more: Self, _ limit: Self) -> Bool {
            calls + more.calls <= limit.calls && bytes + more.bytes <= limit.bytes
        }
        fileprivate static func += (a: inout Self, b: Self) {
            a = Self(calls: a.calls + b.calls, bytes: a.bytes + b.bytes)
        }
        fileprivate static func -= (a: inout Self, b: Self) {
            a = Self(calls: a.calls - b.calls, bytes: a.bytes - b.bytes)
        }
    }
    static let perPeer = Amount(calls: 64, bytes: 4 << 20)
    static let perUser = Amount(calls: 6_400, bytes: 16 << 20)
    static let together = Amount(calls: 16_384, bytes: 64 << 20)
    static let reserve = Amount(calls: 2, bytes: 16 << 10)

    private var peers: [String: Amount] = [:]
    /// Those whose user is not known are one.
    private var users: [UInt32?: Amount] = [:]
    private(set) var all = Amount()

    var peerCount: Int { peers.count }
    func waiting(of peer: String) -> Amount { peers[peer] ?? Amount() }

    /// Counts a call that is to wait. Returns why it must not, with nothing counted; nil if it may.
    ///
    /// - Parameter user: whose the peer is; nil if that is not known: then it shares with all such peers.
    mutating func admit(_ peer: String, user: UInt32?, bytes: Int) -> String? {
        let (own, call) = (waiting(of: peer), Amount(calls: 1, bytes: bytes))
        if !own.fits(call, Self.perPeer) { return Self.refusal(peer, own, Self.perPeer) }
        if !own.fits(call, Self.reserve) {
            if let share = users[user], !share.fits(call, Self.perUser) {
                return Self.refusal(user.map { "user \($0)" } ?? "unknown users", share, Self.perUser)
            }
            if !all.fits(call, Self.together) { return Self.refusal("all peers together", all, Self.together) }
        }
        peers[peer, default: Amount()] += call
        users[user, default: Amount()] += call
        all += call
        return nil
    }
    /// A call waits no longer. With the user that it was counted for.
    mutating func release(_ peer: String, user: UInt32?, bytes: Int) {
        let call = Amount(calls: 1, bytes: bytes)
        peers[peer]? -= call
        if peers[peer] == Amount() { peers[peer] = nil }
        users[user]? -= call
        if users[user] == Amount() { users.removeValue(forKey: user) }
        all -= call
    }
    private static func refusal(_ who: String, _ has: Amount, _ limit: Amount) -> String {
        "\(has.calls) calls with \(has.bytes) bytes of arguments wait for \(who), of at most \(limit.calls) with "
            + "\(limit.bytes): wait for answers before the next call"
    }
}
