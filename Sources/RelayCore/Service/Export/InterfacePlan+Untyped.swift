import RelayEvents
import RelayWire

extension InterfacePlan {
    /// Throws `.invalidArgument` for a contract that no service can have, `.unsupportedType` for an event that no
    /// signal can carry.
    ///
    /// - Parameters:
    ///   - isMirrored: of a service on another host: what only that host can examine admits nobody here.
    ///   - reason: why its commands are refused.
    init(
        _ interface: UntypedInterface, admitting admitted: PeerRequirement, isMirrored: Bool, readOnly reason: String
    ) throws {
        let contract = interface.contract
        try BusNames.check(contract.name, as: .interface)
        let own = interface.requirement ?? (isMirrored ? contract.requirement.onAnotherHost : contract.requirement)
        let requirement = admitted.joined(by: own)
        let count = contract.events.count + contract.documents.count
        if count > ContractLimits.events {
            throw RelayError(
                .invalidArgument,
                "\(contract.name) has \(count) events, an interface can have \(ContractLimits.events)")
        }
        let events = try contract.events.map {
            try Event(untyped: $0.name, $0.fields, of: contract.name, isDocument: false)
        }
        let documents = try contract.documents.map {
            try Event(untyped: $0.name, $0.fields, of: contract.name, isDocument: true)
        }
        let submitted = Dictionary(
            contract.documents.compactMap { document in document.submitCommand.map { ($0.name, document.name) } }
        ) { first, _ in first }
        let calls = try contract.calls.map { call in
            Call(
                method: try InterfaceDescription.Method(
                    call.name, in: call.arguments, out: call.reply, progress: call.progress,
                    isCancellable: call.isCancellable,
                    about: submitted[call.name].map { About.submitting($0) } ?? .nothing, of: call.name),
                // Whoever may look at the interface may learn that it is read only.
                command: try ReadOnlyCommand(call, requirement, "\(call.name) is refused: \(reason)"))
        }
        self.init(
            contract: contract, requirement: requirement, retention: contract.isDurable ? interface.retention : nil,
            signalBudget: interface.signalBudget, ringCapacity: interface.ringCapacity, about: "",
            events: events + documents, calls: calls)
    }
}

extension InterfacePlan.Event {
    fileprivate init(
        untyped name: String, _ fields: [WireField], of interface: String, isDocument: Bool
    ) throws(RelayError) {
        let what = "\(interface).\(name)"
        let schema = try WireSchema(fields: fields)
        try schema.check(event: what)
        let signature = try Signature(schema.signature)
        var property: InterfaceDescription.Property?
        var makeDocument: (@Sendable (InterfacePlan.Place, DocumentBook) -> AnyExportedDocument)?
        if isDocument {
            property = try InterfaceDescription.Property(document: name, fields: fields, of: what)
            makeDocument = { UntypedDocument(name, schema, $0, $1) }
        }
        self.init(
            name: name, schema: schema, signal: try InterfaceDescription.Signal(name, fields: fields, of: what),
            ring: RingEvent(name: name), property: property,
            make: { UntypedEvent(schema, signature, $0, isDocument: isDocument) }, makeDocument: makeDocument)
    }
}

/// A command without a handler: every call is refused.
final class ReadOnlyCommand: AnyExportedCommand, @unchecked Sendable {
    private let reason: String

    init(_ command: ContractCommand, _ requirement: PeerRequirement, _ reason: String) throws {
        self.reason = reason
        try super.init(
            command.name, WireSchema(fields: command.arguments), WireSchema(fields: command.reply), requirement,
            isCancellable: false, reportsProgress: false, returnsDescriptors: false)
    }
    override var hasHandler: Bool { true }
    override func answer(_ body: [UInt8], _ context: CommandContext) async -> Answer {
        .error(name: ErrorNames.name(for: .readOnly), message: reason)
    }
}
