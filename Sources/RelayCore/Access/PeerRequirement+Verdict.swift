extension PeerRequirement {
    /// What is known of a peer and a requirement.
    package enum Decision: Hashable, Sendable {
        case met, notMet
        /// It depends on something that cannot be found out now: this.
        case unknown(String)
        /// It depends on what polkit says of this action.
        case ask(action: String)
    }
    /// Whether a peer meets it.
    ///
    /// polkit is not asked before the rest leaves it open, and not about more than one action at a time.
    ///
    /// - Parameter answers: what polkit has said of the peer for this call, by action.
    package func decision(
        on peer: PeerCredentials, accounts: some AccountDirectory, answers: [String: Bool] = [:]
    ) -> Decision {
        Self.decision(rule, peer, accounts, answers)
    }
    /// Whether a peer meets it; nil if that depends on something that is not known. polkit is not asked.
    package func verdict(on peer: PeerCredentials, accounts: some AccountDirectory) -> Bool? {
        switch decision(on: peer, accounts: accounts) {
        case .met: true
        case .notMet: false
        case .unknown, .ask: nil
        }
    }
    /// What could not be looked up is not met.
    package func isMet(by peer: PeerCredentials, accounts: some AccountDirectory) -> Bool {
        verdict(on: peer, accounts: accounts) == true
    }
    private static func decision(
        _ rule: Rule, _ peer: PeerCredentials, _ accounts: some AccountDirectory, _ answers: [String: Bool]
    ) -> Decision {
        func isOne(_ account: Account, _ fits: (UInt32) -> Bool) -> Decision {
            switch account {
            case .found(let id): fits(id) ? .met : .notMet
            case .missing: .notMet
            case .unknown: .unknown("\(text(rule)) cannot be looked up now")
            }
        }
        switch rule {
        case .anyone: return .met
        case .nobody: return .notMet
        case .sameUser: return peer.userID == accounts.ownUserID ? .met : .notMet
        case .user(let name):
            return peer.userID == nil ? .notMet : isOne(accounts.user(named: name)) { $0 == peer.userID }
        case .group(let name): return isOne(accounts.group(named: name)) { peer.groupIDs.contains($0) }
        case .securityLabel(let label): return peer.securityLabel == label ? .met : .notMet
        case .systemdUnit(let name):
            switch peer.unit {
            case .one(let unit): return unit == name ? .met : .notMet
            case .none: return .notMet
            case .unknown(let reason): return .unknown("the peer's unit is not known: \(reason)")
            }
        case .polkit(let action): return answers[action].map { $0 ? .met : .notMet } ?? .ask(action: action)
        case .all(let a, let b):
            let both = [decision(a, peer, accounts, answers), decision(b, peer, accounts, answers)]
            if both.contains(.notMet) { return .notMet }
            // Nothing that polkit says makes up for what is not known.
            return both.first { $0.isUnknown } ?? both.first { $0 != .met } ?? .met
        case .either(let a, let b):
            let both = [decision(a, peer, accounts, answers), decision(b, peer, accounts, answers)]
            if both.contains(.met) { return .met }
            return both.first { $0.isQuestion } ?? both.first { $0.isUnknown } ?? .notMet
        }
    }

    /// Throws `InvalidArgument` for the name of an action or a unit that nothing can have.
    package func check() throws(RelayError) {
        for leaf in leaves {
            switch leaf {
            case .polkit(let action):
                let isAction = !action.isEmpty && action.utf8.count <= 255 && action.utf8.allSatisfy(Self.isActionByte)
                if !isAction {
                    throw RelayError(
                        .invalidArgument,
                        "'\(action)' is no polkit action: its id has letters, digits, dots and hyphens")
                }
            case .systemdUnit(let unit) where !UnitName.isUnit(unit):
                throw RelayError(
                    .invalidArgument, "'\(unit)' is no systemd unit: a whole name ends in '.service' or '.scope'")
            default: break
            }
        }
    }
    private static func isActionByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Asks for every name that it has, so that a cache knows them. Returns those that there are not, or that cannot be
    /// looked up.
    @discardableResult package func lookUp(in accounts: some AccountDirectory) -> [String] {
        func name(_ account: Account, _ leaf: Rule) -> [String] {
            if case .found = account { [] } else { [Self.text(leaf)] }
        }
        return leaves.flatMap { leaf in
            switch leaf {
            case .user(let user): name(accounts.user(named: user), leaf)
            case .group(let group): name(accounts.group(named: group), leaf)
            default: [String]()
            }
        }
    }
}

extension PeerRequirement.Decision {
    fileprivate var isUnknown: Bool { if case .unknown = self { true } else { false } }
    fileprivate var isQuestion: Bool { if case .ask = self { true } else { false } }
}
