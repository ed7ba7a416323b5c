/// What each peer holds, as a value, and what that makes for its user and for all.
///
/// A peer's reserve is its own: users and all share what peers have beyond theirs. Peers whose users are not known are
/// one user's.
struct PeerAccounts {
    struct Part: Hashable, Sendable {
        let resource: PeerResource
        var amount: Int
    }
    private struct Account {
        var user: UInt32?
        /// It has called, and has not left.
        var isPresent = false
        var amounts = Amounts()
        var isNeeded: Bool { isPresent || !amounts.isEmpty }
    }
    /// How much of each resource.
    private struct Amounts {
        private var amounts = [Int](repeating: 0, count: PeerResource.allCases.count)
        /// How many of them are not zero.
        private var held = 0
        var isEmpty: Bool { held == 0 }
        subscript(resource: PeerResource) -> Int { amounts[resource.rawValue] }
        /// Returns how much it is then.
        @discardableResult mutating func add(_ amount: Int, of resource: PeerResource) -> Int {
            let before = amounts[resource.rawValue]
            let after = before + amount
            held += (after == 0 ? 0 : 1) - (before == 0 ? 0 : 1)
            amounts[resource.rawValue] = after
            return after
        }
    }
    private let bounds: [PeerResource.Bounds]
    private var peers = PeerTable<Account>()
    private var users: [UInt32?: Amounts] = [:]
    private var all = Amounts()

    init(_ bounds: (PeerResource) -> PeerResource.Bounds = { $0.bounds }) {
        self.bounds = PeerResource.allCases.map(bounds)
    }

    // MARK: Peers

    /// A peer has called.
    mutating func arrive(_ peer: String) {
        let place = peers.place(of: peer, orMake: Account())
        if !peers[place].isPresent { peers[place].isPresent = true }
    }
    /// It has left, and calls no more. What is held for it by others than the bus counts until they let it go.
    mutating func depart(_ peer: String) {
        guard let place = peers.place(of: peer) else { return }
        peers[place].isPresent = false
        if !peers[place].isNeeded { peers.remove(peer) }
    }
    /// Whose the peer is: that user has what the peer holds.
    mutating func identify(_ peer: String, user: UInt32) {
        guard let place = peers.place(of: peer), case let account = peers[place], account.user != user else { return }
        for resource in PeerResource.allCases {
            let shared = shared(resource, account.amounts[resource])
            share(resource, -shared, of: account.user)
            share(resource, shared, of: user)
        }
        peers[place].user = user
    }
    func user(of peer: String) -> UInt32? { peers.place(of: peer).flatMap { peers[$0].user } }
    func isPresent(_ peer: String) -> Bool { peers.place(of: peer).map { peers[$0].isPresent } ?? false }
    var present: [String] { peers.entries.filter(\.value.isPresent).map(\.name) }
    /// Nobody is there, and nothing is held.
    var isEmpty: Bool { peers.isEmpty && users.isEmpty && all.isEmpty }

    // MARK: Amounts

    func held(_ resource: PeerResource, of peer: String) -> Int {
        peers.place(of: peer).map { peers[$0].amounts[resource] } ?? 0
    }
    /// Beyond the reserves of the user's peers.
    func held(_ resource: PeerResource, ofUser user: UInt32?) -> Int { users[user]?[resource] ?? 0 }
    /// Beyond the reserves of all peers.
    func held(_ resource: PeerResource) -> Int { all[resource] }

    /// Counts both parts, or none of them: then it throws why.
    mutating func take(_ part: Part, and other: Part? = nil, for peer: String) throws(PeerLedger.Refusal) {
        if let refusal = refusal(part, for: peer) ?? other.flatMap({ refusal($0, for: peer) }) { throw refusal }
        change(part.resource, by: part.amount, for: peer)
        if let other { change(other.resource, by: other.amount, for: peer) }
    }
    /// Counts both no longer.
    mutating func give(_ part: Part, and other: Part?, of peer: String) {
        change(part.resource, by: -part.amount, for: peer)
        if let other { change(other.resource, by: -other.amount, for: peer) }
    }
    /// Counts more or less, whatever the bounds.
    mutating func change(_ resource: PeerResource, by amount: Int, for peer: String) {
        if amount == 0 { return }
        let place = peers.place(of: peer, orMake: Account())
        let (after, user) = (peers[place].amounts.add(amount, of: resource), peers[place].user)
        if !peers[place].isNeeded { peers.remove(peer) }
        let shared = shared(resource, after) - shared(resource, after - amount)
        if shared == 0 { return }
        share(resource, shared, of: user)
        all.add(shared, of: resource)
    }
    /// Why a peer may not have so much more; nil if it may.
    func refusal(_ part: Part, for peer: String) -> PeerLedger.Refusal? {
        let (number, place) = (part.resource.rawValue, peers.place(of: peer))
        let own = place.map { peers[$0].amounts[part.resource] } ?? 0
        let isWithin = bounds[number].isMark ? own < bounds[number].peer : own + part.amount <= bounds[number].peer
        if isWithin && own + part.amount <= bounds[number].reserve { return nil }
        return isWithin
            ? refusal(part, beyond: own, of: place.flatMap { peers[$0].user })
            : refusal(part, .peer(peer), own, bounds[number].peer)
    }
    private func refusal(
        _ part: Part, _ holder: PeerLedger.Refusal.Holder, _ held: Int, _ bound: Int
    ) -> PeerLedger.Refusal {
        PeerLedger.Refusal(resource: part.resource, holder: holder, held: held, more: part.amount, bound: bound)
    }
    /// Of what is beyond a peer's reserve.
    private func refusal(_ part: Part, beyond own: Int, of user: UInt32?) -> PeerLedger.Refusal? {
        let bounds = bounds[part.resource.rawValue]
        let more = shared(part.resource, own + part.amount) - shared(part.resource, own)
        let ofUser = held(part.resource, ofUser: user)
        let (ofAll, total) = (held(part.resource), bounds.total)
        if case .upTo(let most) = bounds.user, ofUser + more > most { return refusal(part, .user(user), ofUser, most) }
        if ofAll + more > total { return refusal(part, .all, ofAll, total) }
        var left = total - ofAll - more
        if part.resource.unreadDescriptors > 0 {
            let each = part.resource.unreadDescriptors
            let rest = PeerResource.unreadDescriptors - unreadDescriptors - each * more
            if rest < 0 { return refusal(part, .all, ofAll, ofAll + (rest + each * more) / each) }
            left = min(left, rest / each)
        }
        if bounds.user == .twiceTheRest, ofUser > 0, ofUser + more > 2 * left {
            return refusal(part, .user(user), ofUser, 2 * (left + more) / 3)
        }
        return nil
    }
    private var unreadDescriptors: Int {
        PeerResource.allCases.reduce(0) { $0 + $1.unreadDescriptors * held($1) }
    }
    private func shared(_ resource: PeerResource, _ amount: Int) -> Int {
        max(0, amount - bounds[resource.rawValue].reserve)
    }
    private mutating func share(_ resource: PeerResource, _ amount: Int, of user: UInt32?) {
        if amount == 0 { return }
        users[user, default: Amounts()].add(amount, of: resource)
        if users[user]?.isEmpty == true { users[user] = nil }
    }
}
