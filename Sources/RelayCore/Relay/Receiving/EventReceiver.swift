/// How one type of event comes in, without its type. In a turn of the relay's loop only.
class AnyReceiver: @unchecked Sendable {  // In a turn of the loop only.
    private let type: ObjectIdentifier
    /// Of payloads that are the type's own bytes; as far as one was met. The present plan keeps it.
    @exclusivity(unchecked) fileprivate var ownFormat: Unmanaged<PayloadFormat>?
    /// Of events that could not be decoded.
    let drops = DropCounts()

    fileprivate init(_ type: ObjectIdentifier) { self.type = type }

    /// Delivers an event.
    ///
    /// A payload that is a value's own bytes is delivered from where it lies: here, without the type, because generic
    /// code that is not specialised looks metadata up at every turn.
    @inline(__always) final func take(_ raw: RawEvent, _ stamp: Stamp, _ publisher: EventPublisher) {
        guard let ownFormat, raw.has(ownFormat), let value = raw.body.baseAddress else {
            return receive(raw, stamp, publisher)
        }
        // The inlet checked its size, and aligned it to 8, as no number needs more. It stays until the turn goes on.
        let rest = publisher.deliver(value, type, stamp)
        if rest != .none { deliverRest(rest, of: value, stamp, publisher) }
    }
    func deliverRest(
        _ rest: EventPublisher.Rest, of value: UnsafeRawPointer, _ stamp: Stamp, _ publisher: EventPublisher
    ) {}
    func adopt(_ schemas: StreamSchemas) {}
    func receive(_ raw: RawEvent, _ stamp: Stamp, _ publisher: EventPublisher) {}
    func gap(_ gap: Gap, _ publisher: EventPublisher) {}
    func lasting(_ gap: Gap, isNew: Bool, _ publisher: EventPublisher) {}
}

/// Delivers events of one type to the relay's publisher.
final class EventReceiver<E: DomainEvent>: AnyReceiver, @unchecked Sendable {
    private let decoder: EventDecoder<E>
    private var hasReportedMismatch = false

    /// How the present owner's payloads are read.
    private var plan: EventDecoder<E>.PayloadPlan?

    init(_ type: E.Type) throws {
        decoder = try EventDecoder(type)
        super.init(ObjectIdentifier(type))
    }

    override func deliverRest(
        _ rest: EventPublisher.Rest, of value: UnsafeRawPointer, _ stamp: Stamp, _ publisher: EventPublisher
    ) {
        publisher.deliverRest(rest, of: value.assumingMemoryBound(to: E.self).pointee, stamp)
    }
    /// A payload, the first of its format, or one that is not the type's own bytes.
    private func receive(
        _ format: PayloadFormat, _ payload: UnsafeRawBufferPointer, _ stamp: Stamp, _ publisher: EventPublisher
    ) {
        let plan = plan.flatMap { $0.format === format ? $0 : nil } ?? decoder.plan(for: format)
        (self.plan, ownFormat) = (plan, plan.isOwn ? .passUnretained(plan.format) : nil)
        if let fault = plan.fault { return report(mismatch: fault, stamp, publisher) }
        do { publisher.deliver(try decoder.event(payload, plan), stamp: stamp) } catch {
            report(unreadable: error, stamp, publisher)
        }
    }
    /// It holds until another service comes: none of its events can be read.
    private func report(mismatch: RelayError, _ stamp: Stamp, _ publisher: EventPublisher) {
        drops.countUnreadable()
        let gap = Gap(
            stamp.sequence...UInt64.max, epoch: stamp.epoch, count: nil, reason: .schemaMismatch,
            detail: mismatch.message)
        lasting(gap, isNew: !hasReportedMismatch, publisher)
        hasReportedMismatch = true
    }
    private func report(unreadable error: any Error, _ stamp: Stamp, _ publisher: EventPublisher) {
        drops.countUnreadable()
        let detail = (error as? RelayError)?.message ?? "\(error)"
        let one = stamp.sequence...stamp.sequence
        gap(Gap(one, epoch: stamp.epoch, count: 1, reason: .schemaMismatch, detail: detail), publisher)
    }
    override func adopt(_ schemas: StreamSchemas) { hasReportedMismatch = false }
    override func receive(_ raw: RawEvent, _ stamp: Stamp, _ publisher: EventPublisher) {
        if let format = raw.format { return receive(format, raw.body, stamp, publisher) }
        if let mismatch = decoder.fault(raw.schemas, raw.schema), raw.schema == raw.schemas?.present(of: E.name) {
            return report(mismatch: mismatch, stamp, publisher)
        }
        do { publisher.deliver(try decoder.event(raw), stamp: stamp) } catch {
            report(unreadable: error, stamp, publisher)
        }
    }
    override func gap(_ gap: Gap, _ publisher: EventPublisher) { publisher.deliver(gap, to: [E.self]) }
    override func lasting(_ gap: Gap, isNew: Bool, _ publisher: EventPublisher) {
        publisher.deliver(lasting: gap, isNew: isNew, to: [E.self])
    }
}
