/// The contract of a Swift type.
extension ContractText {
    /// Throws `.invalidArgument` for a bad or doubled name, and `.unsupportedType` with type, field and reason for what
    /// D-Bus cannot carry.
    package init<I: EventInterface>(of interface: I.Type) throws {
        try BusNames.check(I.name, as: .interface)
        let contract = I.contract
        try contract.checkNames()
        var (events, documents, commands): ([ContractEvent], [ContractDocument], [ContractCommand]) = ([], [], [])
        for member in contract.members {
            switch member.kind {
            case .event(let type):
                if let document = type as? any DomainDocument.Type {
                    documents.append(try ContractDocument(of: document, in: I.requirement))
                } else {
                    events.append(try ContractEvent(of: type))
                }
            case .command(let type): commands.append(try ContractCommand(of: type))
            }
        }
        self.init(
            name: I.name, isDurable: !(I.durability is Volatile), requirement: I.requirement, events: events,
            documents: documents, commands: commands)
    }
}

extension ContractEvent {
    package init<E: DomainEvent>(of event: E.Type) throws {
        self.init(
            name: E.name, fields: try WireSchema(event: event).fields, isFixedLayout: E.isFixedLayout)
    }
}

extension ContractDocument {
    fileprivate init<D: DomainDocument>(of document: D.Type, in requirement: PeerRequirement) throws {
        func submission<E: EditableDocument>(_ type: E.Type) -> ContractSubmission {
            ContractSubmission(
                requirement: E.submitRequirement == requirement ? nil : E.submitRequirement,
                refusals: ContractRefusals(of: E.Refusal.self))
        }
        self.init(
            name: D.name, fields: try WireSchema(event: document).fields,
            submission: (document as? any EditableDocument.Type).map { submission($0) })
    }
}

extension ContractCommand {
    fileprivate init<C: Command>(of command: C.Type) throws {
        try BusNames.check(C.name, as: .member)
        let arguments = try WireCodec(C.self).schema.fields
        self.init(
            name: C.name, arguments: arguments, reply: try WireCodec(replyOf: C.self).schema.fields,
            progress: try WireCodec(progressOf: C.self)?.schema.fields,
            requirement: C.requirement == C.Interface.requirement ? nil : C.requirement,
            isCancellable: C.isCancellable, key: Key(of: C.self, arguments),
            refusals: ContractRefusals(of: C.Failure.self))
    }
}

extension ContractCommand.Key {
    private static let property = "idempotencyKey"

    fileprivate init<C: Command>(of command: C.Type, _ arguments: [WireField]) {
        if !(command is any IdempotentCommand.Type) {
            self = .none
        } else {
            self = arguments.contains { $0.name == Self.property } ? .field(Self.property) : .derived
        }
    }
}

extension ContractRefusals {
    fileprivate init<F: CommandFailure>(of type: F.Type) {
        func names<L: CommandFailure & CaseIterable>(_ type: L.Type) -> [String] { type.allCases.map(\.errorName) }
        if let listed = type as? any (CommandFailure & CaseIterable).Type {
            // Others cannot be sent as an error's name.
            self.init(names(listed).filter(BusNames.isMember))
        } else {
            self.init(isOpen: F.self != Never.self)
        }
    }
}
