package import RelayCore
package import RelayWire

/// Consecutive events of one run, with the schemas that they need: the body of a page.
package struct MirrorPage: Hashable, Sendable {
    package struct Event: Hashable, Sendable {
        package let schema: UInt32
        package let stamp: Stamp
        /// A signal's whole body, in that of the page.
        package let body: Range<Int>
    }
    package let schemas: [UInt32: EventSchema]
    /// By their sequences.
    package let events: [Event]
    /// The page's.
    package let body: [UInt8]

    /// Throws for a body that is no page's, or that contradicts the header.
    package init(_ message: MirrorMessage) throws {
        let header = message.header
        guard header.kind == .page else {
            throw RelayError(.invalidArgument, "a mirror's message that is no page, but a \(header.kind)")
        }
        (schemas, events) = try message.body.withUnsafeBytes { bytes in
            do { return try Self.read(bytes, header) } catch let fault as WireFault {
                throw fault.relayError("a page of a mirror")
            }
        }
        body = message.body
    }
    private static func read(
        _ bytes: UnsafeRawBufferPointer, _ header: MirrorHeader
    ) throws -> ([UInt32: EventSchema], [Event]) {
        var reader = WireReader(bytes)
        let schemas = try Stream1.readSchemas(&reader)
        var events: [Event] = []
        while !reader.isAtEnd {
            try reader.align(8)
            let start = reader.position
            let (schema, length) = (try reader.uint32(), Int(try reader.uint32()))
            guard length <= reader.remaining else {
                throw WireFault(.truncated(needed: length, left: reader.remaining), at: start)
            }
            let body = reader.position..<reader.position + length
            let stamp = Stamp(endOf: UnsafeRawBufferPointer(rebasing: bytes[body]), epoch: header.epoch)
            guard let stamp, stamp.sequence == header.first + UInt64(events.count), stamp.previous < stamp.sequence
            else { throw WireFault(.payload("an event whose stamp does not fit its place"), at: start) }
            guard schemas[schema] != nil else {
                throw WireFault(.payload("an event of the schema \(schema), which the page lacks"), at: start)
            }
            events.append(Event(schema: schema, stamp: stamp, body: body))
            reader.position += length
        }
        guard events.last?.stamp.sequence == header.last else {
            throw WireFault(
                .payload("\(events.count) events from #\(header.first) to #\(header.last)"), at: bytes.count)
        }
        return (schemas, events)
    }
}

/// Makes pages of the events that follow each other in a journal.
package struct MirrorPageWriter: Sendable {
    private let header: (epoch: UInt64, journal: UInt64, writer: UInt64)
    private var events = WireWriter(capacity: 1 << 10)
    private var sequences: ClosedRange<UInt64>?
    private var numbers: Set<UInt32> = []

    package init(epoch: UInt64, journal: UInt64, writer: UInt64) { header = (epoch, journal, writer) }

    package var isEmpty: Bool { sequences == nil }
    /// Adds an event. False: the page has no room for it, or is of other events; it begins the next one.
    ///
    /// - Parameter body: a signal's whole body.
    package mutating func append(_ sequence: UInt64, schema: UInt32, body: UnsafeRawBufferPointer) -> Bool {
        if let sequences {
            let isNext = sequence == sequences.upperBound + 1
            if !isNext || events.count + body.count + 8 > MirrorMessage.bodySize { return false }
            self.sequences = sequences.lowerBound...sequence
        } else {
            sequences = sequence...sequence
        }
        numbers.insert(schema)
        events.align(8)
        events.uint32(schema)
        events.uint32(UInt32(clamping: body.count))
        events.append(body)
        return true
    }
    /// The page, and an empty writer for the next; nil if it has no event.
    ///
    /// - Parameter schemas: of the origin. Throws `.internalFailure` if an event's is not among them.
    package mutating func take(_ schemas: [UInt32: EventSchema]) throws(RelayError) -> MirrorMessage? {
        guard let sequences else { return nil }
        let used = schemas.filter { numbers.contains($0.key) }
        if let missing = numbers.subtracting(used.keys).min() {
            throw RelayError(.internalFailure, "an event from #\(sequences.lowerBound) on has no schema \(missing)")
        }
        var body = WireWriter(capacity: events.count + 1_024)
        try Stream1.write(used, into: &body)
        body.align(8)
        events.withUnsafeBytes { body.append($0) }
        events.removeAll()
        (self.sequences, numbers) = (nil, [])
        return MirrorMessage(
            .page(of: sequences, epoch: header.epoch, journal: header.journal, writer: header.writer),
            body: body.takeBytes())
    }
}
