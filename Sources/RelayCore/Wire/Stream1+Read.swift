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

    /// Reads an answer, and calls `event` for each event in it.
    ///
    /// The body of an event is passed over by its signature, so that what is hostile is refused, and decoded later.
    package static func readPage(
        _ reader: inout WireReader, event: (StreamPage.Event) throws -> Void
    ) throws -> StreamPage {
        let epoch = try reader.uint64()
        let end = try reader.beginArray(elementAlignment: 8)
        let start = reader.position
        while reader.position < end {
            try reader.align(8)
            let name = try reader.string()
            let schema = try reader.uint32()
            let signature = try reader.signature()
            guard signature.text.hasPrefix("("), signature.types.count == 1, let type = signature.types.first else {
                throw RelayError(.schemaMismatch, "\(name) came as '\(signature.text)', which is no structure")
            }
            try reader.align(8)
            let first = reader.position
            try reader.skip(type)
            let inner = String(signature.text.dropFirst().dropLast())
            try event(StreamPage.Event(name: name, schema: schema, signature: inner, body: first..<reader.position))
        }
        try reader.endArray(end, elements: start)
        return StreamPage(
            epoch: epoch, oldest: try reader.uint64(), through: try reader.uint64(), head: try reader.uint64(),
            token: try reader.uint64())
    }
}
