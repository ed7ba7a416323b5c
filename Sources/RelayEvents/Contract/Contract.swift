/// The events, documents and commands of an interface, made by listing their types in ``EventInterface/contract``.
public struct Contract<Interface: EventInterface>: Sendable {
    package let members: [ContractMember<Interface>]

    package var names: [String] { events.map { $0.name } + commands.map { $0.name } }

    /// Throws `InvalidArgument` when two members have one name, which makes a message ambiguous, for more events than a
    /// relay keeps apart, and for an event that an enum interface has no case for.
    package func checkNames() throws(RelayError) {
        if Interface.self is any EnumInterface.Type {
            for case .event(let type) in members.filter({ $0.value == nil && $0.document == nil }).map(\.kind) {
                throw RelayError(
                    .invalidArgument,
                    "\(Interface.name) is an enum of its events, and lists \(String(reflecting: type)) by its type: make it a "
                        + "case, and list the case")
            }
        }
        let count = events.count
        if count > ContractLimits.events {
            throw RelayError(
                .invalidArgument,
                "\(Interface.name) has \(count) events, an interface can have \(ContractLimits.events): divide it into "
                    + "several interfaces")
        }
        var seen: [String: String] = [:]
        func check(_ name: String, _ kind: String, _ type: Any.Type) throws(RelayError) {
            let text = "the \(kind) \(String(reflecting: type))"
            if let other = seen.updateValue(text, forKey: name) {
                throw RelayError(
                    .invalidArgument,
                    "\(Interface.name) has two members named '\(name)', \(other) and \(text): give one a static name")
            }
        }
        for type in events { try check(type.name, "event", type) }
        for type in commands { try check(type.name, "command", type) }
    }

    /// The types of the events, in the order of declaration. Documents are among them: their changes are entries in the
    /// stream.
    package var events: [any StreamEntry<Interface>.Type] {
        members.compactMap { if case .event(let type) = $0.kind { type } else { nil } }
    }
    /// The types of the documents, in the order of declaration.
    package var documents: [any DomainDocument<Interface>.Type] { members.compactMap(\.document) }
    /// The types of the commands, in the order of declaration, then of those that submit documents.
    package var commands: [any Command<Interface>.Type] {
        members.compactMap { if case .command(let type) = $0.kind { type } else { nil } }
            + members.compactMap(\.submit)
    }
}

/// Turns a list of types into a ``Contract``. A type of another interface does not compile.
@resultBuilder public enum ContractBuilder<Interface: EventInterface> {
    public static func buildExpression<E: DomainEvent<Interface>>(_ type: E.Type) -> ContractMember<Interface> {
        ContractMember(kind: .event(type))
    }
    public static func buildExpression<C: Command<Interface>>(_ type: C.Type) -> ContractMember<Interface> {
        ContractMember(kind: .command(type))
    }
    public static func buildExpression<D: DomainDocument<Interface>>(_ type: D.Type) -> ContractMember<Interface> {
        ContractMember(kind: .event(type), document: type)
    }
    public static func buildExpression<D: EditableDocument<Interface>>(_ type: D.Type) -> ContractMember<Interface> {
        ContractMember(kind: .event(type), document: type, submit: SubmitDocument<D>.self)
    }
    @available(
        *, unavailable,
        message:
            "this type belongs to another interface, or is no event, document or command: its Interface must be this one"
    )
    public static func buildExpression<T>(_ type: T.Type) -> ContractMember<Interface> { fatalError() }

    public static func buildBlock(_ members: ContractMember<Interface>...) -> Contract<Interface> {
        Contract(members: members)
    }
}

/// One line of a contract.
public struct ContractMember<Interface: EventInterface>: Sendable {
    package enum Kind: Sendable {
        case event(any StreamEntry<Interface>.Type)
        case command(any Command<Interface>.Type)
    }
    package let kind: Kind
    /// Makes the interface's value of an event; nil unless the interface is an enum of its events.
    package let value: (@Sendable (any StreamEntry) -> Interface?)?
    /// The same type, if it is a document; and the command that submits it, if it is editable.
    package let document: (any DomainDocument<Interface>.Type)?
    package let submit: (any Command<Interface>.Type)?

    init(
        kind: Kind, value: (@Sendable (any StreamEntry) -> Interface?)? = nil,
        document: (any DomainDocument<Interface>.Type)? = nil, submit: (any Command<Interface>.Type)? = nil
    ) {
        (self.kind, self.value, self.document, self.submit) = (kind, value, document, submit)
    }
}

package enum ContractLimits {
    /// How many events an interface can have: each side keeps a table of them.
    package static let events = 1_024
}
