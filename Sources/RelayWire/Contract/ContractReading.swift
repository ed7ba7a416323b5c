/// What two versions of a list of fields are to each other.
struct ContractReading {
    typealias Effect = ContractChange.Effect
    private let old: [WireField]
    private let new: [WireField]
    /// For messages.
    private let name: String

    init(_ old: [WireField], _ new: [WireField], of name: String) { (self.old, self.new, self.name) = (old, new, name) }

    /// Old programs get what new ones write: they read it, or they are asked by it.
    func newToOld(
        _ rule: WireTranslation.Rule, _ party: ContractChange.Party, by consequence: String, case rest: String
    ) -> [Effect] {
        faults(from: new, to: old, rule).map { Effect(party, "\(consequence): \($0)") }
            + cases(in: new, beyond: old).map { Effect(party, breaks: false, "\($0) is unknown: \(rest)") }
    }
    /// New programs get what old ones write, or wrote.
    func oldToNew(
        _ rule: WireTranslation.Rule, _ party: ContractChange.Party, by consequence: String, case rest: String
    ) -> [Effect] {
        faults(from: old, to: new, rule).map { Effect(party, "\(consequence): \($0)") }
            + cases(in: old, beyond: new).map { Effect(party, "\($0) is gone: \(rest); keep the case") }
    }
    /// Programs of either version submit a document to a service of the other.
    var submitted: [Effect] {
        let refused = "submissions of \(name) are refused"
        func carried(_ fields: [WireField], _ others: [WireField]) -> [WireField] {
            fields + zip(others, WireTranslation.matches(from: fields, to: others)).compactMap { $1 == nil ? $0 : nil }
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
        zip(fields, WireTranslation.matches(from: others, to: fields)).flatMap {
            field, match -> [(WireField, WireField, path: String)] in
            guard let match else { return [] }
            let (other, path) = (others[match], path + field.name)
            return [(field, other, path)] + pairs(field.type.innerFields, other.type.innerFields, path + ".")
        }
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
