/// How one type of event comes in, without its type. On the relay's thread only.
class AnyReceiver: @unchecked Sendable {  // Used on the loop's thread only.
    func adopt(_ schemas: LaneSchemas) {}
    func receive(_ raw: RawEvent, _ stamp: Stamp, _ publisher: EventPublisher) {}
    func gap(_ gap: Gap, _ publisher: EventPublisher) {}
    func lasting(_ gap: Gap, isNew: Bool, _ publisher: EventPublisher) {}
}

/// Delivers events of one type to the relay's publisher.
final class EventReceiver<E: DomainEvent>: AnyReceiver, @unchecked Sendable {
    private let decoder: EventDecoder<E>
    private var hasToldMismatch = false

    init(_ type: E.Type) throws { decoder = try EventDecoder(type) }

    override func adopt(_ schemas: LaneSchemas) { hasToldMismatch = false }
    override func receive(_ raw: RawEvent, _ stamp: Stamp, _ publisher: EventPublisher) {
        if let mismatch = decoder.fault(raw.schemas, raw.schema), raw.schema == raw.schemas?.present(of: E.name) {
            // It holds until another service comes: none of its events can be read.
            let gap = Gap(
                stamp.sequence...UInt64.max, epoch: stamp.epoch, count: nil, reason: .schemaMismatch,
                detail: mismatch.message)
            lasting(gap, isNew: !hasToldMismatch, publisher)
            hasToldMismatch = true
            return
        }
        do {
            publisher.deliver(try decoder.event(raw), stamp: stamp)
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
