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
    associatedtype Event: DomainEvent
    func encode(_ event: Event, by events: ExportedEvents) throws -> [EncodedEvent]
}

struct MappedEvent<Event: DomainEvent, Old: EventInterface>: EventDerivation {
    let map: @Sendable (Event, inout OlderEvents<Old>) throws -> Void

    func encode(_ event: Event, by events: ExportedEvents) throws -> [EncodedEvent] {
        var older = OlderEvents<Old>(events)
        try map(event, &older)
        return older.encoded
    }
}

/// What a document of a newer interface is in an older one.
package protocol DocumentDerivation<Document>: Sendable {
    associatedtype Document: DomainDocument
    /// Within a transaction.
    func set<Sink: DocumentSink & ~Copyable>(_ state: Document, in sink: inout Sink) throws
}

/// The same of volatile documents, which are set at once.
protocol VolatileDerivation<Document>: DocumentDerivation {
    /// Finds the older document. What it returns encodes its state, and returns what sets it.
    func follower(of events: ExportedEvents) throws -> (Document) throws -> () throws -> Void
}

struct MappedDocument<Document: DomainDocument, Old: DomainDocument>: VolatileDerivation {
    let map: @Sendable (Document) throws -> Old

    func set<Sink: DocumentSink & ~Copyable>(_ state: Document, in sink: inout Sink) throws {
        try sink.set(map(state))
    }
    func follower(of events: ExportedEvents) throws -> (Document) throws -> () throws -> Void {
        let older = try events.document(Old.self)
        return { try older.prepared(map($0)) }
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
    func derivations<E: DomainEvent>(of event: E.Type) -> [any EventDerivation<E>] {
        (events[ObjectIdentifier(event)] ?? []).compactMap { $0 as? any EventDerivation<E> }
    }
    func derivations<D: DomainDocument>(ofDocument document: D.Type) -> [any DocumentDerivation<D>] {
        (documents[ObjectIdentifier(document)] ?? []).compactMap { $0 as? any DocumentDerivation<D> }
    }
}
