/// A difference between two versions of a contract, and what it means for programs that meet the other version.
///
/// ```
/// event OrderPlaced is changed:
///   - field total x
///   + field total d
///   breaks old front ends: …
/// ```
public struct ContractChange: Hashable, Sendable, CustomStringConvertible {
    /// What happened to a member. More may be added: compare kinds, and never switch over them without a default.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Only the new version has it.
        public static let added = Self(rawValue: "added")
        /// Only the old version has it.
        public static let removed = Self(rawValue: "removed")
        /// Both versions have it, in different forms.
        public static let changed = Self(rawValue: "changed")
    }
    /// Who meets the other version. More may be added.
    public struct Party: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Front ends of the old version, with a service of the new one.
        public static let oldFrontEnds = Self(rawValue: "old front ends")
        /// Front ends of the new version, with a service of the old one.
        public static let newFrontEnds = Self(rawValue: "new front ends")
        /// What services of the old version have written, with a service and front ends of the new one.
        public static let journal = Self(rawValue: "the journal")
    }
    /// What a change means for one party.
    public struct Effect: Hashable, Sendable, CustomStringConvertible {
        /// Who meets it.
        public let party: Party
        /// Whether something that worked fails.
        public let breaks: Bool
        /// What fails or differs, and what to do instead.
        public let message: String

        package init(_ party: Party, breaks: Bool = true, _ message: String) {
            (self.party, self.breaks, self.message) = (party, breaks, message)
        }
        public var description: String { "\(breaks ? "breaks" : "note for") \(party.rawValue): \(message)" }
    }
    /// What happened.
    public let kind: Kind
    /// The event, document or command; the interface's own name if its durability or requirement has changed.
    public let member: String
    /// The lines of the contract's text that only one version has: behind `- ` those of the old one, behind `+ ` those
    /// of the new one.
    public let lines: [String]
    /// What the change means, for those whom it affects.
    public let effects: [Effect]
    /// Whether something that worked with the other version fails.
    public var breaks: Bool { effects.contains(where: \.breaks) }

    /// What the member is: `event`, `document`, `command` or `interface`.
    let what: String

    package init(_ kind: Kind, _ what: String, _ member: String, lines: [String], effects: [Effect]) {
        (self.kind, self.what, self.member, self.lines) = (kind, what, member, lines)
        var seen: Set<Effect> = []
        self.effects = effects.filter { seen.insert($0).inserted }
    }
    /// A whole interface is gone.
    package static func removal(of contract: ContractText) -> Self {
        Self(
            .removed, "interface", contract.name, lines: ContractComparison.difference(contract.lines, []),
            effects: [Effect(.oldFrontEnds, "\(contract.name) is gone: serve it as long as they use it")])
    }
    public var description: String {
        let notes = effects.isEmpty ? ["breaks nothing"] : effects.map(\.description)
        return (["\(what) \(member) is \(kind.rawValue):"] + (lines + notes).map { "  " + $0 }).joined(separator: "\n")
    }
}
