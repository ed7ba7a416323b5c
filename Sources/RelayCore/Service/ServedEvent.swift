import Synchronization

/// One event of an exported interface, without its type.
class AnyServedEvent: @unchecked Sendable {  // Immutable.
    let lane: EventLane
    let index: Int
    /// Its interface's place among those that the log keeps; nil for a volatile one.
    let logIndex: Int?
    let template: MessageTemplate

    init(_ lane: EventLane, _ index: Int, logIndex: Int?, _ name: String, _ signature: String) throws {
        (self.lane, self.index, self.logIndex) = (lane, index, logIndex)
        template = try MessageTemplate(
            path: lane.path, interface: lane.interface, member: name,
            signature: Signature(signature + WireSchema.stampSignature))
    }
}

/// One event with its codec.
final class ServedEvent<E: DomainEvent>: AnyServedEvent, @unchecked Sendable {
    private let codec: WireCodec<E>
    /// The ring gets the value's own bytes.
    private let isRaw: Bool
    /// The stamp, the padding before it, and for a durable one what `Read` or a signal to one peer puts around a body: it must
    /// not be found too large once it was committed.
    private var room: Int { logIndex == nil ? 32 : 2_048 }

    init(_ type: E.Type, _ codec: WireCodec<E>, _ lane: EventLane, _ index: Int, logIndex: Int?) throws {
        self.codec = codec
        if case .raw = E.ringPayload.kind { isRaw = logIndex == nil } else { isRaw = false }
        try super.init(lane, index, logIndex: logIndex, type.name, codec.schema.signature)
    }
    func publish(_ event: E) throws {
        if lane.arePaused.load(ordering: .relaxed), try publishPaused(event) { return }
        if !isRaw { return try lane.publish(index, template) { writer in try codec.encode(event, into: &writer) } }
        try withUnsafeBytes(of: event) { raw in
            try lane.publish(index, template, raw: raw) { writer in try codec.encode(event, into: &writer) }
        }
    }
    /// While nobody gets signals: makes no message.
    private func publishPaused(_ event: E) throws -> Bool {
        if isRaw { return try withUnsafeBytes(of: event) { try lane.publishPaused(index, $0) } }
        let writer = try fields(of: event)
        return try writer.withUnsafeBytes { try lane.publishPaused(index, $0) }
    }
    /// Throws `TooLarge` for those that would not fit into a message, or into the ring.
    private func fields(of event: E) throws -> WireWriter {
        var writer = WireWriter()
        try codec.encode(event, into: &writer)
        let limit = WireLimits.defaultMessageLength - template.bodyStart - room
        if writer.count > limit {
            throw RelayError(.tooLarge, "\(E.name): \(writer.count) bytes of fields, \(limit) can be carried")
        }
        if !isRaw { try lane.checkRing(writer.count, index) }
        return writer
    }
    /// What is to be committed.
    func encoded(_ event: E) throws -> EncodedEvent {
        let fields = try fields(of: event).bytes
        if let logIndex { return .durable(interface: logIndex, event: index, fields: fields) }
        let raw = isRaw ? withUnsafeBytes(of: event) { Array($0) } : fields
        return .volatile { [lane, index, template] in
            raw.withUnsafeBytes { raw in
                if lane.arePaused.load(ordering: .relaxed), (try? lane.publishPaused(index, raw)) == true { return }
                // Its size is known to fit. A run that has ended in between is not told of it: like any volatile event, it is gone.
                try? lane.publish(index, template, raw: raw) { $0.append(fields) }
            }
        }
    }
}
