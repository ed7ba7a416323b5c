/// The descriptions in a contract, as annotations of the introspection data (PROTOCOL.md, "Annotations for people").
extension InterfaceDescription.Annotation {
    /// A sentence about an interface, a member or an argument.
    package static let about = "org.eventrelay.Description"
    /// What an argument is counted in.
    package static let unit = "org.eventrelay.Unit"
    /// The names of an argument's values: a JSON object of names and raw values.
    package static let cases = "org.eventrelay.Cases"
    /// The refusals that a command declares: a JSON object of names and messages.
    package static let failures = "org.eventrelay.Failures"
    /// The shape of what a command reports while it runs.
    package static let progress = "org.eventrelay.Progress"
    /// `true` for a command whose caller can cancel it.
    package static let cancellable = "org.eventrelay.Cancellable"

    /// Nothing for an empty text.
    package static func described(_ text: String) -> [Self] { text.isEmpty ? [] : [Self(about, text)] }

    /// The refusals of a command whose failures can be listed.
    static func refusals<F: CommandRefusal>(_ type: F.Type) -> [Self] {
        func listed<L: CommandRefusal & CaseIterable>(_ type: L.Type) -> [(name: String, value: String)] {
            type.allCases.map { ($0.errorName, JSONText.quoted($0.message)) }
        }
        guard let type = type as? any (CommandRefusal & CaseIterable).Type else { return [] }
        let members = listed(type)
        return members.isEmpty ? [] : [Self(failures, JSONText.object(members))]
    }
}

extension InterfaceDescription.Argument {
    /// An argument, with its description. The annotation of a field within has the path to the field behind its name:
    /// `org.eventrelay.Unit.capacity`, of the argument `boxes`, is the unit of `capacity` in its structures.
    init(_ field: WireField, about notes: [String: About.Field]) {
        self.init(field)
        var found: [InterfaceDescription.Annotation] = []
        func collect(_ field: WireField, _ path: String, _ suffix: String) {
            if let note = notes[path] {
                if !note.text.isEmpty { found.append(.init(InterfaceDescription.Annotation.about + suffix, note.text)) }
                if let unit = note.unit { found.append(.init(InterfaceDescription.Annotation.unit + suffix, unit)) }
            }
            if !field.cases.isEmpty {
                let members = field.cases.map { (name: $0.name, value: $0.raw.text(JSONText.quoted)) }
                found.append(.init(InterfaceDescription.Annotation.cases + suffix, JSONText.object(members)))
            }
            for inner in field.type.innerFields {
                collect(inner, "\(path).\(inner.name)", "\(suffix).\(inner.name)")
            }
        }
        collect(field, field.name, "")
        annotations = found
    }
    /// The arguments of a member. Throws `.invalidArgument` for the description of a field that does not exist.
    static func all(
        _ fields: [WireField], about notes: [String: About.Field], of member: String
    ) throws(RelayError) -> [Self] {
        var known: Set<String> = []
        func collect(_ field: WireField, _ path: String) {
            known.insert(path)
            for inner in field.type.innerFields { collect(inner, "\(path).\(inner.name)") }
        }
        for field in fields { collect(field, field.name) }
        if let unknown = notes.keys.sorted().first(where: { !known.contains($0) }) {
            let has = known.isEmpty ? "it has none" : "it has \(known.sorted().joined(separator: ", "))"
            throw RelayError(.invalidArgument, "\(member) says something about a field '\(unknown)'; \(has)")
        }
        return fields.map { Self($0, about: notes) }
    }
}

extension InterfaceDescription.Method {
    /// A command, with its description.
    ///
    /// - Parameter progress: the fields of its progress; nil if it reports none.
    package init<C: Command>(
        _ command: C.Type, in inputs: [WireField], out outputs: [WireField], progress: [WireField]?
    ) throws(RelayError) {
        try self.init(
            C.name, in: inputs, out: outputs, progress: progress, isCancellable: C.isCancellable, about: C.about,
            refusals: InterfaceDescription.Annotation.refusals(C.Refusal.self), of: "\(C.self)")
    }
    /// A command without its type.
    ///
    /// - Parameter what: its type's name, for errors.
    package init(
        _ name: String, in inputs: [WireField], out outputs: [WireField], progress: [WireField]?, isCancellable: Bool,
        about: About = .nothing, refusals: [InterfaceDescription.Annotation] = [], of what: String
    ) throws(RelayError) {
        var running: [InterfaceDescription.Annotation] = []
        if let progress {
            running.append(.init(InterfaceDescription.Annotation.progress, WireType.structure(progress).shape))
        }
        if isCancellable { running.append(.init(InterfaceDescription.Annotation.cancellable, "true")) }
        self.init(
            name, in: try InterfaceDescription.Argument.all(inputs, about: about.fields, of: "\(what).about"),
            out: try InterfaceDescription.Argument.all(outputs, about: about.reply, of: "the reply of \(what).about"),
            InterfaceDescription.Annotation.described(about.text) + refusals + running)
    }
}

extension InterfaceDescription.Property {
    /// A document, with its description: a structure of its fields.
    package init<D: DomainDocument>(_ document: D.Type, fields: [WireField]) throws(RelayError) {
        try self.init(document: D.name, fields: fields, about: D.about, of: "\(D.self)")
    }
    /// A document without its type.
    package init(
        document name: String, fields: [WireField], about: About = .nothing, of what: String
    ) throws(RelayError) {
        // Refuses the description of a field that does not exist.
        _ = try InterfaceDescription.Argument.all(fields, about: about.fields, of: "\(what).about")
        let notes = Dictionary(uniqueKeysWithValues: about.fields.map { ("\(name).\($0)", $1) })
        let field = WireField(name: name, type: .structure(fields), swiftType: what)
        var argument = InterfaceDescription.Argument(field, about: notes)
        argument.annotations = InterfaceDescription.Annotation.described(about.text) + argument.annotations
        self.init(argument)
    }
}

extension InterfaceDescription.Signal {
    /// An event, with its description: its fields, then its stamp.
    package init<E: StreamEntry>(_ event: E.Type, fields: [WireField]) throws(RelayError) {
        try self.init(E.name, fields: fields, about: E.about, of: "\(E.self)")
    }
    /// An event without its type.
    package init(
        _ name: String, fields: [WireField], about: About = .nothing, of what: String
    ) throws(RelayError) {
        let arguments = try InterfaceDescription.Argument.all(fields, about: about.fields, of: "\(what).about")
        let stamp = WireSchema.stampNames.map { InterfaceDescription.Argument($0, "t") }
        self.init(name, arguments + stamp, InterfaceDescription.Annotation.described(about.text))
    }
}

extension WireType {
    /// The fields of the structures in it, however deep in arrays, optionals and a dictionary's values. Of an enum with
    /// payloads its cases, each with the fields of its payload.
    var innerFields: [WireField] {
        switch self {
        case .array(let inner), .optional(let inner), .dictionary(_, let inner): inner.innerFields
        case .structure(let fields): fields
        case .tagged(let variants): variants.map { WireField(name: $0.name, type: .structure($0.fields)) }
        default: []
        }
    }
}
