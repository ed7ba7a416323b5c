/// A named field of an event, command, reply, nested struct or payload.
public struct WireField: Hashable, Sendable, CustomStringConvertible {
    /// As in Swift, and as the argument's name on D-Bus.
    public let name: String
    /// What travels.
    package let type: WireType
    /// The names that it had in earlier versions, sorted: see ``RenamedFields``. Not compared.
    package let formerNames: [String]
    /// For messages to people; empty where only the shape is known. Not compared.
    package let swiftType: String
    /// Where its values are of an enum: the names of the cases. Not compared.
    package let cases: [WireCase]
    /// Whether its values have a `Set` in them, whose elements are encoded in an order of the process. Not compared.
    package let hasSets: Bool
    /// Whether there is a type of another library in it, which travels as one of ours (`WireRepresented`). Not compared.
    let hasForeign: Bool

    package init(
        name: String, type: WireType, formerNames: [String] = [], swiftType: String = "", cases: [WireCase] = [],
        hasSets: Bool = false
    ) {
        self.init(
            name: name, type: type, formerNames: formerNames, swiftType: swiftType, cases: cases, hasSets: hasSets,
            hasForeign: false)
    }
    init(
        name: String, type: WireType, formerNames: [String] = [], swiftType: String, cases: [WireCase],
        hasSets: Bool, hasForeign: Bool
    ) {
        (self.name, self.type, self.swiftType, self.cases) = (name, type, swiftType, cases)
        (self.formerNames, self.hasSets, self.hasForeign) = (formerNames.sorted(), hasSets, hasForeign)
    }
    /// Reads a description or a contract's text, which may come from anywhere. Throws `.invalidArgument` with the place
    /// and the reason.
    package init(parsing description: String) throws(RelayError) {
        var parser = ShapeParser(description)
        self = try parser.wholeField()
    }
    /// `name:shape`, where the shape is as in a contract: `title:?s`.
    public var description: String { text(withFormerNames: false) }
    /// `name|former|former:shape`, and so in nested fields: what a contract says of it.
    package var contractText: String { text(withFormerNames: true) }

    func text(withFormerNames: Bool) -> String {
        let names = withFormerNames ? ([name] + formerNames).joined(separator: "|") : name
        return names + ":" + type.text(withFormerNames: withFormerNames)
    }
    func named(formerly names: [String]) -> Self {
        Self(
            name: name, type: type, formerNames: names, swiftType: swiftType, cases: cases, hasSets: hasSets,
            hasForeign: hasForeign)
    }

    package var isOptional: Bool { if case .optional = type { true } else { false } }

    public static func == (a: Self, b: Self) -> Bool { a.name == b.name && a.type == b.type }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(type)
    }
}

extension [WireField] {
    /// The fields' types one after the other, as in a message's body.
    package var signature: String { map(\.type.signature).joined() }
}
