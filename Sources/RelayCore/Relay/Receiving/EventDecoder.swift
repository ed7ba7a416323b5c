import Glibc
import Synchronization
import RelayWire

/// Decodes events of one type, each as its format says. From any thread.
class AnyEventDecoder: @unchecked Sendable {  // Its only subclass guards what changes.
    func anyEvent(_ raw: RawEvent) throws -> any StreamEntry { fatalError("AnyEventDecoder is abstract") }
}

/// How bodies of one format become events of a type, or why they cannot. Of no type: a generic one's metadata is looked
/// up at every use.
final class DecodingPlan: Sendable {
    /// Nil: what the type's own fields make, before the owner has reported any.
    let format: EventFormat?
    /// From the sender's fields, where they are others than the type's.
    fileprivate let translation: WireTranslation?
    /// Of a whole body.
    fileprivate let signature: [UInt8]
    /// A payload is a value's own bytes, of this type.
    let isOwn: Bool
    let fault: RelayError?
    /// None of the owner's events can be read, until there is another owner.
    let isMismatch: Bool

    fileprivate init(
        _ format: EventFormat?, _ signature: String, _ translation: WireTranslation? = nil, isOwn: Bool = false,
        fault: RelayError? = nil, isMismatch: Bool = false
    ) {
        (self.format, self.translation, self.signature) = (format, translation, Array(signature.utf8))
        (self.isOwn, self.fault, self.isMismatch) = (isOwn, fault, isMismatch)
    }
}
private struct DecodingPlans {
    var last: DecodingPlan?
    /// By their formats, which they keep: no other one gets the place of one of these.
    var known: [ObjectIdentifier: DecodingPlan] = [:]
    /// A sound owner has fewer formats of an event. Another one does not make this grow without end.
    static let most = 64
}

/// The decoder of a known type.
final class EventDecoder<E: StreamEntry>: AnyEventDecoder, @unchecked Sendable {
    private let codec: WireCodec<E>
    private let form: WireForm
    private let own: DecodingPlan
    /// As a ring's list would have the type.
    private let entry: RingEvent
    private let plans = Mutex(DecodingPlans())

    /// Throws `UnsupportedType` with type, field and reason.
    init(_ type: E.Type) throws {
        codec = try WireCodec(event: type)
        form = codec.form
        own = DecodingPlan(nil, codec.schema.signature + WireSchema.stampSignature)
        entry = try RingEvent(type)
    }

    override func anyEvent(_ raw: RawEvent) throws -> any StreamEntry { try event(raw) }

