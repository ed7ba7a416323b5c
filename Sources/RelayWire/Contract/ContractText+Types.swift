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
                    documents.append(ContractDocument(of: document, try WireSchema(event: document).fields))
                } else {
                    events.append(ContractEvent(of: type, try WireSchema(event: type).fields))
                }
            case .command(let type): commands.append(try ContractCommand(of: type))
            }
        }
        self.init(of: interface, events: events, documents: documents, commands: commands)
    }
    /// Of the members, whose types are known to be right.
    package init<I: EventInterface>(
        of interface: I.Type, events: [ContractEvent], documents: [ContractDocument], commands: [ContractCommand]
    ) {
        self.init(
            name: I.name, isDurable: !(I.durability is Volatile), requirement: I.requirement, events: events,
            documents: documents, commands: commands)
    }
}

extension ContractEvent {
    package init<E: StreamEntry>(of event: E.Type, _ fields: [WireField]) {
        self.init(name: E.name, fields: fields, isFixedLayout: E.isFixedLayout)
    }
}

extension ContractDocument {
    package init<D: DomainDocument>(of document: D.Type, _ fields: [WireField]) {
        func submission<E: EditableDocument>(_ type: E.Type) -> ContractSubmission {
            ContractSubmission(
                requirement: E.submitRequirement == D.Interface.requirement ? nil : E.submitRequirement,
                refusals: ContractRefusals(of: E.Refusal.self))
        }
        self.init(
            name: D.name, fields: fields,
            submission: (document as? any EditableDocument.Type).map { submission($0) })
    }
}

extension ContractCommand {
    fileprivate init<C: Command>(of command: C.Type) throws {
        try BusNames.check(C.name, as: .member)
        self.init(
            of: command, try WireCodec(C.self).schema.fields, reply: try WireCodec(replyOf: C.self).schema.fields,
            progress: try WireCodec(progressOf: C.self)?.schema.fields)
    }
    package init<C: Command>(
        of command: C.Type, _ arguments: [WireField], reply: [WireField], progress: [WireField]?
    ) {
        self.init(
            name: C.name, arguments: arguments, reply: reply, progress: progress,
            requirement: C.requirement == C.Interface.requirement ? nil : C.requirement,
            isCancellable: C.isCancellable, key: Key(of: C.self, arguments),
            refusals: ContractRefusals(of: C.Refusal.self))
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
    fileprivate init<F: CommandRefusal>(of type: F.Type) {
        func names<L: CommandRefusal & CaseIterable>(_ type: L.Type) -> [String] { type.allCases.map(\.errorName) }
        if let listed = type as? any (CommandRefusal & CaseIterable).Type {
            // Others cannot be sent as an error's name.
            self.init(names(listed).filter(BusNames.isMember))
        } else {
            self.init(isOpen: F.self != Never.self)
        }
    }
}
