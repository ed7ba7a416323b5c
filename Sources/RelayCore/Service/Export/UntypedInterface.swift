/// An interface that a service exports by the text of its contract, without Swift types.
///
/// ```swift
/// let contract = try await relay.contracts()[0]
/// let service = try EventService(name: "org.example.Replay", exporting: UntypedInterface(contract))
/// ```
public struct UntypedInterface: Sendable {
    /// The contract, as another service or a file has it.
    public let contract: ContractText
    /// Which peers may call and subscribe; nil: those that the contract admits.
    public var requirement: PeerRequirement?
    /// What a journal keeps of a durable one.
    public var retention: Retention
    /// How many events are sent as signals.
    public var signalBudget: SignalBudget
    /// The size in bytes of the ring: a power of two from 64 KiB to 1 GiB, or 0 for no ring.
    public var ringCapacity: Int

    /// An interface to export.
    ///
    /// - Parameter contract: the contract.
    /// - Parameter requirement: which peers may call and subscribe; nil: those that the contract admits.
    /// - Parameter retention: what a journal keeps of a durable interface.
    /// - Parameter signalBudget: how many events are sent as signals.
    /// - Parameter ringCapacity: the size in bytes of the ring.
    public init(
        _ contract: ContractText, requirement: PeerRequirement? = nil, retention: Retention = .standard,
        signalBudget: SignalBudget = .standard, ringCapacity: Int = 4 << 20
    ) {
        (self.contract, self.requirement, self.retention) = (contract, requirement, retention)
        (self.signalBudget, self.ringCapacity) = (signalBudget, ringCapacity)
    }
}

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