    /// Throws `SchemaMismatch` for one that its format makes unreadable, and what the codec throws for its bytes.
    func event(_ raw: RawEvent) throws -> E { try event(raw, plan(for: raw)) }
    func event(_ raw: RawEvent, _ plan: DecodingPlan) throws -> E {
        if raw.isPayload { return try event(raw.body, plan) }
        try check(raw, plan)
        return try form.decode(E.self, stamped: raw.body, by: plan.translation)
    }
    /// Calls `take` with events of a page of the journal, until it returns false, or one cannot be read; then `fault`
    /// says why. Returns how many it has taken.
    func each(_ page: KeptEvents, _ range: Range<Int>, _ fault: inout (any Error)?, _ take: (E) -> Bool) -> Int {
        page.bytes.withUnsafeBytes { bytes in
            page.entries.withUnsafeBufferPointer { entries in each(page, bytes, entries, range, &fault, take) }
        }
    }
    private func each(
        _ page: KeptEvents, _ bytes: UnsafeRawBufferPointer, _ entries: UnsafeBufferPointer<KeptEvents.Entry>,
        _ range: Range<Int>, _ fault: inout (any Error)?, _ take: (E) -> Bool
    ) -> Int {
        let form = form
        var taken = 0
        // Of the event before, which are mostly those of the next one, too.
        var (kind, translation): (Int32?, WireTranslation?)
        // Nobody else has it meanwhile; it is not counted for each event.
        let decoder = form.decoders.take()
        defer { form.decoders.keep(decoder) }
        do {
            for index in range {
                let entry = entries[index]
                if entry.kind != kind {
                    let raw = page.event(entry, in: bytes)
                    let next = try self.plan(for: raw)
                    try check(raw, next)
                    (kind, translation) = (entry.kind, next.translation)
                }
                let body = UnsafeRawBufferPointer(rebasing: bytes[entry.body])
                let event =
                    translation == nil
                    ? try form.decode(E.self, stamped: body, with: decoder)
                    : try form.decode(E.self, stamped: body, by: translation)
                if !take(event) { break }
                taken += 1
            }
        } catch { fault = error }
        return taken
    }
    @inline(__always) private func check(_ raw: RawEvent, _ plan: DecodingPlan) throws {
        if let fault = plan.fault { throw fault }
        guard PageReader.isEqual(raw.signature, plan.signature) else {
            let came = String(decoding: raw.signature, as: UTF8.self)
            let expected = String(decoding: plan.signature, as: UTF8.self)
            throw RelayError(.schemaMismatch, "\(E.name) came with signature '\(came)' instead of '\(expected)'")
        }
    }
    /// A payload as an event. Throws the plan's fault, and `InvalidArgument` for its bytes.
    private func event(_ payload: UnsafeRawBufferPointer, _ plan: DecodingPlan) throws -> E {
        if let fault = plan.fault { throw fault }
        if plan.isOwn {
            let size = MemoryLayout<E>.size
            guard payload.count == size, let bytes = payload.baseAddress else {
                throw RelayError(.invalidArgument, "\(E.name): \(payload.count) bytes; its layout has \(size)")
            }
            // Of this size, and every byte of it a number's: `RingEvent` checked the type.
            return withUnsafeTemporaryAllocation(of: E.self, capacity: 1) { value in
                UnsafeMutableRawBufferPointer(value).copyMemory(
                    from: UnsafeRawBufferPointer(start: bytes, count: size))
                return value[0]
            }
        }
        guard let transcoder = plan.format?.transcoder else {
            return try form.decode(E.self, fields: payload, by: plan.translation)
        }
        var writer = WireWriter(capacity: 2 * payload.count + 64)
        try transcoder.transcode(payload, into: &writer)
        return try writer.withUnsafeBytes { bytes in
            Result { try form.decode(E.self, fields: bytes, by: plan.translation) }
        }.get()
    }

    // MARK: Plans

    /// Throws `SchemaMismatch` for a schema that the owner does not report.
    func plan(for raw: RawEvent) throws -> DecodingPlan {
        guard let format = raw.format else {
            if let number = raw.unknownSchema { throw unreported(number) }
            return own
        }
        return plans.withLock { plans in
            if let last = plans.last, last.format === format { return last }
            let plan = plans.known[ObjectIdentifier(format)] ?? makePlan(format)
            if plans.known.count >= DecodingPlans.most { plans.known = [:] }
            plans.known[ObjectIdentifier(format)] = plan
            plans.last = plan
            return plan
        }
    }
    private func makePlan(_ format: EventFormat) -> DecodingPlan {
        if format.isOwn(of: entry) { return DecodingPlan(format, format.signature, isOwn: true) }
        // It came under another name than its schema's.
        guard format.name == E.name else {
            return DecodingPlan(format, format.signature, fault: unreported(format.number ?? 0))
        }
        do throws(RelayError) {
            let translation = try WireTranslation(from: format.fields, to: codec.schema.fields, .reading, of: E.name)
            return DecodingPlan(format, format.signature, translation.isIdentity ? nil : translation)
        } catch {
            return DecodingPlan(format, format.signature, fault: error, isMismatch: format.isPresent)
        }
    }
    private func unreported(_ schema: UInt32) -> RelayError {
        let text = "the service does not report the fields of \(E.name) as schema \(schema) has them"
        return RelayError(.schemaMismatch, text)
    }
}
