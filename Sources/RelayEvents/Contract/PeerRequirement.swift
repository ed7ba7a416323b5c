/// A condition on a peer: who may call or subscribe, or who may be the owner of a followed name.
///
/// ```swift
/// static let requirement = PeerRequirement.sameUser || .group("operators")
/// ```
///
/// There is no negation, because a failed look-up must never permit anything.
public struct PeerRequirement: Hashable, Sendable, CustomStringConvertible {
    package indirect enum Rule: Hashable, Sendable {
        case anyone, sameUser, user(String), group(String), securityLabel(String)
        case systemdUnit(String), polkit(String)
        case all(Rule, Rule), either(Rule, Rule)
        /// In place of what cannot be examined.
        case nobody
    }
    package let rule: Rule

    /// Every peer that the bus admits.
    public static let anyone = Self(rule: .anyone)
    /// Peers of the user that this process runs as.
    public static let sameUser = Self(rule: .sameUser)
    /// One user.
    ///
    /// - Parameter name: the user's name, looked up when the service starts.
    public static func user(_ name: String) -> Self { Self(rule: .user(name)) }
    /// Peers whose user was a member of a group when they connected to the bus.
    ///
    /// - Parameter name: the group's name, looked up when the service starts.
    public static func group(_ name: String) -> Self { Self(rule: .group(name)) }
    /// Processes with this label of the Linux security module.
    ///
    /// - Parameter label: the label, compared exactly.
    public static func securityLabel(_ label: String) -> Self { Self(rule: .securityLabel(label)) }
    /// Processes of one unit of the system's systemd, for example `backup.service`.
    ///
    /// This requires a bus that reports a descriptor of each peer's process (`ProcessFD`): dbus-daemon 1.16,
    /// dbus-broker 34 or later, on Linux 6.5 or later. With an older bus or kernel, as in Debian 12, a service refuses
    /// to start, and a relay refuses to follow. Users can give their own units any name, so each process of a user's
    /// manager counts as part of the unit `user@<uid>.service`.
    ///
    /// - Parameter name: the unit's whole name, with its suffix.
    public static func systemdUnit(_ name: String) -> Self { Self(rule: .systemdUnit(name)) }
    /// Peers that polkit authorises for an action, by the administrator's rules. For services on the system bus.
    ///
    /// The service asks polkit at each call, and keeps no answer. polkit may prompt a person for a command, but not for
    /// anything else. While that command waits, the peer's later commands run. When an authorisation is withdrawn, the
    /// peer receives no more events.
    ///
    /// The action is declared in a file under `/usr/share/polkit-1/actions`: see docs/OPERATING.md.
    ///
    /// - Parameter action: the action's id: `org.example.printer.manage`.
    public static func polkit(action: String) -> Self { Self(rule: .polkit(action)) }
    /// Both requirements.
    public static func && (a: Self, b: Self) -> Self { Self(rule: .all(a.rule, b.rule)) }
    /// At least one of the two requirements.
    public static func || (a: Self, b: Self) -> Self { Self(rule: .either(a.rule, b.rule)) }

    /// The same, for the peers of another host than it was made for: units and labels of this one are others.
    package var onAnotherHost: Self { Self(rule: Self.onAnotherHost(rule)) }
    private static func onAnotherHost(_ rule: Rule) -> Rule {
        switch rule {
        case .systemdUnit, .securityLabel: .nobody
        case .all(let a, let b): .all(onAnotherHost(a), onAnotherHost(b))
        case .either(let a, let b): .either(onAnotherHost(a), onAnotherHost(b))
        default: rule
        }
    }
    /// Whether there is nothing to look up.
    package var isAnyone: Bool { rule == .anyone }
    /// Whether a broadcast on a bus of one user's own reaches nobody who may not receive it.
    package var admitsSameUser: Bool { rule == .anyone || rule == .sameUser }

    /// Its parts that are no combination.
    package var leaves: [Rule] { Self.leaves(rule) }
    private static func leaves(_ rule: Rule) -> [Rule] {
        switch rule {
        case .all(let a, let b), .either(let a, let b): leaves(a) + leaves(b)
        default: [rule]
        }
    }
    /// Whether a peer's unit has to be known.
    package var needsUnit: Bool { leaves.contains { if case .systemdUnit = $0 { true } else { false } } }
    /// Whether polkit may have to be asked.
    package var needsPolkit: Bool { leaves.contains { if case .polkit = $0 { true } else { false } } }

    public var description: String { Self.text(rule) }
    package static func text(_ rule: Rule) -> String {
        switch rule {
        case .anyone: "anyone"
        case .nobody: "what only another host can examine"
        case .sameUser: "the same user"
        case .user(let name): "user '\(name)'"
        case .group(let name): "group '\(name)'"
        case .securityLabel(let label): "security label '\(label)'"
        case .systemdUnit(let name): "systemd unit '\(name)'"
        case .polkit(let action): "polkit action '\(action)'"
        case .all(let a, let b): "(\(text(a)) and \(text(b)))"
        case .either(let a, let b): "(\(text(a)) or \(text(b)))"
        }
    }
}
