package import RelayWire

/// `Read`: a page of the journal.
extension Stream1 {
    package static func write(_ read: StreamRead, into writer: inout WireWriter) throws(RelayError) {
        try write(read.names, into: &writer)
        writer.uint64(read.after)
        writer.uint32(read.limit)
    }
    package static func readRead(_ reader: inout WireReader) throws(WireFault) -> StreamRead {
        StreamRead(names: try readNames(&reader), after: try reader.uint64(), limit: try reader.uint32())
    }

    /// Writes an answer. `signatures` are those of the bodies, by schema number; an event whose number it lacks is
    /// refused.
    package static func write(
        _ page: LogPage, signatures: [UInt32: Signature], into writer: inout WireWriter
    ) throws(RelayError) {
        writer.uint64(page.epoch)
        let events = writer.beginArray(elementAlignment: 8)
        var prefixes: [UInt32: (name: Int32, bytes: [UInt8])] = [:]
        var (schema, prefix): (UInt32, (name: Int32, bytes: [UInt8])) = (0, (-1, []))
        var start = 0
        for row in page.contents.rows {
            if schema != row.schema || prefix.name != row.name {
                schema = row.schema
                if let known = prefixes[schema], known.name == row.name {
                    prefix = known
                } else {
                    prefix = (row.name, try Self.prefix(row, page.contents, signatures))
                    prefixes[schema] = prefix
                }
            }
            writer.align(8)
            writer.append(prefix.bytes)
            page.contents.bodies[start..<row.end].withUnsafeBytes { writer.append($0) }
            start = row.end
        }
        try writer.endArray(events)
        try write(page.gaps, into: &writer)
        for number in [page.oldest, page.through, page.head] { writer.uint64(number) }
    }
    /// What stands before an event's body, which is the same for all of a schema: each starts at a multiple of 8.
    private static func prefix(
        _ row: LogPage.Events.Row, _ events: LogPage.Events, _ signatures: [UInt32: Signature]
    ) throws(RelayError) -> [UInt8] {
        let name = events.names[Int(row.name)]
        guard let signature = signatures[row.schema] else {
            throw RelayError(.internalFailure, "\(name) #\(row.sequence) has no schema \(row.schema)")
        }
        var writer = WireWriter()
        try writer.string(name)
        writer.uint32(row.schema)
        writer.signature(signature)
        writer.align(8)
        return writer.bytes
    }
    static func write(_ gaps: [ClosedRange<UInt64>], into writer: inout WireWriter) throws(RelayError) {
        let array = writer.beginArray(elementAlignment: 8)
        for gap in gaps {
            writer.align(8)
            writer.uint64(gap.lowerBound)
            writer.uint64(gap.upperBound)
        }
        try writer.endArray(array)
    }
    /// The variant's signature: one structure, of the fields and the stamp.
    package static func bodySignature(_ fields: [WireField]) throws(RelayError) -> Signature {
        try Signature("(" + fields.signature + WireSchema.stampSignature + ")")
    }
}

/// What `Read` asks for.
package struct StreamRead: Hashable, Sendable {
    /// `Stream1.allNames` stands for all.
    package var names: [String]
    package var after: UInt64
    /// How many events at the most; 0: as many as a page holds.
    package var limit: UInt32

    package init(names: [String], after: UInt64, limit: UInt32) {
        (self.names, self.after, self.limit) = (names, after, limit)
    }
}

/// The answer of `Read`, without its events: they are read in place.
package struct StreamPage: Hashable, Sendable {
    package var epoch: UInt64
    /// What the journal never had, of the range that the page covers.
    package var gaps: [ClosedRange<UInt64>]
    package var oldest: UInt64
    package var through: UInt64
    package var head: UInt64

    package init(
        epoch: UInt64, gaps: [ClosedRange<UInt64>] = [], oldest: UInt64, through: UInt64, head: UInt64
    ) {
        (self.epoch, self.gaps, self.oldest, self.through, self.head) = (epoch, gaps, oldest, through, head)
    }

    /// One event of a page: where it is in the answer's body. Valid as long as that.
    package struct Event {
        /// UTF-8, checked.
        let nameBytes: UnsafeRawBufferPointer
        package let schema: UInt32
        /// As a signal has it: without the parentheses of the structure that travels.
        let signatureBytes: UnsafeRawBufferPointer
        /// Where that starts in the answer's body.
        let signatureStart: Int
        /// A signal's whole body, fields and stamp, aligned as one.
        package let body: Range<Int>
        /// It has the name, the schema and the signature of the event before it.
        let isLikeLast: Bool

        package var name: String { String(decoding: nameBytes, as: UTF8.self) }
        package var signature: String { String(decoding: signatureBytes, as: UTF8.self) }
    }
}

