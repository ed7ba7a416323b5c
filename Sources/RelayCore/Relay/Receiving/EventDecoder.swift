import Glibc
import Synchronization

/// Decodes events of one type, each by the schema that it was written with, or by the format of its payload. From any
/// thread.
class AnyEventDecoder: @unchecked Sendable {  // Its only subclass guards what changes.
    func anyEvent(_ raw: RawEvent) throws -> any DomainEvent { fatalError("AnyEventDecoder is abstract") }
}

/// How one schema's rows become events, or why they cannot. Of no type: a generic one's metadata is looked up at every
/// use.
private final class DecodingPlan: Sendable {
    let map: FieldMap
    let signature: [UInt8]
    let fault: RelayError?
    init(_ map: FieldMap, _ signature: String, fault: RelayError? = nil) {
        (self.map, self.signature, self.fault) = (map, Array((signature + WireSchema.stampSignature).utf8), fault)
    }
}
private struct DecodingPlans {
    /// The sender's schemas, for which the plans below were made.
    var schemas: StreamSchemas?
    var byNumber: [UInt32: DecodingPlan] = [:]
    /// The one that was used last.
    var number: UInt32 = 0
    var last: DecodingPlan?
}

/// The decoder of a known type.
final class EventDecoder<E: DomainEvent>: AnyEventDecoder, @unchecked Sendable {
    /// How payloads of one format become events, or why they cannot.
    final class PayloadPlan: Sendable {
        let format: PayloadFormat
        fileprivate let map: FieldMap
        /// The payload is a value's own bytes, of this type.
        let isOwn: Bool
        let fault: RelayError?
        fileprivate init(_ format: PayloadFormat, _ map: FieldMap, isOwn: Bool, fault: RelayError? = nil) {
            (self.format, self.map, self.isOwn, self.fault) = (format, map, isOwn, fault)
        }
    }
    private let codec: WireCodec<E>
    private let form: WireForm
    private let own: DecodingPlan
    private let layout: PayloadLayout?
    private let plans = Mutex(DecodingPlans())
    private let lastPayloads = Mutex<PayloadPlan?>(nil)

    /// Throws `UnsupportedType` with type, field and reason.
    init(_ type: E.Type) throws {
        codec = try WireCodec(event: type)
        form = codec.form
        own = DecodingPlan(codec.map, codec.schema.signature)
        layout = try PayloadLayout.of(type)
    }

    override func anyEvent(_ raw: RawEvent) throws -> any DomainEvent { try event(raw) }

    /// Throws `SchemaMismatch` for one that its schema makes unreadable, and what the codec throws for its bytes.
    func event(_ raw: RawEvent) throws -> E {
        if let format = raw.format { return try event(raw.body, plan(for: format)) }
        return try event(raw, plan(raw))
    }
    /// Calls `take` with events of a page of the journal, until it returns false, or one cannot be read; then `fault`
    /// says why. Returns how many it has taken.
    func each(_ page: ReplayPage, _ range: Range<Int>, _ fault: inout (any Error)?, _ take: (E) -> Bool) -> Int {
        page.bytes.withUnsafeBytes { bytes in
            page.entries.withUnsafeBufferPointer { entries in each(page, bytes, entries, range, &fault, take) }
        }
    }
    private func each(
        _ page: ReplayPage, _ bytes: UnsafeRawBufferPointer, _ entries: UnsafeBufferPointer<ReplayPage.Entry>,
        _ range: Range<Int>, _ fault: inout (any Error)?, _ take: (E) -> Bool
    ) -> Int {
        let form = form
        var taken = 0
        // Of the event before, which are mostly those of the next one, too. Nobody else has the decoder meanwhile; it is
        // not counted for each event.
        var plan: DecodingPlan?
        var (kind, isIdentical): (Int32?, Bool) = (nil, false)
        var decoder: Unmanaged<WireDecoder>?
        defer { if let plan, let decoder { plan.map.decoders.keep(decoder) } }
        do {
            for index in range {
                let entry = entries[index]
                if entry.kind != kind {
                    let raw = page.raw(index, in: bytes)
                    let next = self.plan(raw)
                    try check(raw, next)
                    if let plan, let decoder { plan.map.decoders.keep(decoder) }
                    (kind, isIdentical, plan) = (entry.kind, next.map.isIdentical, next)
                    decoder = next.map.decoders.take()
                }
                guard let decoder else { break }  // Taken above.
                let body = UnsafeRawBufferPointer(rebasing: bytes[entry.body])
                if try !take(form.decode(E.self, stamped: body, isIdentical: isIdentical, by: decoder)) { break }
                taken += 1
            }
        } catch { fault = error }
        return taken
    }
    @inline(__always) private func event(_ raw: RawEvent, _ plan: DecodingPlan) throws -> E {
        try check(raw, plan)
        return try form.decode(E.self, stamped: raw.body, using: plan.map)
    }
    @inline(__always) private func check(_ raw: RawEvent, _ plan: DecodingPlan) throws {
        if let fault = plan.fault { throw fault }
        guard PageReader.isEqual(raw.signature, plan.signature) else {
            let came = String(decoding: raw.signature, as: UTF8.self)
            let expected = String(decoding: plan.signature, as: UTF8.self)
            throw RelayError(.schemaMismatch, "\(E.name) came with signature '\(came)' instead of '\(expected)'")
        }
    }
    /// Why no event of a schema can be read; nil when they can.
    func fault(_ schemas: StreamSchemas?, _ number: UInt32?) -> RelayError? {
        guard let schemas, let number else { return nil }
        return plan(schemas, number).fault
    }

