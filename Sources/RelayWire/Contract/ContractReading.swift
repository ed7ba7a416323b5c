/// What two versions of a list of fields are to each other.
struct ContractReading {
    typealias Effect = ContractChange.Effect
    private let old: [WireField]
    private let new: [WireField]
    /// For messages.
    private let name: String

    init(_ old: [WireField], _ new: [WireField], of name: String) { (self.old, self.new, self.name) = (old, new, name) }

    /// Old programs read what new ones write.
    func read(_ party: ContractChange.Party, by consequence: String, case rest: String) -> [Effect] {
        faults(from: new, to: old, .reading).map { Effect(party, "\(consequence): \($0)") }
            + cases(in: new, beyond: old).map { Effect(party, breaks: false, "\($0) is unknown: \(rest)") }
    }
    /// New programs read what old ones write, or wrote.
    func written(_ party: ContractChange.Party, by consequence: String, case rest: String) -> [Effect] {
        faults(from: old, to: new, .reading).map { Effect(party, "\(consequence): \($0)") }
            + cases(in: old, beyond: new).map { Effect(party, "\($0) is gone: \(rest); keep the case") }
    }
    /// Old programs ask new ones.
    func asked(_ party: ContractChange.Party, by consequence: String, case rest: String) -> [Effect] {
        faults(from: old, to: new, .asking).map { Effect(party, "\(consequence): \($0)") }
            + cases(in: old, beyond: new).map { Effect(party, "\($0) is gone: \(rest); keep the case") }
    }
    /// New programs ask old ones.
    func asking(_ party: ContractChange.Party, by consequence: String, case rest: String) -> [Effect] {
        faults(from: new, to: old, .asking).map { Effect(party, "\(consequence): \($0)") }
            + cases(in: new, beyond: old).map { Effect(party, breaks: false, "\($0) is unknown: \(rest)") }
    }
    /// Programs of either version submit a document to a service of the other.
    var submitted: [Effect] {
        let refused = "submissions of \(name) are refused"
        func carried(_ fields: [WireField], _ others: [WireField]) -> [WireField] {
            fields + others.filter { other in !fields.contains { $0.isSame(as: other) } }
        }
        return faults(from: carried(old, new), to: new, .asking).map { Effect(.oldFrontEnds, "\(refused): \($0)") }
            + faults(from: carried(new, old), to: old, .asking).map { Effect(.newFrontEnds, "\(refused): \($0)") }
    }
    /// Former names that are no longer declared: something older may still have them.
    func formerNames(_ party: ContractChange.Party) -> [Effect] {
        pairs(old, new, "").flatMap { former, present, path in
            former.formerNames.filter { !($0 == present.name || present.formerNames.contains($0)) }.map { name in
                Effect(
                    party,
                    "\(self.name), field '\(path)': what was sent or kept under its former name '\(name)' is not read: keep "
                        + "the former name until there is nothing left")
            }
        }
    }

    // MARK: Translations

    /// Why one cannot be made of the other: a sentence for each field.
    private func faults(from sender: [WireField], to receiver: [WireField], _ rule: WireTranslation.Rule) -> [String] {
        func fault(_ receiver: [WireField], _ rule: WireTranslation.Rule) -> String? {
            do throws(RelayError) {
                _ = try WireTranslation(from: sender, to: receiver, rule, of: name)
                return nil
            } catch { return error.message }
        }
        let faults = receiver.compactMap { fault([$0], .reading) }
        return faults.isEmpty ? [fault(receiver, rule)].compactMap { $0 } : faults
    }

    // MARK: Cases

    /// The cases that one version's enums have, and the other's lack: with their places.
    private func cases(in fields: [WireField], beyond others: [WireField]) -> [String] {
        pairs(fields, others, "").flatMap { field, other, path in
            // An enum that does not list its cases says nothing of them.
            let missing =
                field.cases.isEmpty || other.cases.isEmpty
                ? [] : field.cases.filter { value in !other.cases.contains { $0.raw == value.raw } }.map(\.name)
            return (missing + field.type.cases(beyond: other.type)).map { "the case '\($0)' of '\(path)'" }
        }
    }
    /// The fields that two lists have in common, and those within them.
    private func pairs(
        _ fields: [WireField], _ others: [WireField], _ path: String
    ) -> [(WireField, WireField, path: String)] {
        fields.flatMap { field -> [(WireField, WireField, path: String)] in
            guard let other = others.first(where: { $0.name == field.name }) ?? others.first(where: field.isSame)
            else { return [] }
            let path = path + field.name
            let inner = field.type.parts.flatMap { part in
                other.type.parts.filter { $0.path == part.path }.flatMap {
                    pairs(part.fields, $0.fields, "\(path).\(part.path)")
                }
            }
            return [(field, other, path)] + inner
        }
    }
}

extension WireField {
    /// Whether two versions of a list mean the same field, by its names.
    func isSame(as other: WireField) -> Bool {
        name == other.name || formerNames.contains(other.name) || other.formerNames.contains(name)
    }
}

extension WireType {
    /// The cases of an enum with payloads that another version of it lacks.
    fileprivate func cases(beyond other: WireType) -> [String] {
        switch (self, other) {
        case (.array(let a), .array(let b)), (.optional(let a), .optional(let b)),
            (.dictionary(_, let a), .dictionary(_, let b)):
            a.cases(beyond: b)
        case (.tagged(let a), .tagged(let b)):
            a.map(\.name).filter { name in !b.contains { $0.name == name } }
        default: []
        }
    }
}
