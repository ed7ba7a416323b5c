import Synchronization

/// One event of an exported interface, without its type.
class AnyServedEvent: @unchecked Sendable {  // Immutable.
    let lane: EventLane
    let index: Int
    /// Its interface's place among those that the log keeps; nil for a volatile one.
    let logIndex: Int?
    let template: MessageTemplate
    /// The ring gets the value's own bytes, so many.
    let rawSize: Int?

    init(
        _ lane: EventLane, _ index: Int, logIndex: Int?, rawSize: Int?, _ name: String, _ signature: String
    ) throws {
        (self.lane, self.index, self.logIndex, self.rawSize) = (lane, index, logIndex, rawSize)
        template = try MessageTemplate(
            path: lane.path, interface: lane.interface, member: name,
            signature: Signature(signature + WireSchema.stampSignature))
    }
    /// A value's own bytes, while nobody gets signals: makes no message. Returns false, with nothing done, where there is more to do.
    @inline(__always) final func publishIntoRing(_ value: UnsafeRawPointer) throws -> Bool {
        guard let rawSize, lane.arePaused.load(ordering: .relaxed) else { return false }
        return try lane.publishPaused(index, UnsafeRawBufferPointer(start: value, count: rawSize))
    }
}

/// One event with its codec.
final class ServedEvent<E: DomainEvent>: AnyServedEvent, @unchecked Sendable {
    private let codec: WireCodec<E>
    private var isRaw: Bool { rawSize != nil }
    /// The stamp, the padding before it, and for a durable one what `Read` or a signal to one peer puts around a body: it must
    /// not be found too large once it was committed.
    private var room: Int { logIndex == nil ? 32 : 2_048 }

    init(_ type: E.Type, _ codec: WireCodec<E>, _ lane: EventLane, _ index: Int, logIndex: Int?) throws {
        self.codec = codec
        var rawSize: Int?
        if logIndex == nil, case .raw(let size) = E.ringPayload.kind { rawSize = size }
        try super.init(lane, index, logIndex: logIndex, rawSize: rawSize, type.name, codec.schema.signature)
    }
    /// After `publishIntoRing`, which knows what to do with raw bytes while nobody gets signals.
    func publish(_ event: E) throws {
        if isRaw {
            return try withUnsafeBytes(of: event) { raw in
                try lane.publish(index, template, raw: raw) { writer in try codec.encode(event, into: &writer) }
            }
        }
        if lane.arePaused.load(ordering: .relaxed) {
            let writer = try fields(of: event)
            if try writer.withUnsafeBytes({ try lane.publishPaused(index, $0) }) { return }
        }
        try lane.publish(index, template) { writer in try codec.encode(event, into: &writer) }
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
        var writer = try fields(of: event)
        if let logIndex { return .durable(interface: logIndex, event: index, body: EventBody(&writer)) }
        let fields = writer.takeBytes()
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
