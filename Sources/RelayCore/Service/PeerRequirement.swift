/// Who may call or subscribe.
public struct PeerRequirement: Sendable {
    package indirect enum Rule: Sendable {
        case anyone, sameUser, user(String), group(String), systemdUnit(String), executable(String), securityLabel(
            String)
        case polkit(action: String), all(Rule, Rule), either(Rule, Rule)
    }
    package let rule: Rule
    public static let anyone = Self(rule: .anyone)
    public static let sameUser = Self(rule: .sameUser)
    public static func user(_ name: String) -> Self { Self(rule: .user(name)) }
    public static func group(_ name: String) -> Self { Self(rule: .group(name)) }
    public static func systemdUnit(_ name: String) -> Self { Self(rule: .systemdUnit(name)) }
    public static func executable(_ path: String) -> Self { Self(rule: .executable(path)) }
    public static func securityLabel(_ label: String) -> Self { Self(rule: .securityLabel(label)) }
    public static func polkit(action: String) -> Self { Self(rule: .polkit(action: action)) }
    public static func && (a: Self, b: Self) -> Self { Self(rule: .all(a.rule, b.rule)) }
    public static func || (a: Self, b: Self) -> Self { Self(rule: .either(a.rule, b.rule)) }
}
