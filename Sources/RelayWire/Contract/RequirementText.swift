/// A requirement as a contract's text has it: `group "operators" or (same-user and unit "shop.service")`.
extension PeerRequirement {
    var contractText: String { RequirementText.text(rule, isNested: false) }

    /// Whether every peer that meets the other requirement meets this one. False, too, where that is hard to know.
    package func admits(all other: PeerRequirement) -> Bool {
        if rule == other.rule { return true }
        let leaves = Array(Set(self.leaves + other.leaves)).filter { $0 != .anyone }
        // All combinations are looked at.
        if leaves.count > 12 { return false }
        for choice in 0..<1 << leaves.count {
            let met = Set(leaves.indices.filter { choice >> $0 & 1 == 1 }.map { leaves[$0] })
            if other.rule.isMet(by: met) && !rule.isMet(by: met) { return false }
        }
        return true
    }
}

extension PeerRequirement.Rule {
    fileprivate func isMet(by leaves: Set<Self>) -> Bool {
        switch self {
        case .anyone: true
        case .nobody: false
        case .all(let a, let b): a.isMet(by: leaves) && b.isMet(by: leaves)
        case .either(let a, let b): a.isMet(by: leaves) || b.isMet(by: leaves)
        default: leaves.contains(self)
        }
    }
}

enum RequirementText {
    fileprivate static func text(_ rule: PeerRequirement.Rule, isNested: Bool) -> String {
        switch rule {
        case .anyone: return "anyone"
        // Of a service that runs, and never of a contract.
        case .nobody: return "nobody"
        case .sameUser: return "same-user"
        case .user(let name): return "user \(QuotedText.quoted(name))"
        case .group(let name): return "group \(QuotedText.quoted(name))"
        case .securityLabel(let label): return "label \(QuotedText.quoted(label))"
        case .systemdUnit(let name): return "unit \(QuotedText.quoted(name))"
        case .polkit(let action): return "polkit \(QuotedText.quoted(action))"
        case .all(let a, let b):
            let text = (parts(a, isAll: true) + parts(b, isAll: true)).joined(separator: " and ")
            return isNested ? "(\(text))" : text
        case .either(let a, let b):
            let text = (parts(a, isAll: false) + parts(b, isAll: false)).joined(separator: " or ")
            return isNested ? "(\(text))" : text
        }
    }
    /// Of a chain of one kind, the parts; else one part.
    private static func parts(_ rule: PeerRequirement.Rule, isAll: Bool) -> [String] {
        switch rule {
        case .all(let a, let b) where isAll: parts(a, isAll: true) + parts(b, isAll: true)
        case .either(let a, let b) where !isAll: parts(a, isAll: false) + parts(b, isAll: false)
        default: [text(rule, isNested: true)]
        }
    }

    /// A whole text; nil if it is no requirement.
    static func requirement(_ text: Substring) -> PeerRequirement? {
        guard let (requirement, rest) = chain(text, depth: 0), rest.isEmpty else { return nil }
        return requirement
    }
    /// How deep parentheses may be.
    private static let deepest = 32

    private static func chain(_ text: Substring, depth: Int) -> (PeerRequirement, Substring)? {
        guard depth < deepest, var (result, rest) = term(text, depth: depth) else { return nil }
        let isAll = rest.hasPrefix(" and ")
        let word = isAll ? " and " : " or "
        while rest.hasPrefix(word) {
            guard let (next, behind) = term(rest.dropFirst(word.count), depth: depth) else { return nil }
            result = isAll ? result && next : result || next
            rest = behind
        }
        return (result, rest)
    }
    private static func term(_ text: Substring, depth: Int) -> (PeerRequirement, Substring)? {
        if text.hasPrefix("(") {
            guard let (inner, rest) = chain(text.dropFirst(), depth: depth + 1), rest.hasPrefix(")") else { return nil }
            return (inner, rest.dropFirst())
        }
        if text.hasPrefix("anyone") { return (.anyone, text.dropFirst(6)) }
        if text.hasPrefix("same-user") { return (.sameUser, text.dropFirst(9)) }
        let kinds: [(String, (String) -> PeerRequirement)] = [
            ("user ", PeerRequirement.user), ("group ", PeerRequirement.group),
            ("label ", PeerRequirement.securityLabel), ("unit ", PeerRequirement.systemdUnit),
            ("polkit ", { PeerRequirement.polkit(action: $0) }),
        ]
        for (kind, make) in kinds where text.hasPrefix(kind) {
            guard let (name, rest) = QuotedText.scan(text.dropFirst(kind.count)) else { return nil }
            return (make(name), rest)
        }
        return nil
    }
}
