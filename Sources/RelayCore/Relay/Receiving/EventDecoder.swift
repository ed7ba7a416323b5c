import Glibc
import Synchronization

/// Decodes events of one type, each by the schema that it was written with, or by its ring's shape. From any thread.
class AnyEventDecoder: @unchecked Sendable {  // Its only subclass guards what changes.
    func anyEvent(_ raw: RawEvent) throws -> any DomainEvent { fatalError("AnyEventDecoder is abstract") }
}

/// How one schema's rows become events, or why they cannot. Of no type: a generic one's metadata is looked up at every use.
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
    /// How a ring's payloads become events, or why they cannot.
    final class RingWay: Sendable {
        let shape: RingPayloadFormat
        fileprivate let map: FieldMap
        /// The payload is a value's own bytes, of this type.
        let isOwn: Bool
        let fault: RelayError?
        fileprivate init(_ shape: RingPayloadFormat, _ map: FieldMap, isOwn: Bool, fault: RelayError? = nil) {
            (self.shape, self.map, self.isOwn, self.fault) = (shape, map, isOwn, fault)
        }
    }
    private let codec: WireCodec<E>
    private let form: WireForm
    private let own: DecodingPlan
    private let ringEvent: RingEvent
    private let ways = Mutex(DecodingPlans())
    private let lastRing = Mutex<RingWay?>(nil)

    /// Throws `UnsupportedType` with type, field and reason.
    init(_ type: E.Type) throws {
        codec = try WireCodec(event: type)
        form = codec.form
        own = DecodingPlan(codec.map, codec.schema.signature)
        ringEvent = try RingEvent(type)
    }

    override func anyEvent(_ raw: RawEvent) throws -> any DomainEvent { try event(raw) }

    /// Throws `SchemaMismatch` for one that its schema makes unreadable, and what the codec throws for its bytes.
    func event(_ raw: RawEvent) throws -> E {
        if let shape = raw.shape { return try event(raw.body, ringWay(shape)) }
        return try event(raw, way(raw))
    }
    /// Calls `take` with events of a page of the journal, until it returns false, or one cannot be read. Returns how many it has taken.
    func each(_ page: ReplayPage, _ range: Range<Int>, _ take: (E) -> Bool) -> Int {
        page.bytes.withUnsafeBytes { bytes in
            var taken = 0
            // Of the event before, which is mostly that of the next one, too.
            var known: (schema: UInt32?, way: DecodingPlan)?
            do {
                for index in range {
                    let raw = page.raw(index, in: bytes)
                    let way: DecodingPlan
                    if let known, known.schema == raw.schema {
                        way = known.way
                    } else {
                        way = self.way(raw)
                        known = (raw.schema, way)
                    }
                    if try !take(event(raw, way)) { break }
                    taken += 1
                }
            } catch {
                // It is read once more, by who reports it.
            }
            return taken
        }
    }
    @inline(__always) private func event(_ raw: RawEvent, _ way: DecodingPlan) throws -> E {
        if let fault = way.fault { throw fault }
        guard PageReader.isEqual(raw.signature, way.signature) else {
            let came = String(decoding: raw.signature, as: UTF8.self)
            let expected = String(decoding: way.signature, as: UTF8.self)
            throw RelayError(.schemaMismatch, "\(E.name) came with signature '\(came)' instead of '\(expected)'")
        }
        return try form.decode(E.self, stamped: raw.body, using: way.map)
    }
    /// Why no event of a schema can be read; nil when they can.
    func fault(_ schemas: StreamSchemas?, _ number: UInt32?) -> RelayError? {
        guard let schemas, let number else { return nil }
        return way(schemas, number).fault
    }

    // MARK: Rings

    func ringWay(_ shape: RingPayloadFormat) -> RingWay {
        lastRing.withLock { last in
            if let last, last.shape === shape { return last }
            let way = makeRingWay(shape)
            last = way
            return way
        }
    }
    /// A payload as an event. Throws the way's fault, and `InvalidArgument` for its bytes.
    func event(_ payload: UnsafeRawBufferPointer, _ way: RingWay) throws -> E {
        if let fault = way.fault { throw fault }
        if way.isOwn {
            let size = MemoryLayout<E>.size
            guard payload.count == size, let bytes = payload.baseAddress else {
                throw RelayError(.invalidArgument, "\(E.name): \(payload.count) bytes; its layout has \(size)")
            }
            // Of this size, and every byte of it a number's: `RingEvent.init` checked the type.
            return withUnsafeTemporaryAllocation(of: E.self, capacity: 1) { value in
                UnsafeMutableRawBufferPointer(value).copyMemory(
                    from: UnsafeRawBufferPointer(start: bytes, count: size))
                return value[0]
            }
        }
        guard let transcoder = way.shape.transcoder else { return try codec.decode(payload, using: way.map) }
        var writer = WireWriter(capacity: 2 * payload.count + 64)
        try transcoder.transcode(payload, into: &writer)
        return try writer.withUnsafeBytes { bytes in Result { try codec.decode(bytes, using: way.map) } }.get()
    }
    private func makeRingWay(_ shape: RingPayloadFormat) -> RingWay {
        if let size = ringEvent.rawSize, shape.rawSize == size, shape.fingerprint == ringEvent.fingerprint {
            return RingWay(shape, codec.map, isOwn: true)
        }
        do throws(RelayError) {
            return RingWay(
                shape, try FieldMap(sender: shape.fields, to: codec.schema, event: E.name), isOwn: false)
        } catch {
            return RingWay(shape, codec.map, isOwn: false, fault: error)
        }
    }

    // MARK: Messages

    private func way(_ raw: RawEvent) -> DecodingPlan {
        guard let schemas = raw.schemas, let number = raw.schema else { return own }
        return way(schemas, number)
    }
    private func way(_ schemas: StreamSchemas, _ number: UInt32) -> DecodingPlan {
        ways.withLock { ways in
            if ways.schemas !== schemas { ways = DecodingPlans(schemas: schemas) }
            if let last = ways.last, ways.number == number { return last }
            let way = ways.byNumber[number] ?? makeWay(schemas, number)
            ways.byNumber[number] = way
            (ways.number, ways.last) = (number, way)
            return way
        }
    }
    private func makeWay(_ schemas: StreamSchemas, _ number: UInt32) -> DecodingPlan {
        guard let schema = schemas.byNumber[number], schema.event == E.name else {
            let text = "the service does not tell the fields of \(E.name) as schema \(number) has them"
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
