/// One event of an exported interface, without its type.
class AnyServedEvent: @unchecked Sendable {  // Immutable.
    let lane: EventLane
    let index: Int
    let template: MessageTemplate

    init(_ lane: EventLane, _ index: Int, _ name: String, _ signature: String) throws {
        (self.lane, self.index) = (lane, index)
        template = try MessageTemplate(
            path: lane.path, interface: lane.interface, member: name,
            signature: Signature(signature + WireSchema.stampSignature))
    }
}

/// One event with its codec.
final class ServedEvent<E: DomainEvent>: AnyServedEvent, @unchecked Sendable {
    private let codec: WireCodec<E>

    init(_ type: E.Type, _ codec: WireCodec<E>, _ lane: EventLane, _ index: Int) throws {
        self.codec = codec
        try super.init(lane, index, type.name, codec.schema.signature)
    }
    func publish(_ event: E) throws {
        try lane.publish(index, template) { writer in try codec.encode(event, into: &writer) }
    }
}
