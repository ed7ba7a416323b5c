/// A condition on a peer: who may call or subscribe, or who may be the owner of a followed name.
///
/// ```swift
/// static let requirement = PeerRequirement.sameUser || .group("operators")
/// ```
///
/// There is no negation: a failed look-up must never permit.
public struct PeerRequirement: Hashable, Sendable, CustomStringConvertible {
    package indirect enum Rule: Hashable, Sendable {
        case anyone, sameUser, user(String), group(String), securityLabel(String)
        case all(Rule, Rule), either(Rule, Rule)
    }
    package let rule: Rule

    /// Every peer that the bus admits.
    public static let anyone = Self(rule: .anyone)
    /// The user that this process runs as.
    public static let sameUser = Self(rule: .sameUser)
    /// One user.
    ///
    /// - Parameter name: the user's name, looked up when the service starts.
    public static func user(_ name: String) -> Self { Self(rule: .user(name)) }
    /// The members of a group, as the bus learnt them when the peer connected.
    ///
    /// - Parameter name: the group's name, looked up when the service starts.
    public static func group(_ name: String) -> Self { Self(rule: .group(name)) }
    /// A process with this label of the Linux security module.
    ///
    /// - Parameter label: the label, compared exactly.
    public static func securityLabel(_ label: String) -> Self { Self(rule: .securityLabel(label)) }
    /// Both requirements.
    public static func && (a: Self, b: Self) -> Self { Self(rule: .all(a.rule, b.rule)) }
    /// At least one of the two requirements.
    public static func || (a: Self, b: Self) -> Self { Self(rule: .either(a.rule, b.rule)) }

    /// Whether there is nothing to look up.
    package var isAnyone: Bool { rule == .anyone }
    /// Whether a broadcast on a bus of one user's own reaches nobody who may not receive it.
    package var admitsSameUser: Bool { rule == .anyone || rule == .sameUser }

    public var description: String { Self.text(rule) }
    package static func text(_ rule: Rule) -> String {
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
