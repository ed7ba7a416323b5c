/// Who may call, subscribe, or be believed.
///
/// There is no negation: a look-up that failed must never permit.
public struct PeerRequirement: Hashable, Sendable, CustomStringConvertible {
    private indirect enum Rule: Hashable, Sendable {
        case anyone, sameUser, user(String), group(String), securityLabel(String)
        case all(Rule, Rule), either(Rule, Rule)
    }
    private let rule: Rule

    /// Whoever the bus lets through.
    public static let anyone = Self(rule: .anyone)
    /// The user that this process runs as.
    public static let sameUser = Self(rule: .sameUser)
    /// A user by name.
    public static func user(_ name: String) -> Self { Self(rule: .user(name)) }
    /// The members of a group by name, as the bus learnt them when the peer connected.
    public static func group(_ name: String) -> Self { Self(rule: .group(name)) }
    /// A process with this label of the Linux security module.
    public static func securityLabel(_ label: String) -> Self { Self(rule: .securityLabel(label)) }
    /// Both.
    public static func && (a: Self, b: Self) -> Self { Self(rule: .all(a.rule, b.rule)) }
    /// One of the two.
    public static func || (a: Self, b: Self) -> Self { Self(rule: .either(a.rule, b.rule)) }

    /// Whether there is nothing to look up.
    package var isAnyone: Bool { rule == .anyone }
    /// Whether a broadcast on a bus of one user's own tells nobody who may not know.
    package var admitsSameUser: Bool { rule == .anyone || rule == .sameUser }

    /// Whether a peer meets it; nil if that depends on a name that could not be looked up.
    package func verdict(on peer: PeerCredentials, accounts: some AccountDirectory) -> Bool? {
        Self.verdict(rule, peer, accounts)
    }
    /// What could not be looked up is not met.
    package func isMet(by peer: PeerCredentials, accounts: some AccountDirectory) -> Bool {
        verdict(on: peer, accounts: accounts) == true
    }
    private static func verdict(_ rule: Rule, _ peer: PeerCredentials, _ accounts: some AccountDirectory) -> Bool? {
        func isOne(_ account: Account, _ fits: (UInt32) -> Bool) -> Bool? {
            switch account {
            case .found(let id): fits(id)
            case .missing: false
            case .unknown: nil
            }
        }
        switch rule {
        case .anyone: return true
        case .sameUser: return peer.userID == accounts.ownUserID
        case .user(let name):
            return peer.userID == nil ? false : isOne(accounts.user(named: name)) { $0 == peer.userID }
        case .group(let name): return isOne(accounts.group(named: name)) { peer.groupIDs.contains($0) }
        case .securityLabel(let label): return peer.securityLabel == label
        case .all(let a, let b):
            let both = [verdict(a, peer, accounts), verdict(b, peer, accounts)]
            return both.contains(false) ? false : both.contains(nil) ? nil : true
        case .either(let a, let b):
            let both = [verdict(a, peer, accounts), verdict(b, peer, accounts)]
            return both.contains(true) ? true : both.contains(nil) ? nil : false
        }
    }

    /// Asks for every name that it has, so that a cache knows them. Returns those that there are not, or that cannot be looked up.
    @discardableResult package func lookUp(in accounts: some AccountDirectory) -> [String] {
        Self.lookUp(rule, accounts)
    }
    private static func lookUp(_ rule: Rule, _ accounts: some AccountDirectory) -> [String] {
        func name(_ account: Account) -> [String] {
            if case .found = account { [] } else { [text(rule)] }
        }
        switch rule {
        case .user(let user): return name(accounts.user(named: user))
        case .group(let group): return name(accounts.group(named: group))
        case .all(let a, let b), .either(let a, let b): return lookUp(a, accounts) + lookUp(b, accounts)
        case .anyone, .sameUser, .securityLabel: return []
        }
    }

    public var description: String { Self.text(rule) }
    private static func text(_ rule: Rule) -> String {
        switch rule {
        case .anyone: "anyone"
        case .sameUser: "the same user"
        case .user(let name): "user '\(name)'"
        case .group(let name): "group '\(name)'"
        case .securityLabel(let label): "security label '\(label)'"
        case .all(let a, let b): "(\(text(a)) and \(text(b)))"
        case .either(let a, let b): "(\(text(a)) or \(text(b)))"
        }
    }
}
