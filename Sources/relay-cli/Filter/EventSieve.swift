import RelayCore
import RelayTool
import RelayWire

/// The fields of events, with what the service's introspection data and its journal say about them.
struct EventFields {
    struct Key: Hashable {
        let interface: String
        let name: String
    }
    private(set) var known: [Key: [IntrospectedField]] = [:]
    private var signatures: [Key: String] = [:]

    /// Takes what the service reports; what was known before is forgotten.
    mutating func learn(_ interfaces: [IntrospectedInterface]) {
        (known, signatures) = ([:], [:])
        for interface in interfaces {
            for event in interface.events {
                let key = Key(interface: interface.name, name: event.name)
                (known[key], signatures[key]) = (event.fields, event.signature)
            }
        }
    }
    /// The fields of one event. `told` are the fields of the schema that its journal names.
    func fields(of key: Key, signature: String, told: [WireField]?) -> [IntrospectedField] {
        if let told {
            let fields = told.map { field in
                IntrospectedField(name: field.name, shape: named(Shape(field.type), field.name, of: key))
            }
            if fields.map(\.shape.signature).joined() + WireSchema.stampSignature == signature { return fields }
        }
        return signatures[key] == signature ? known[key] ?? [] : []
    }
    /// With the names that the service has for its values.
    func named(_ shape: Shape, _ field: String, of key: Key) -> Shape {
        guard let known = known[key]?.first(where: { $0.name == field })?.shape, known.unnamed == shape else {
            return shape
        }
        return known
    }
}

/// Lets the events pass that `--where` asks for.
struct EventSieve {
    private struct Kind {
        let signature: String
        let told: [WireField]?
        /// nil: the expression does not fit its fields.
        let condition: FilterCondition?
    }
    let filter: EventFilter
    private var fields = EventFields()
    /// As the last event of the name had it: one follows another of its kind, nearly always.
    private var kinds: [EventFields.Key: Kind] = [:]

    init(_ filter: EventFilter) { self.filter = filter }

    /// Takes the schemas that the service reports. Throws `.usage` if the expression fits none of the chosen events.
    mutating func learn(_ interfaces: [IntrospectedInterface], _ selection: EventSelection) throws(CLIFailure) {
        fields.learn(interfaces)
        kinds = [:]
        let chosen = fields.known.filter { key, _ in
            guard let names = selection.names[key.interface] else { return false }
            return names?.contains(key.name) ?? true
        }
        // Nothing is known of events that it had before, but in its journal.
        if chosen.isEmpty { return }
        do throws(FilterFault) { try check(chosen) } catch {
            let usage = error.usage("where", filter.text)
            throw CLIFailure(.usage, usage.message, excerpt: usage.excerpt)
        }
    }
    private func check(_ events: [EventFields.Key: [IntrospectedField]]) throws(FilterFault) {
        let all = events.values.joined()
        let known = Set(all.map(\.name)).union(StampName.allCases.map(\.rawValue))
        let cases = Set(all.flatMap { $0.shape.caseNames })
        for (name, column) in filter.names where !known.contains(name) && !cases.contains(name) {
            let whose = events.count == 1 ? "\(events.keys.first?.name ?? "") has no" : "none of these events has a"
            throw FilterFault("\(whose) field '\(name)'" + NearMiss.hint(for: name, among: known), at: column)
        }
        var first: FilterFault?
        for (key, fields) in events.sorted(by: { ($0.key.interface, $0.key.name) < ($1.key.interface, $1.key.name) }) {
            do throws(FilterFault) {
                _ = try filter.condition(for: key.name, of: key.interface, fields: fields)
                return
            } catch {
                // One that has the fields says more than one that lacks them.
                let own = Set(fields.map(\.name))
                let lacks = filter.names.contains { known.contains($0.name) && !own.contains($0.name) }
                if first == nil || !lacks { first = error }
            }
        }
        if let first { throw first }
    }

    mutating func admits(_ event: Envelope) -> Bool {
        event.body.withUnsafeBytes { body in
            admits(
                EventFields.Key(interface: event.interface, name: event.name), event.signature, event.fields,
                event.stamp,
                body)
        }
    }
    /// An event whose bytes cannot be read passes: its line says so.
    mutating func admits(
        _ key: EventFields.Key, _ signature: String, _ told: [WireField]?, _ stamp: Stamp,
        _ body: UnsafeRawBufferPointer
    ) -> Bool {
        if kinds[key].map({ $0.signature != signature || $0.told != told }) ?? true {
            let own = fields.fields(of: key, signature: signature, told: told)
            kinds[key] = Kind(
                signature: signature, told: told,
                condition: try? filter.condition(for: key.name, of: key.interface, fields: own))
        }
        guard let condition = kinds[key]?.condition else { return false }
        do throws(WireFault) { return try condition.holds(stamp, body) } catch { return true }
    }
}

extension Shape {
    /// The names of all values in it that have some.
    fileprivate var caseNames: [String] {
        switch self {
        case .named(_, let cases): cases.map(\.name)
        case .array(let inner), .optional(let inner), .dictionary(_, let inner): inner.caseNames
        case .structure(let members): members.flatMap { $0.shape.caseNames }
        case .tagged(let cases): cases.flatMap { [$0.name] + Shape.structure($0.members).caseNames }
        case .basic, .variant: []
        }
    }
}
