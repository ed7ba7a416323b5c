@_spi(Relay) import RelayEvents
import RelayWire

/// What registration knows of an interface: from its Swift type, or from the text of its contract.
struct InterfacePlan: Sendable {
    /// Where an event's values go once their stream is there.
    struct Place: Sendable {
        let stream: PublishedStream
        /// The event's number in its interface.
        let index: Int
        /// The interface's place among those that the log keeps; nil for a volatile one.
        let logIndex: Int?
    }
    /// An event; of a document, its entries.
    struct Event: Sendable {
        let name: String
        let schema: WireSchema
        let signal: InterfaceDescription.Signal
        let ring: RingEvent
        /// What introspection shows of a document; nil for an event.
        let property: InterfaceDescription.Property?
        let make: @Sendable (Place) -> AnyExportedEvent
        let makeDocument: (@Sendable (Place, DocumentBook) -> AnyExportedDocument)?
    }
    struct Call: Sendable {
        let method: InterfaceDescription.Method
        let command: AnyExportedCommand
    }
    let contract: ContractText
    /// Whom the service admits to it.
    let requirement: PeerRequirement
    /// nil for a volatile one.
    let retention: Retention?
    let signalBudget: SignalBudget
    let ringCapacity: Int
    let about: String
    /// By their numbers.
    let events: [Event]
    let calls: [Call]
    /// Its documents are set with those of a newer interface.
    var isOlder = false
    var name: String { contract.name }
}

extension InterfacePlan {
    /// Checks every type, and refuses what D-Bus cannot carry by type, field and reason (`UnsupportedType`); a bad or
    /// doubled name is an `InvalidArgument`.
    ///
    /// - Parameters:
    ///   - admitted: whom the service admits at all: what the contract requires comes on top.
    ///   - mapped: what its events and documents are in older interfaces, and what its commands are in a newer one.
    init<I: EventInterface>(
        _ interface: I.Type, admitting admitted: PeerRequirement = .anyone, mapped: OlderParts = OlderParts(),
        isOlder: Bool = false
    ) throws {
        try BusNames.check(I.name, as: .interface)
        try I.contract.checkNames()
        var (events, calls): ([Event], [Call]) = ([], [])
        var contract: ([ContractEvent], [ContractDocument], [ContractCommand]) = ([], [], [])
        for type in I.contract.events {
            let event = try Self.event(type, mapped)
            events.append(event)
            if let document = type as? any DomainDocument.Type {
                contract.1.append(ContractDocument(of: document, event.schema.fields))
            } else {
                contract.0.append(ContractEvent(of: type, event.schema.fields))
            }
        }
        let submitting = Set(I.contract.members.compactMap(\.submit).map { ObjectIdentifier($0) })
        for type in I.contract.commands {
            let (call, declared) = try Self.call(type, admitted, mapped)
            calls.append(call)
            // The contract of the others follows from that of their document.
            if !submitting.contains(ObjectIdentifier(type)) { contract.2.append(declared) }
        }
        self.init(
            contract: ContractText(
                of: interface, events: contract.0, documents: contract.1, commands: contract.2),
            requirement: admitted.joined(by: I.requirement), retention: (I.durability as? Durable)?.retention,
            signalBudget: I.signalBudget, ringCapacity: I.ringCapacity, about: I.about.text, events: events,
            calls: calls, isOlder: isOlder)
    }
    private static func event<E: StreamEntry>(_ type: E.Type, _ mapped: OlderParts) throws -> Event {
        let codec = try WireCodec(event: type)
        let older = mapped.derivations(of: type)
        let document = try (type as? any DomainDocument.Type).map { try Self.document($0, mapped) }
        return Event(
            name: E.name, schema: codec.schema,
            signal: try InterfaceDescription.Signal(type, fields: codec.schema.fields), ring: try RingEvent(type),
            property: document?.property, make: { ExportedEvent(codec, $0, older: older) },
            makeDocument: document?.make)
    }
    private static func document<D: DomainDocument>(_ type: D.Type, _ mapped: OlderParts) throws -> (
        property: InterfaceDescription.Property, make: @Sendable (Place, DocumentBook) -> AnyExportedDocument
    ) {
        if D.isFixedLayout {
            throw RelayError(
                .invalidArgument,
                "\(D.Interface.name).\(D.name) is a document, and a FixedLayoutEvent: make it a DomainDocument only")
        }
        let codec = try WireCodec(event: type)
        let older = mapped.derivations(ofDocument: type)
        return (
            try InterfaceDescription.Property(type, fields: codec.schema.fields),
            { ExportedDocument(codec, $0.stream, $1, $0.index, logIndex: $0.logIndex, older: older) }
        )
    }
    private static func call<C: Command>(
        _ type: C.Type, _ admitted: PeerRequirement, _ mapped: OlderParts
    ) throws -> (Call, ContractCommand) {
        let others = mapped.commands[ObjectIdentifier(type)]?.requirement ?? .anyone
        let command = try ExportedCommand(type, admitting: admitted.joined(by: others))
        let fields = command.fields
        return (
            Call(
                method: try InterfaceDescription.Method(
                    type, in: fields.request, out: fields.reply, progress: fields.progress), command: command),
            ContractCommand(of: type, fields.request, reply: fields.reply, progress: fields.progress)
        )
    }
}

extension PeerRequirement {
    /// Both, where either asks for anything.
    func joined(by other: Self) -> Self { isAnyone ? other : other.isAnyone || self == other ? self : self && other }
}
