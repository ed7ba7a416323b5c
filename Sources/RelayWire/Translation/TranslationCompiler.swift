/// Compares the types of two sides, and makes the steps from the one to the other.
struct TranslationCompiler {
    let words: TranslationWords
    let rule: WireTranslation.Rule
    /// The sender's.
    let plan: WirePlan

    /// - Parameters:
    ///   - index: the sender's node.
    ///   - path: the way to the value, for messages: `boxes[].title`.
    func step(
        from theirs: WireType, to ours: WireType, _ index: Int32, _ path: String
    ) throws(RelayError) -> TranslationStep {
        if theirs == ours { return .copy(index) }
        let node = plan.nodes[Int(index)]
        switch (theirs, ours) {
        case (.array(let theirs), .array(let ours)):
            let element = try step(from: theirs, to: ours, node.first, path + "[]")
            return element.isCopy ? .copy(index) : .array(element, alignment: alignment(node.first))
        case (.optional(let theirs), .optional(let ours)):
            let wrapped = try step(from: theirs, to: ours, node.first, path)
            return wrapped.isCopy ? .copy(index) : .optional(wrapped, alignment: alignment(node.first))
        case (.dictionary(let theirKey, let theirs), .dictionary(let ourKey, let ours)) where theirKey == ourKey:
            let value = try step(from: theirs, to: ours, node.last, path + "{}")
            return value.isCopy ? .copy(index) : .dictionary(node.first, value)
        case (.structure(let theirs), .structure(let ours)):
            let fields = try fields(from: theirs, to: ours, node, path)
            return fields.isCopy ? .copy(index) : .structure(fields)
        case (.tagged(let theirs), .tagged(let ours)): return try cases(from: theirs, to: ours, index, path)
        default: throw words.retyped(path, theirs, ours)
        }
    }
    private func alignment(_ index: Int32) -> Int { Int(plan.nodes[Int(index)].alignment) }

    private func fields(
        from theirs: [WireField], to ours: [WireField], _ node: WirePlan.Node, _ path: String
    ) throws(RelayError) -> TranslatedFields {
        let nodes = plan.fields[Int(node.first)..<Int(node.last)].map(\.node)
        let matches = Self.matches(theirs, ours)
        var parts: [TranslatedFields.Part] = []
        for (field, match) in zip(ours, matches) {
            let path = Self.path(path, field.name)
            if let match {
                parts.append(
                    .from(match, try step(from: theirs[match].type, to: field.type, nodes[match], path)))
            } else {
                guard case .optional(let wrapped) = field.type else { throw words.missing(path, field.type) }
                parts.append(.nothing(alignment: wrapped.alignment))
            }
        }
        var unsent: [(place: Int, path: String)] = []
        if rule == .asking {
            let matched = Set(matches.compactMap(\.self))
            for (place, field) in theirs.enumerated() where !matched.contains(place) {
                let path = Self.path(path, field.name)
                guard field.isOptional else { throw words.surplus(path, field.type) }
                unsent.append((place, path))
            }
        }
        return TranslatedFields(nodes: nodes, parts: parts, unsent: unsent)
    }
    /// The sender's field for each of the receiver's: first by the names of today, then by former ones of either side.
    /// One field serves one.
    static func matches(_ theirs: [WireField], _ ours: [WireField]) -> [Int?] {
        let places = Dictionary(theirs.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        var matches = ours.map { places[$0.name] }
        var taken = Set(matches.compactMap(\.self))
        for (index, field) in ours.enumerated() where matches[index] == nil {
            let match = theirs.indices.first { place in
                !taken.contains(place)
                    && (field.formerNames.contains(theirs[place].name)
                        || theirs[place].formerNames.contains(field.name))
            }
            guard let match else { continue }
            taken.insert(match)
            matches[index] = match
        }
        return matches
    }
    private func cases(
        from theirs: [WireVariant], to ours: [WireVariant], _ index: Int32, _ path: String
    ) throws(RelayError) -> TranslationStep {
        let type = plan.nodes[Int(index)].first
        let isOpen = ours.contains { $0.isOpen }
        var payloads: [TranslatedCases.Payload] = []
        for (variant, place) in zip(theirs, plan.enums[Int(type)].variants) {
            guard let own = ours.first(where: { $0.name == variant.name }) else {
                payloads.append(.unknown)
                continue
            }
            let path = Self.path(path, variant.name)
            let fields = try fields(from: variant.fields, to: own.fields, plan.nodes[Int(place.node)], path)
            if fields.isCopy {
                payloads.append(.copy)
            } else {
                // The receiver's schema was checked: its payload has one.
                let signature = (try? Signature(own.signature)) ?? .empty
                payloads.append(.fields(fields, signature: signature))
            }
        }
        let isCopy = payloads.allSatisfy {
            switch $0 {
            case .copy: true
            case .unknown: isOpen
            case .fields: false
            }
        }
        if isCopy { return .copy(index) }
        return .tagged(TranslatedCases(type: type, node: index, payloads: payloads, isOpen: isOpen, path: path))
    }
    private static func path(_ path: String, _ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
}

extension WireType {
    /// As the D-Bus specification aligns a value.
    package var alignment: Int {
        switch self {
        case .byte: 1
        case .int16, .uint16: 2
        case .bool, .int32, .uint32, .string, .descriptor, .array, .dictionary, .optional: 4
        case .int64, .uint64, .double, .structure, .tagged: 8
        }
    }
}
