/// How one type of event comes in, without its type. In a turn of the relay's loop only.
class AnyReceiver: @unchecked Sendable {  // In a turn of the loop only.
    private let type: ObjectIdentifier
    /// How the last event was read, and most often the next one is.
    @exclusivity(unchecked) fileprivate var plan: DecodingPlan? {
        didSet { ownFormat = plan.flatMap { $0.isOwn ? $0.format.map { .passUnretained($0) } : nil } }
    }
    /// Of payloads that are the type's own bytes; if the plan is for these, which keeps it.
    @exclusivity(unchecked) private var ownFormat: Unmanaged<EventFormat>?
    /// Of events that could not be decoded.
    let drops = DropCounts()

    fileprivate init(_ type: ObjectIdentifier) { self.type = type }

    /// Delivers an event.
    ///
    /// A payload that is a value's own bytes is delivered from where it lies: here, without the type, because generic
    /// code that is not specialised looks metadata up at every turn.
    @inline(__always) final func take(_ raw: RawEvent, _ publisher: EventPublisher) {
        guard let ownFormat, raw.has(ownFormat), let value = raw.body.baseAddress else {
            return receive(raw, publisher)
        }
        // The inlet checked its size, and aligned it to 8, as no number needs more. It stays until the turn goes on.
        let rest = publisher.deliver(value, type, raw.stamp)
        if rest != .none { deliverRest(rest, of: value, raw.stamp, publisher) }
    }
    func deliverRest(
        _ rest: EventPublisher.Rest, of value: UnsafeRawPointer, _ stamp: Stamp, _ publisher: EventPublisher
    ) {}
    func adopt(_ schemas: StreamSchemas) {}
    func receive(_ raw: RawEvent, _ publisher: EventPublisher) {}
    func gap(_ gap: Gap, _ publisher: EventPublisher) {}
    func lasting(_ gap: Gap, isNew: Bool, _ publisher: EventPublisher) {}
}

/// Delivers events of one type to the relay's publisher.
final class EventReceiver<E: StreamEntry>: AnyReceiver, @unchecked Sendable {
    private let decoder: EventDecoder<E>
    private var hasReportedMismatch = false

    init(_ type: E.Type) throws {
        decoder = try EventDecoder(type)
        super.init(ObjectIdentifier(type))
    }

    override func deliverRest(
        _ rest: EventPublisher.Rest, of value: UnsafeRawPointer, _ stamp: Stamp, _ publisher: EventPublisher
    ) {
        publisher.deliverRest(rest, of: value.assumingMemoryBound(to: E.self).pointee, stamp)
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
    override func receive(_ raw: RawEvent, _ publisher: EventPublisher) {
        do {
            let plan = try plan(for: raw)
            if plan.isMismatch, let fault = plan.fault { return report(mismatch: fault, raw.stamp, publisher) }
            publisher.deliver(try decoder.event(raw, plan), stamp: raw.stamp)
        } catch { report(unreadable: error, raw.stamp, publisher) }
    }
    private func plan(for raw: RawEvent) throws -> DecodingPlan {
        if let plan, raw.has(plan.format), raw.unknownSchema == nil { return plan }
        let found = try decoder.plan(for: raw)
        plan = found
        return found
    }
    override func gap(_ gap: Gap, _ publisher: EventPublisher) { publisher.deliver(gap, to: [E.self]) }
    override func lasting(_ gap: Gap, isNew: Bool, _ publisher: EventPublisher) {
        publisher.deliver(lasting: gap, isNew: isNew, to: [E.self])
    }
}