    // MARK: Payloads

    func plan(for format: PayloadFormat) -> PayloadPlan {
        lastPayloads.withLock { last in
            if let last, last.format === format { return last }
            let plan = makePlan(format)
            last = plan
            return plan
        }
    }
    /// A payload as an event. Throws the plan's fault, and `InvalidArgument` for its bytes.
    func event(_ payload: UnsafeRawBufferPointer, _ plan: PayloadPlan) throws -> E {
        if let fault = plan.fault { throw fault }
        if plan.isOwn {
            let size = MemoryLayout<E>.size
            guard payload.count == size, let bytes = payload.baseAddress else {
                throw RelayError(.invalidArgument, "\(E.name): \(payload.count) bytes; its layout has \(size)")
            }
            // Of this size, and every byte of it a number's: `PayloadLayout.of` checked the type.
            return withUnsafeTemporaryAllocation(of: E.self, capacity: 1) { value in
                UnsafeMutableRawBufferPointer(value).copyMemory(
                    from: UnsafeRawBufferPointer(start: bytes, count: size))
                return value[0]
            }
        }
        guard let transcoder = plan.format.transcoder else { return try codec.decode(payload, using: plan.map) }
        var writer = WireWriter(capacity: 2 * payload.count + 64)
        try transcoder.transcode(payload, into: &writer)
        return try writer.withUnsafeBytes { bytes in Result { try codec.decode(bytes, using: plan.map) } }.get()
    }
    private func makePlan(_ format: PayloadFormat) -> PayloadPlan {
        if format.has(layout) { return PayloadPlan(format, codec.map, isOwn: true) }
        do throws(RelayError) {
            return PayloadPlan(
                format, try FieldMap(sender: format.fields, to: codec.schema, event: E.name), isOwn: false)
        } catch {
            return PayloadPlan(format, codec.map, isOwn: false, fault: error)
        }
    }

    // MARK: Messages

    private func plan(_ raw: RawEvent) -> DecodingPlan {
        guard let schemas = raw.schemas, let number = raw.schema else { return own }
        return plan(schemas, number)
    }
    private func plan(_ schemas: StreamSchemas, _ number: UInt32) -> DecodingPlan {
        plans.withLock { plans in
            if plans.schemas !== schemas { plans = DecodingPlans(schemas: schemas) }
            if let last = plans.last, plans.number == number { return last }
            let plan = plans.byNumber[number] ?? makePlan(schemas, number)
            plans.byNumber[number] = plan
            (plans.number, plans.last) = (number, plan)
            return plan
        }
    }
    private func makePlan(_ schemas: StreamSchemas, _ number: UInt32) -> DecodingPlan {
        guard let schema = schemas.byNumber[number], schema.event == E.name else {
            let text = "the service does not report the fields of \(E.name) as schema \(number) has them"
            return DecodingPlan(codec.map, codec.schema.signature, fault: RelayError(.schemaMismatch, text))
        }
        do throws(RelayError) {
            let map = try FieldMap(sender: schema.fields, to: codec.schema, event: E.name)
            return DecodingPlan(map, schema.fields.map(\.type.signature).joined())
        } catch {
            return DecodingPlan(codec.map, codec.schema.signature, fault: error)
        }
    }
}
