import RelayCore
import Relocation
import RelocationDomain
import TestSupport
import RelayWire

/// The events of the contract, as a service numbers and encodes them for its log; and back.
struct RelocationEncoder: EventEncoder {
    private static let types = Relocation1.contract.events

    static func interface(_ stream: any CommittedEventSink, epoch: UInt64) throws -> LoggedInterface {
        func schema<E: StreamEntry>(_ type: E.Type) throws -> EventSchema {
            EventSchema(event: E.name, fields: try WireSchema(event: type).fields)
        }
        return LoggedInterface(
            name: Relocation1.name, epoch: epoch, retention: Relocation1.durability.retention,
            events: try types.map { try schema($0) }, stream: stream)
    }
    func encode<E: StreamEntry>(_ event: E) throws -> EncodedEvent {
        guard let index = Self.types.firstIndex(where: { $0 == E.self }) else {
            throw RelayError(.notFound, "\(E.self) is not of \(Relocation1.name)")
        }
        var fields = WireWriter()
        try WireCodec<E>(event: E.self).encode(event, into: &fields)
        return .durable(interface: 0, LoggedEvent(index, &fields))
    }
    /// The event of a signal's whole body.
    static func event(named name: String, _ body: [UInt8]) throws -> any RelocationEvent {
        func decode<E: StreamEntry>(_ type: E.Type) throws -> (any RelocationEvent)? {
            let codec = try WireCodec<E>(event: type)
            let stamp = try Signature(WireSchema.stampSignature)
            return try body.withUnsafeBytes {
                try codec.decode($0, trailing: stamp) as? any RelocationEvent
            }
        }
        guard let type = types.first(where: { $0.name == name }), let event = try decode(type) else {
            throw RelayError(.notFound, "no event \(name)")
        }
        return event
    }
    static func event(_ number: Int, _ body: [UInt8]) throws -> any RelocationEvent {
        try event(named: types[number].name, body)
    }
}
