@_spi(Relay) import RelayEvents
import Synchronization
import RelayWire

/// One event of an exported interface, without its type.
class AnyExportedEvent: @unchecked Sendable {  // Immutable.
    let name: String
    /// nil: it has no Swift type.
    let type: ObjectIdentifier?
    let stream: PublishedStream
    let index: Int
    let template: MessageTemplate
    /// Its interface's place among those that the log keeps; nil for a volatile one.
    let logIndex: Int?
    /// Its payload is the value's own bytes, so many; nil: its fields in the wire encoding.
    let valueSize: Int?
    /// The same where nothing but those bytes is to be published.
    private let plainSize: Int?
    /// It is something in an older interface, too.
    let isMapped: Bool
    /// The stamp, the padding before it, and for a durable one what `Read` or a signal to one peer puts around a body:
    /// it must not be found too large once it was committed.
    private var room: Int { logIndex == nil ? 32 : 2_048 }

    init(_ place: InterfacePlan.Place, type: ObjectIdentifier? = nil, valueSize: Int? = nil, isMapped: Bool = false) {
        (stream, index, logIndex, self.valueSize) = (place.stream, place.index, place.logIndex, valueSize)
        (name, template, self.type) = (stream.names[index], stream.templates[index], type)
        (self.isMapped, plainSize) = (isMapped, isMapped ? nil : valueSize)
    }
    /// A value whose own bytes are the payload, while payloads are enough: makes no message. Returns false, with
    /// nothing done, where there is more to do.
    @inline(__always) final func publishBytes(_ value: UnsafeRawPointer) throws -> Bool {
        guard let plainSize, stream.needsPayloadsOnly.load(ordering: .relaxed) else { return false }
        return try stream.publish(index, UnsafeRawBufferPointer(start: value, count: plainSize))
    }
    /// Throws `TooLarge` for more fields than would fit into a message.
    final func check(_ count: Int) throws(RelayError) {
        let limit = WireLimits.defaultMessageLength - template.bodyStart - room
        if count > limit {
            throw RelayError(.tooLarge, "\(name): \(count) bytes of fields, \(limit) can be carried")
        }
    }
    /// What is to be committed of fields that fit.
    ///
    /// - Parameters:
    ///   - fields: is empty then.
    ///   - value: its own bytes, where these are the payload.
    final func encoded(_ fields: inout WireWriter, value: [UInt8]? = nil) throws -> EncodedEvent {
        if valueSize == nil, stream.limit != nil { try stream.check(fields.count, index) }
        if let logIndex { return .durable(interface: logIndex, LoggedEvent(index, &fields)) }
        let fields = fields.takeBytes()
        return .volatile { [stream, index, template] in
            (value ?? fields).withUnsafeBytes { payload in
                if stream.needsPayloadsOnly.load(ordering: .relaxed), (try? stream.publish(index, payload)) == true {
                    return
                }
                // Its size is known to fit. If the run has ended in between, the event is lost, like any volatile
                // event.
                guard var message = try? EventMessage(template, { $0.append(fields) }) else { return }
                try? stream.publish(index, &message, value: value == nil ? nil : payload)
            }
        }
    }
}

/// One event with its codec.
final class ExportedEvent<E: StreamEntry>: AnyExportedEvent, @unchecked Sendable {
    private let codec: WireCodec<E>
    /// What is set, and has a table of its own. A type can be both by an extension, which no contract's list shows.
    private let isDocument = E.self is any DomainDocument.Type
    private let older: [any EventDerivation<E>]

    init(_ codec: WireCodec<E>, _ place: InterfacePlan.Place, older: [any EventDerivation<E>] = []) {
        (self.codec, self.older) = (codec, older)
        let valueSize = place.logIndex == nil && E.isFixedLayout ? MemoryLayout<E>.size : nil
        super.init(place, type: ObjectIdentifier(E.self), valueSize: valueSize, isMapped: !older.isEmpty)
    }
    /// What it is in older interfaces.
    func derived(_ event: E, by events: ExportedEvents) throws -> [EncodedEvent] {
        try older.flatMap { try $0.encode(event, by: events) }
    }
    /// After `publishBytes`, which knows what to do with a value's own bytes while payloads are enough.
    func publish(_ event: E) throws {
        try check()
        if valueSize != nil {
            var message = try compose(event)
            return try withUnsafeBytes(of: event) { try stream.publish(index, &message, value: $0) }
        }
        if stream.needsPayloadsOnly.load(ordering: .relaxed) {
            let isDone = try codec.withFields(of: event) { fields in
                try check(fields.count)
                return try stream.publish(index, fields: fields)
            }
            if isDone { return }
        }
        var message = try compose(event)
        try stream.publish(index, &message)
    }
    private func check() throws(RelayError) {
        if isDocument { throw RelayError(.invalidArgument, "\(E.name) is a document: set it") }
    }
    private func compose(_ event: E) throws -> EventMessage {
        try EventMessage(template) { try codec.encode(event, into: &$0) }
    }
    /// Throws `TooLarge` for those that would not fit into a message.
    private func fields(of event: E) throws -> WireWriter {
        var writer = WireWriter()
        try codec.encode(event, into: &writer)
        try check(writer.count)
        return writer
    }
    /// What is to be committed.
    func encoded(_ event: E) throws -> EncodedEvent {
        try check()
        var writer = try fields(of: event)
        return try encoded(&writer, value: valueSize == nil ? nil : withUnsafeBytes(of: event) { Array($0) })
    }
}

