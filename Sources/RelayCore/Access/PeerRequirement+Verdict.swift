extension PeerRequirement {
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

    /// Asks for every name that it has, so that a cache knows them. Returns those that there are not, or that cannot be
    /// looked up.
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
}
