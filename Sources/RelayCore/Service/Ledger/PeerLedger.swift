import Synchronization

/// One ledger of what all peers hold of a service. From any thread.
///
/// The value that stands for what is held has its charge as well: dropping the one gives the other back. So what is
/// counted is the sum of the charges, and each is given back once.
final class PeerLedger: Sendable {
    private let accounts: Mutex<PeerAccounts>

    init(_ accounts: PeerAccounts = PeerAccounts()) { self.accounts = Mutex(accounts) }

    /// What a peer holds: counted as long as it lives.
    final class Charge: Sendable {
        let peer: String
        /// Counted before it was known whose the peer is.
        private let wasUnknown: Bool
        private let ledger: PeerLedger
        private let part: Mutex<PeerAccounts.Part>
        private let other: PeerAccounts.Part?

        fileprivate init(
            _ ledger: PeerLedger, _ part: PeerAccounts.Part, _ other: PeerAccounts.Part?, _ peer: String,
            wasUnknown: Bool
        ) {
            (self.ledger, self.peer, self.wasUnknown) = (ledger, peer, wasUnknown)
            self.part = Mutex(part)
            self.other = other
        }
        deinit {
            let part = part.withLock { $0 }
            ledger.accounts.withLock { $0.give(part, and: other, of: peer) }
        }
        /// Its first one.
        var resource: PeerResource { part.withLock { $0.resource } }
        /// Of its first resource.
        var amount: Int { part.withLock { $0.amount } }
        /// Counts so much of its first resource instead. Throws, and changes nothing, if that is too much.
        func change(to amount: Int) throws(Refusal) {
            try part.withLock { part throws(Refusal) in
                let more = PeerAccounts.Part(resource: part.resource, amount: amount - part.amount)
                try ledger.accounts.withLock { accounts throws(Refusal) in
                    if more.amount > 0, let refusal = accounts.refusal(more, for: peer) { throw refusal }
                    accounts.change(more.resource, by: more.amount, for: peer)
                }
                part.amount = amount
            }
        }
        /// Counts more of its first resource, or less, whatever the bounds: it is there, or gone, already.
        func add(_ amount: Int) {
            part.withLock { part in
                ledger.accounts.withLock { $0.change(part.resource, by: amount, for: peer) }
                part.amount += amount
            }
        }
        /// Why its peer's user may not have it, now that it is known who that is; nil if it may.
        var refusalAsKnown: Refusal? {
            guard wasUnknown else { return nil }
            let part = part.withLock { $0 }
            return ledger.accounts.withLock { accounts in
                if accounts.user(of: peer) == nil { return nil }
                // As if it came now.
                accounts.give(part, and: other, of: peer)
                defer {
                    accounts.change(part.resource, by: part.amount, for: peer)
                    if let other { accounts.change(other.resource, by: other.amount, for: peer) }
                }
                return accounts.refusal(part, for: peer) ?? other.flatMap { accounts.refusal($0, for: peer) }
            }
        }
    }
    /// Why a peer gets no more: what of, who has it, and how much that one may have.
    struct Refusal: Error, Hashable {
        enum Holder: Hashable, Sendable {
            case peer(String)
            case user(UInt32?)
            case all
        }
        let resource: PeerResource
        let holder: Holder
        let held: Int
        let more: Int
        let bound: Int

        var message: String {
            let bounds = resource.bounds
            let holder =
                switch holder {
                case .peer(let name): "\(name) has"
                case .user(let user?): "the peers of user \(user) have"
                case .user(nil): "the peers whose user is not known have"
                case .all: "all peers have"
                }
            let (held, bound) = (bounds.text(held), bounds.text(bound))
            return "\(bounds.what): \(holder) \(held) of at most \(bound): wait until some are done"
        }
        var error: RelayError { RelayError(.limitsExceeded, message) }
    }

    // MARK: Charging

    func charge(_ resource: PeerResource, _ amount: Int = 1, to peer: String) throws(Refusal) -> Charge {
        try charge(PeerAccounts.Part(resource: resource, amount: amount), to: peer)
    }
    /// A call that waits, and its arguments.
    func charge(
        call: PeerResource, arguments: PeerResource, _ bytes: Int, to peer: String
    ) throws(Refusal) -> Charge {
        try charge(
            PeerAccounts.Part(resource: call, amount: 1), and: PeerAccounts.Part(resource: arguments, amount: bytes),
            to: peer)
    }
    /// Of nothing, to begin with: what is sent is counted, whatever the bounds.
    func charge(growing resource: PeerResource, of peer: String) -> Charge {
        Charge(self, PeerAccounts.Part(resource: resource, amount: 0), nil, peer, wasUnknown: false)
    }
    private func charge(
        _ part: PeerAccounts.Part, and other: PeerAccounts.Part? = nil, to peer: String
    ) throws(Refusal) -> Charge {
        let wasUnknown = try accounts.withLock { accounts throws(Refusal) in
            try accounts.take(part, and: other, for: peer)
            return accounts.user(of: peer) == nil
        }
        return Charge(self, part, other, peer, wasUnknown: wasUnknown)
    }
    /// Why a peer may not have so much more; nil if it may.
    func refusal(_ resource: PeerResource, _ amount: Int, for peer: String) -> Refusal? {
        accounts.withLock { $0.refusal(PeerAccounts.Part(resource: resource, amount: amount), for: peer) }
    }

    // MARK: Peers

    func arrive(_ peer: String) { accounts.withLock { $0.arrive(peer) } }
    func depart(_ peer: String) { accounts.withLock { $0.depart(peer) } }
    func identify(_ peer: String, user: UInt32?) {
        if let user { accounts.withLock { $0.identify(peer, user: user) } }
    }
    func isPresent(_ peer: String) -> Bool { accounts.withLock { $0.isPresent(peer) } }
    var present: [String] { accounts.withLock { $0.present } }
    var isEmpty: Bool { accounts.withLock { $0.isEmpty } }

    func held(_ resource: PeerResource, of peer: String) -> Int { accounts.withLock { $0.held(resource, of: peer) } }
    func held(_ resource: PeerResource, ofUser user: UInt32?) -> Int {
        accounts.withLock { $0.held(resource, ofUser: user) }
    }
    func held(_ resource: PeerResource) -> Int { accounts.withLock { $0.held(resource) } }
}