/// All events of a service, by their types.
struct ExportedEvents: EventEncoder {
    private let service: String
    private let interfaces: Set<String>
    private var table = TypeTable<AnyExportedEvent>()
    private var documents: [ObjectIdentifier: AnyExportedDocument] = [:]
    /// What is published to several volatile interfaces is in the same order in each.
    private let order = SharedOrder()

    init(_ service: String, _ interfaces: [ExportedInterface]) {
        self.service = service
        self.interfaces = Set(interfaces.map(\.name))
        for interface in interfaces {
            for event in interface.events { if let type = event.type { table.insert(event, for: type) } }
            for document in interface.documents {
                if let type = document.type, documents[type] == nil { documents[type] = document }
            }
        }
    }
    func encode<E: StreamEntry>(_ event: E) throws -> EncodedEvent {
        let served = try served(E.self)
        return served.isMapped ? order.joined(try parts(of: event)) : try served.encoded(event)
    }
    /// The event, then what it is in older interfaces.
    func parts<E: StreamEntry>(of event: E) throws -> [EncodedEvent] {
        let served = try served(E.self)
        let own = try served.encoded(event)
        return served.isMapped ? [own] + (try served.derived(event, by: self)) : [own]
    }
    func publish<E: StreamEntry>(_ event: E) throws {
        let served = try served(E.self)
        if !served.isMapped { return try served.publish(event) }
        if served.stream.hasEnded { throw served.stream.ended }
        if case .volatile(let send) = try encode(event) { send() }
    }
    @inline(__always) func publishBytes(_ value: UnsafeRawPointer, _ type: ObjectIdentifier) throws -> Bool {
        guard let served = table.reference(for: type) else { return false }
        return try served._withUnsafeGuaranteedRef { try $0.publishBytes(value) }
    }

    func document<D: DomainDocument>(_ type: D.Type) throws -> ExportedDocument<D> {
        if let document = documents[ObjectIdentifier(type)] as? ExportedDocument<D> { return document }
        throw unlisted(D.name, D.Interface.name)
    }
    /// For what is of an interface that is not exported, or is not in the contract of one that is.
    private func unlisted(_ what: String, _ interface: String) -> RelayError {
        RelayError(
            .notFound,
            interfaces.contains(interface)
                ? "\(what) is not in the contract of \(interface): list it there"
                : "\(what) is of \(interface), which \(service) does not export: add it to exporting")
    }

    private func served<E: StreamEntry>(_ type: E.Type) throws -> ExportedEvent<E> {
        guard let served = table.value(for: ObjectIdentifier(type)) else {
            throw unlisted(E.name, E.Interface.name)
        }
        // What the table holds for E was made for E. (A checked cast looks the type's metadata up at every publish.)
        return unsafeDowncast(served, to: ExportedEvent<E>.self)
    }
}

/// Knows the events and documents of a service's interfaces, and how to encode them.
package protocol EventEncoder: Sendable {
    /// Throws `NotFound` for an event of an interface that is not exported, `InvalidArgument` for a value that D-Bus
    /// cannot carry, `TooLarge` over the message limit.
    func encode<E: StreamEntry>(_ event: E) throws -> EncodedEvent
    /// A document of the service. Throws `NotFound` for one of an interface that is not exported.
    func document<D: DomainDocument>(_ type: D.Type) throws -> ExportedDocument<D>
}

extension EventEncoder {
    package func document<D: DomainDocument>(_ type: D.Type) throws -> ExportedDocument<D> {
        throw RelayError(.notFound, "\(D.name) is of \(D.Interface.name), which has no service")
    }
}

/// An event before it has its place.
package enum EncodedEvent: Sendable {
    /// The interface's number in what `EventLogStorage.open` was given.
    case durable(interface: Int, LoggedEvent)
    /// Events of several durable interfaces, for one transaction.
    case several([EncodedEvent])
    /// To be called after the commit, on the committing thread: gives it its place, and sends it.
    case volatile(@Sendable () -> Void)
}

extension EncodedEvent {
    /// Each with one place.
    package var parts: [EncodedEvent] { if case .several(let parts) = self { parts } else { [self] } }
}

/// Keeps what belongs together in one order, in all the volatile interfaces that it goes to.
private final class SharedOrder: Sendable {
    private let lock = PublishingLock(())

    /// One of several: all of them are durable, or all are volatile.
    func joined(_ parts: [EncodedEvent]) -> EncodedEvent {
        let volatile = parts.compactMap { part in if case .volatile(let send) = part { send } else { nil } }
        if volatile.count < parts.count { return .several(parts) }
        // What is called was encoded before: no code of a user's runs under the lock.
        return .volatile { [self] in lock.withLock { _ in for send in volatile { send() } } }
    }
}
