package import RelayCore
package import RelayWire

/// Consecutive events of one run, with the schemas that they need: the body of a page.
package struct MirrorPage: Hashable, Sendable {
    package struct Event: Hashable, Sendable {
        package let schema: UInt32
        package let stamp: Stamp
        /// A signal's whole body, in the message.
        package let body: Range<Int>
    }
    package let schemas: [UInt32: EventSchema]
    /// Where they end in the message.
    private let schemasEnd: Int
    /// By their sequences.
    package let events: [Event]
    /// The message's.
    package let bytes: [UInt8]

    /// Throws for a body that is no page's, or that contradicts the header.
    ///
    /// - Parameter other: another page, whose schemas may be the same: then they are not decoded again.
    package init(_ message: MirrorMessage, like other: Self? = nil) throws {
        let header = message.header
        guard header.kind == .page else {
            throw RelayError(.invalidArgument, "a mirror's message that is no page, but a \(header.kind)")
        }
        (schemas, schemasEnd, events) = try message.bytes.withUnsafeBytes { bytes in
            do { return try Self.read(bytes, header, other) } catch let fault as WireFault {
                throw fault.relayError("a page of a mirror")
            }
        }
        bytes = message.bytes
    }
    private static func read(
        _ bytes: UnsafeRawBufferPointer, _ header: MirrorHeader, _ other: Self?
    ) throws -> ([UInt32: EventSchema], schemasEnd: Int, [Event]) {
        var reader = WireReader(bytes)
        // A multiple of 8, as alignment counts from the body on.
        reader.position = MirrorHeader.size
        let schemas: [UInt32: EventSchema]
        if let other, other.hasSchemas(of: bytes) {
            schemas = other.schemas
            reader.position = other.schemasEnd
        } else {
            schemas = try Stream1.readSchemas(&reader)
        }
        let schemasEnd = reader.position
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
        return (schemas, schemasEnd, events)
    }
    /// Whether a message has the same bytes there.
    private func hasSchemas(of message: UnsafeRawBufferPointer) -> Bool {
        guard message.count >= schemasEnd else { return false }
        let range = MirrorHeader.size..<schemasEnd
        return bytes.withUnsafeBytes { bytes in bytes[range].elementsEqual(message[range]) }
    }
}

/// Makes pages of the events that follow each other in a journal. Each event is copied once, into its message.
package struct MirrorPageWriter: Sendable {
    private let header: (epoch: UInt64, journal: UInt64, writer: UInt64)
    /// Where the events begin: behind the header and the schemas. Those are known when the page is taken; until then this is
    /// the place that they had in the page before.
    private var start: Int
    private let capacity: Int
    private let only: [UInt32: [UInt8]]?
    /// The message: room up to `start`, then the events.
    private var message = WireWriter.empty
    private var sequences: ClosedRange<UInt64>?
    private var numbers: Set<UInt32> = []
    /// Of the event before.
    private var schema: UInt32?

    /// - Parameters:
    ///   - prefaces: what stands before the events, where they have one schema, by its number; nil: it is made.
    ///   - schemas: how many bytes that is likely to be.
    ///   - capacity: how long a message is likely to become.
    package init(
        epoch: UInt64, journal: UInt64, writer: UInt64, prefaces: [UInt32: [UInt8]]? = nil, schemas: Int = 0,
        capacity: Int = 1 << 10
    ) {
        (header, only, self.capacity) = ((epoch, journal, writer), prefaces, capacity)
        start = MirrorHeader.size + schemas
    }
    /// What stands before events that have one schema, by its number.
    static func prefaces(_ schemas: [UInt32: EventSchema]) throws(RelayError) -> [UInt32: [UInt8]] {
        var prefaces: [UInt32: [UInt8]] = [:]
        for (number, schema) in schemas { prefaces[number] = try preface([number: schema]) }
        return prefaces
    }
    private static func preface(_ schemas: [UInt32: EventSchema]) throws(RelayError) -> [UInt8] {
        var preface = WireWriter()
        try Stream1.write(schemas, into: &preface)
        preface.align(8)
        return preface.takeBytes()
    }

    package var isEmpty: Bool { sequences == nil }
    /// Adds an event. False: the page has no room for it, or is of other events; it begins the next one.
    ///
    /// - Parameter body: a signal's whole body.
    package mutating func append(_ sequence: UInt64, schema: UInt32, body: UnsafeRawBufferPointer) -> Bool {
        if let sequences {
            let isNext = sequences.upperBound < sequence && sequence - sequences.upperBound == 1
            if !isNext || message.count - start + body.count + 8 > MirrorMessage.bodySize { return false }
            self.sequences = sequences.lowerBound...sequence
        } else {
            sequences = sequence...sequence
            message = WireWriter(capacity: max(capacity, start + body.count + 64))
            message.skip(start)
        }
        if schema != self.schema {
            numbers.insert(schema)
            self.schema = schema
        }
        message.align(8)
        message.uint32(schema)
        message.uint32(UInt32(clamping: body.count))
        message.append(body)
        return true
    }
    /// The page, and an empty writer for the next; nil if it has no event.
    ///
    /// - Parameter schemas: of the origin. Throws `.internalFailure` if an event's is not among them.
    package mutating func take(_ schemas: [UInt32: EventSchema]) throws(RelayError) -> MirrorMessage? {
        guard let sequences else { return nil }
        if let missing = numbers.first(where: { schemas[$0] == nil }) {
            throw RelayError(.internalFailure, "an event from #\(sequences.lowerBound) on has no schema \(missing)")
        }
        let preface: [UInt8]
        if let only, numbers.count == 1, let known = numbers.first.flatMap({ only[$0] }) {
            preface = known
        } else {
            preface = try Self.preface(schemas.filter { numbers.contains($0.key) })
        }
        var bytes = message.takeBytes()
        let place = MirrorHeader.size + preface.count
        if place != start {
            bytes = [UInt8](repeating: 0, count: place) + bytes[start...]
            start = place
        }
        bytes.withUnsafeMutableBytes { bytes in
            // The room for it: both are that long.
            UnsafeMutableRawBufferPointer(rebasing: bytes[MirrorHeader.size..<place]).copyBytes(from: preface)
        }
        (self.sequences, numbers, schema) = (nil, [], nil)
        return MirrorMessage(
            .page(of: sequences, epoch: header.epoch, journal: header.journal, writer: header.writer),
            behindRoom: bytes)
    }
}
