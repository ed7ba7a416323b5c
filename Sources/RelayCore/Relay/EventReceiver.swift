import Glibc

/// How one type of event comes in, without its type. On the relay's thread only.
class AnyReceiver: @unchecked Sendable {  // Used on the loop's thread only.
    func adopt(_ fields: [WireField]) {}
    func receive(
        _ body: UnsafeRawBufferPointer, _ signature: UnsafePointer<CChar>, _ stamp: Stamp, _ publisher: EventPublisher
    ) {}
    func gap(_ gap: Gap, _ publisher: EventPublisher) {}
    func lasting(_ gap: Gap, isNew: Bool, _ publisher: EventPublisher) {}
}

/// Decodes events of one type, by the fields that the present service has.
final class EventReceiver<E: DomainEvent>: AnyReceiver, @unchecked Sendable {
    private let codec: WireCodec<E>
    private let trailing: Signature
    private var map: FieldMap
    private var expected: String
    private var mismatch: RelayError?
    private var hasToldMismatch = false

    init(_ type: E.Type) throws {
        codec = try WireCodec(event: type)
        trailing = try Signature(WireSchema.stampSignature)
        map = codec.map
        expected = codec.schema.signature + WireSchema.stampSignature
    }
    override func adopt(_ fields: [WireField]) {
        (mismatch, hasToldMismatch) = (nil, false)
        do throws(RelayError) {
            map = try FieldMap(sender: fields, to: codec.schema, event: E.name)
            expected = fields.map(\.type.signature).joined() + WireSchema.stampSignature
        } catch {
            mismatch = error
        }
    }
    override func receive(
        _ body: UnsafeRawBufferPointer, _ signature: UnsafePointer<CChar>, _ stamp: Stamp, _ publisher: EventPublisher
    ) {
        if let mismatch {
            // It holds until another service comes: none of its events can be read.
            let gap = Gap(
                stamp.sequence...UInt64.max, epoch: stamp.epoch, count: nil, reason: .schemaMismatch,
                detail: mismatch.message)
            lasting(gap, isNew: !hasToldMismatch, publisher)
            hasToldMismatch = true
            return
        }
        do {
            if expected.withCString({ strcmp(signature, $0) }) != 0 {
                let signature = String(cString: signature)
                throw RelayError(
                    .schemaMismatch, "\(E.name) came with signature '\(signature)' instead of '\(expected)'")
            }
            let event = try codec.decode(body, using: map, trailing: trailing)
            publisher.deliver(event, stamp: stamp)
        } catch {
            let detail = (error as? RelayError)?.message ?? "\(error)"
            let one = stamp.sequence...stamp.sequence
            gap(Gap(one, epoch: stamp.epoch, count: 1, reason: .schemaMismatch, detail: detail), publisher)
        }
    }
    override func gap(_ gap: Gap, _ publisher: EventPublisher) { publisher.deliver(gap, to: [E.self]) }
    override func lasting(_ gap: Gap, isNew: Bool, _ publisher: EventPublisher) {
        publisher.deliver(lasting: gap, isNew: isNew, to: [E.self])
    }
}
