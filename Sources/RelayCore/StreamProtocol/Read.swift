/// `Read`: a page of the journal.
extension Stream1 {
    package static func write(_ read: StreamRead, into writer: inout WireWriter) throws(RelayError) {
        try write(read.names, into: &writer)
        writer.uint64(read.after)
        writer.uint32(read.limit)
        writer.uint64(read.token)
    }
    package static func readRead(_ reader: inout WireReader) throws(WireFault) -> StreamRead {
        StreamRead(
            names: try readNames(&reader), after: try reader.uint64(), limit: try reader.uint32(),
            token: try reader.uint64())
    }

    /// Writes an answer. `signatures` are those of the bodies, by schema number; an event whose number it lacks is refused.
    package static func write(
        _ page: LogPage, token: UInt64, signatures: [UInt32: Signature], into writer: inout WireWriter
    ) throws(RelayError) {
        writer.uint64(page.epoch)
        let events = writer.beginArray(elementAlignment: 8)
        for event in page.events {
            guard let signature = signatures[event.schema] else {
                throw RelayError(.internalFailure, "\(event.name) #\(event.sequence) has no schema \(event.schema)")
            }
            writer.align(8)
            try writer.string(event.name)
            writer.uint32(event.schema)
            writer.signature(signature)
            writer.align(8)
            writer.append(event.body)
        }
        try writer.endArray(events)
        for number in [page.oldest, page.through, page.head, token] { writer.uint64(number) }
    }
    /// The variant's signature: one structure, of the fields and the stamp.
    package static func bodySignature(_ fields: [WireField]) throws(RelayError) -> Signature {
        try Signature("(" + fields.map(\.type.signature).joined() + WireSchema.stampSignature + ")")
    }

    /// Reads an answer, and calls `event` for each event in it. For a single page; `PageReader` for many.
    package static func readPage(
        _ reader: inout WireReader, event: (StreamPage.Event) throws -> Void
    ) throws -> StreamPage {
        var pages = PageReader()
        return try pages.read(&reader, began: { _ in }, event: event)
    }
}

/// What `Read` asks for.
package struct StreamRead: Hashable, Sendable {
    /// `Stream1.allNames` stands for all.
    package var names: [String]
    package var after: UInt64
    /// How many events at the most; 0: as many as a page holds.
    package var limit: UInt32
    /// Of this peer's last page; 0 before the first.
    package var token: UInt64

    package init(names: [String], after: UInt64, limit: UInt32, token: UInt64) {
        (self.names, self.after, self.limit, self.token) = (names, after, limit, token)
    }
}

/// What `Read` answers, but for its events: they are looked at where they are.
package struct StreamPage: Hashable, Sendable {
    package var epoch: UInt64
    package var oldest: UInt64
    package var through: UInt64
    package var head: UInt64
    package var token: UInt64

    package init(epoch: UInt64, oldest: UInt64, through: UInt64, head: UInt64, token: UInt64) {
        (self.epoch, self.oldest, self.through) = (epoch, oldest, through)
        (self.head, self.token) = (head, token)
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
    /// The run of the events; without events, the run of `through`.
    package let epoch: UInt64
    /// By rising sequence.
    package let events: [Event]
    /// 1 + the highest sequence that was removed among the names asked for.
    package let oldest: UInt64
    /// Everything asked for from `after` up to here is in this page, or was removed.
    package let through: UInt64
    /// The last sequence that was committed.
    package let head: UInt64

    package init(epoch: UInt64, events: [Event], oldest: UInt64, through: UInt64, head: UInt64) {
        (self.epoch, self.events, self.oldest) = (epoch, events, oldest)
        (self.through, self.head) = (through, head)
    }
}