/// A part of what a log keeps, as of one moment: of one run.
package struct LogPage: Sendable {
    package struct Event: Sendable {
        package let name: String
        package let schema: UInt32
        package let sequence: UInt64
        /// A signal's whole body.
        package let body: [UInt8]

        package init(name: String, schema: UInt32, sequence: UInt64, body: [UInt8]) {
            (self.name, self.schema, self.sequence, self.body) = (name, schema, sequence, body)
        }
    }
    /// Events in one run of bytes, by rising sequence: a page has thousands, and an allocation for each costs more than
    /// a copy.
    package struct Events: Sendable {
        struct Row {
            let schema: UInt32
            /// In `names`.
            let name: Int32
            let sequence: UInt64
            /// Where its body ends in `bodies`.
            let end: Int
        }
        private(set) var rows: [Row] = []
        private(set) var bodies: [UInt8] = []
        private(set) var names: [String] = []

        package init() {}
        package init(_ events: [Event]) {
            for event in events {
                let name = name(event.name)
                event.body.withUnsafeBytes { append(name, event.schema, event.sequence, $0) }
            }
        }
        package var count: Int { rows.count }

        /// The number of a name, for `append`.
        package mutating func name(_ name: String) -> Int32 {
            if let known = names.lastIndex(of: name) { return Int32(known) }
            names.append(name)
            return Int32(names.count - 1)
        }
        package mutating func reserve(bytes: Int, rows count: Int) {
            bodies.reserveCapacity(bytes)
            rows.reserveCapacity(count)
        }
        /// A part of the next event's body, copied; the rest follows by `append`.
        package mutating func append(part: UnsafeRawBufferPointer) { bodies.append(contentsOf: part) }
        /// - Parameter body: copied.
        package mutating func append(
            _ name: Int32, _ schema: UInt32, _ sequence: UInt64, _ body: UnsafeRawBufferPointer
        ) {
            bodies.append(contentsOf: body)
            rows.append(Row(schema: schema, name: name, sequence: sequence, end: bodies.count))
        }
        /// As values of their own.
        package var all: [Event] {
            var start = 0
            return rows.map { row in
                defer { start = row.end }
                return Event(
                    name: names[Int(row.name)], schema: row.schema, sequence: row.sequence,
                    body: Array(bodies[start..<row.end]))
            }
        }
    }
    /// The run of the events; without events, the run of `through`.
    package let epoch: UInt64
    package let contents: Events
    /// What the log never had, from `after` up to `through`: by rising sequence.
    package let gaps: [ClosedRange<UInt64>]
    /// No page has more gaps.
    package static let mostGaps = 1_024
    /// 1 + the highest sequence that was removed among the names asked for.
    package let oldest: UInt64
    /// Everything asked for from `after` up to here is in this page, or was removed.
    package let through: UInt64
    /// The last sequence that was committed.
    package let head: UInt64

    package var events: [Event] { contents.all }

    package init(
        epoch: UInt64, contents: Events, gaps: [ClosedRange<UInt64>] = [], oldest: UInt64, through: UInt64, head: UInt64
    ) {
        (self.epoch, self.contents, self.gaps, self.oldest) = (epoch, contents, gaps, oldest)
        (self.through, self.head) = (through, head)
    }
    package init(
        epoch: UInt64, events: [Event], gaps: [ClosedRange<UInt64>] = [], oldest: UInt64, through: UInt64, head: UInt64
    ) {
        self.init(epoch: epoch, contents: Events(events), gaps: gaps, oldest: oldest, through: through, head: head)
    }
}
