/// Where a mapping publishes what an event is in an older interface.
public struct OlderEvents<Old: EventInterface> {
    private let events: ExportedEvents
    fileprivate var encoded: [EncodedEvent] = []

    fileprivate init(_ events: ExportedEvents) { self.events = events }

    /// Adds an event of the older interface, in the order of the calls.
    ///
    /// - Parameter event: the event.
    /// - Throws: as publishing throws.
    public mutating func publish<E: DomainEvent<Old>>(_ event: E) throws { encoded += try events.parts(of: event) }
}

/// What an event of a newer interface is in an older one.
protocol EventDerivation<Event>: Sendable {
    associatedtype Event: StreamEntry
    func encode(_ event: Event, by events: ExportedEvents) throws -> [EncodedEvent]
}

struct MappedEvent<Event: StreamEntry, Old: EventInterface>: EventDerivation {
    let map: @Sendable (Event, inout OlderEvents<Old>) throws -> Void

    func encode(_ event: Event, by events: ExportedEvents) throws -> [EncodedEvent] {
        var older = OlderEvents<Old>(events)
        try map(event, &older)
        return older.encoded
    }
}

/// What a document of a newer interface is in an older one.
protocol DocumentDerivation<Document>: Sendable {
    associatedtype Document: DomainDocument
    /// Finds the older document.
    func follower(of events: ExportedEvents) throws -> any DocumentFollower<Document>
}

/// An older document, which is set with a newer one.
protocol DocumentFollower<Document>: Sendable {
    associatedtype Document: DomainDocument
    /// Begins with what it becomes of a state, as long as it was never set; nil: the newer document was set before. So do
    /// those that follow it.
    func begin(_ state: Document?) throws
    func isInStep(with state: Document) throws -> Bool
    /// Within a transaction.
    func set(_ state: Document, in unit: some LogUnit) throws
    /// Of a volatile document: encodes what it becomes, and returns what sets it.
    func setting(_ state: Document) throws -> @Sendable () throws -> Void
}

struct MappedDocument<Document: DomainDocument, Old: DomainDocument>: DocumentDerivation {
    let map: @Sendable (Document) throws -> Old

    func follower(of events: ExportedEvents) throws -> any DocumentFollower<Document> {
        MappedFollower(older: try events.document(Old.self), map: map)
    }
}

private struct MappedFollower<Document: DomainDocument, Old: DomainDocument>: DocumentFollower {
    let older: ExportedDocument<Old>
    let map: @Sendable (Document) throws -> Old

    func begin(_ state: Document?) throws {
        if let state { try older.begin(following: map(state)) }
        try older.beginOlder()
    }
    func isInStep(with state: Document) throws -> Bool { try older.present.state == map(state) }
    func set(_ state: Document, in unit: some LogUnit) throws { try older.set(map(state), in: unit) }
    func setting(_ state: Document) throws -> @Sendable () throws -> Void {
        let placing = try older.placing(map(state))
        return { [older] in try older.inOrder(placing) }
    }
}

extension OlderParts {
    /// What a service's interfaces are to each other, by their types.
    ///
    /// Throws `InvalidArgument` for a mapping that lacks something, and for an interface whose newer one is not there.
    static func byInterface(
        _ older: [OlderInterface], exporting interfaces: [any EventInterface.Type]
    ) throws(RelayError) -> [ObjectIdentifier: OlderParts] {
        let exported = Set((interfaces + older.map(\.interface)).map { ObjectIdentifier($0) })
        var all: [ObjectIdentifier: OlderParts] = [:]
        for one in older {
            let what = "\(one.interface.name), as \(one.newer.name) serves it"
            if let fault = one.fault { throw RelayError(.invalidArgument, "\(what): \(fault)") }
            if !exported.contains(ObjectIdentifier(one.newer)) {
                throw RelayError(.invalidArgument, "\(what): the service does not export \(one.newer.name)")
            }
            all[ObjectIdentifier(one.newer), default: OlderParts()].add(one.parts)
            all[ObjectIdentifier(one.interface), default: OlderParts()].commands.merge(one.parts.commands) { $1 }
        }
        return all
    }
    private mutating func add(_ other: OlderParts) {
        events.merge(other.events) { $0 + $1 }
        documents.merge(other.documents) { $0 + $1 }
    }
    func derivations<E: StreamEntry>(of event: E.Type) -> [any EventDerivation<E>] {
        (events[ObjectIdentifier(event)] ?? []).compactMap { $0 as? any EventDerivation<E> }
    }
    func derivations<D: DomainDocument>(ofDocument document: D.Type) -> [any DocumentDerivation<D>] {
        (documents[ObjectIdentifier(document)] ?? []).compactMap { $0 as? any DocumentDerivation<D> }
    }
}
