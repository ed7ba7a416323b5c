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
