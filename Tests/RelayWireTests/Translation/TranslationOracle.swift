@testable import RelayWire

/// What PROTOCOL says of two versions of a contract, done on values: slow, plain, and with none of the library's code.
struct TranslationOracle {
    struct Refused: Error {}
    let rule: WireTranslation.Rule

    /// Whether the two can be connected at all.
    func connects(_ theirs: [WireField], _ ours: [WireField]) -> Bool {
        let pairs = pairs(theirs, ours)
        for field in ours {
            guard let partner = pairs.first(where: { $0.ours == field.name })?.theirs else {
                if !isOptional(field.type) { return false }
                continue
            }
            guard let source = theirs.first(where: { $0.name == partner }) else { return false }
            if !connects(source.type, field.type) { return false }
        }
        if rule == .reading { return true }
        return theirs.allSatisfy { field in
            pairs.contains { $0.theirs == field.name } || isOptional(field.type)
        }
    }
    private func connects(_ theirs: WireType, _ ours: WireType) -> Bool {
        switch (theirs, ours) {
        case (.array(let a), .array(let b)), (.optional(let a), .optional(let b)): connects(a, b)
        case (.dictionary(let k, let a), .dictionary(let l, let b)): k.shape == l.shape && connects(a, b)
        case (.structure(let a), .structure(let b)): connects(a, b)
        case (.tagged(let a), .tagged(let b)):
            a.allSatisfy { variant in
                b.filter { $0.name == variant.name }.allSatisfy { connects(variant.fields, $0.fields) }
            }
        default: theirs.shape == ours.shape
        }
    }
    private func isOptional(_ type: WireType) -> Bool { type.shape.hasPrefix("?") }

    /// Names that belong together: the same ones, then those where one side knows the other's as a former one.
    private func pairs(_ theirs: [WireField], _ ours: [WireField]) -> [(theirs: String, ours: String)] {
        var pairs = ours.filter { own in theirs.contains { $0.name == own.name } }.map {
            (theirs: $0.name, ours: $0.name)
        }
        for own in ours where !pairs.contains(where: { $0.ours == own.name }) {
            for their in theirs where !pairs.contains(where: { $0.theirs == their.name }) {
                if own.formerNames.contains(their.name) || their.formerNames.contains(own.name) {
                    pairs.append((their.name, own.name))
                    break
                }
            }
        }
        return pairs
    }

    /// What the receiver gets of the sender's values, which are connected.
    func moved(_ values: [DBusValue], _ theirs: [WireField], _ ours: [WireField]) throws(Refused) -> [DBusValue] {
        let pairs = pairs(theirs, ours)
        var named: [String: (WireType, DBusValue)] = [:]
        for (field, value) in zip(theirs, values) { named[field.name] = (field.type, value) }
        if rule == .asking {
            for field in theirs where !pairs.contains(where: { $0.theirs == field.name }) {
                if let (_, value) = named[field.name], !isNothing(value) { throw Refused() }
            }
        }
        var result: [DBusValue] = []
        for field in ours {
            if let partner = pairs.first(where: { $0.ours == field.name })?.theirs, let found = named[partner] {
                result.append(try moved(found.1, found.0, field.type))
            } else if case .optional(let wrapped) = field.type {
                result.append(wrapped == .byte ? .bytes([]) : .array(ContractPair.dbus(wrapped), []))
            }
        }
        return result
    }
    private func isNothing(_ value: DBusValue) -> Bool {
        switch value {
        case .bytes(let bytes): bytes.isEmpty
        case .array(_, let values): values.isEmpty
        default: false
        }
    }
    private func moved(_ value: DBusValue, _ theirs: WireType, _ ours: WireType) throws(Refused) -> DBusValue {
        switch (theirs, ours, value) {
        case (.array(let a), .array(let b), .array(_, let values)),
            (.optional(let a), .optional(let b), .array(_, let values)):
            var elements: [DBusValue] = []
            for value in values { elements.append(try moved(value, a, b)) }
            return .array(ContractPair.dbus(b), elements)
        case (.dictionary(_, let a), .dictionary(_, let b), .dictionary(_, let entries)):
            var result: [DBusValue.Entry] = []
            for entry in entries { result.append(.init(key: entry.key, value: try moved(entry.value, a, b))) }
            return .dictionary(ContractPair.dbus(ours), result)
        case (.structure(let a), .structure(let b), .structure(let values)): return .structure(try moved(values, a, b))
        case (.tagged(let a), .tagged(let b), .structure(let parts)): return try moved(parts, a, b) ?? value
        default: return value
        }
    }
    /// Nil for a case that the receiver takes as it is.
    private func moved(_ parts: [DBusValue], _ theirs: [WireVariant], _ ours: [WireVariant]) throws(Refused)
        -> DBusValue?
    {
        guard case .string(let name) = parts[0], case .variant(let payload) = parts[1],
            let variant = theirs.first(where: { $0.name == name })
        else { throw Refused() }
        guard let own = ours.first(where: { $0.name == name }) else {
            if ours.contains(where: { $0.isOpen }) { return nil }
            throw Refused()
        }
        var values: [DBusValue] = []
        if case .structure(let all) = payload { values = all }
        let fields = try moved(values, variant.fields, own.fields)
        return .structure([parts[0], .variant(fields.isEmpty ? .byte(0) : .structure(fields))])
    }
}
