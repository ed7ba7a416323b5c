import Glibc

/// Reads answers of `Read` where they lie: nothing is copied, and a signature that was seen before is not parsed again.
///
/// An event's body is passed over by its signature, so that what is hostile is refused, and decoded later.
package struct PageReader {
    private struct Known {
        let signature: [UInt8]
        let type: DBusType
    }
    /// Few: as many as there are schemas in use. The one that was used last comes first.
    private var known: [Known] = []
    private static let knownLimit = 64

    package init() {}

    /// Calls `began` with what the answer says of its page, then `event` for each event, in order.
    ///
    /// Throws what the closures throw, and `SchemaMismatch` or a `WireFault` for what is no page; by then some of its events
    /// may have been shown.
    package mutating func read(
        _ reader: inout WireReader, began: (StreamPage) throws -> Void, event: (StreamPage.Event) throws -> Void
    ) throws -> StreamPage {
        let page = try Self.trailer(reader)
        _ = try reader.uint64()
        let end = try reader.beginArray(elementAlignment: 8)
        let start = reader.position
        try began(page)
        while reader.position < end {
            try reader.align(8)
            let name = try reader.stringBytes()
            let schema = try reader.uint32()
            let signature = try reader.signatureBytes()
            // Its text without the parenthesis before; a NUL stands behind.
            let signatureStart = reader.position - signature.count
            let type = try structure(signature, name)
            try reader.align(8)
            let first = reader.position
            try reader.skip(type)
            let inner = UnsafeRawBufferPointer(rebasing: signature.dropFirst().dropLast())
            try event(
                StreamPage.Event(
                    nameBytes: name, schema: schema, signatureBytes: inner, signatureStart: signatureStart,
                    body: first..<reader.position))
        }
        try reader.endArray(end, elements: start)
        reader.position = reader.count
        return page
    }
    /// What an answer says of its page: it stands around the events, which are not looked at.
    static func trailer(_ answer: WireReader) throws(WireFault) -> StreamPage {
        var reader = answer
        let epoch = try reader.uint64()
        reader.position = try reader.beginArray(elementAlignment: 8)
        let page = StreamPage(
            epoch: epoch, oldest: try reader.uint64(), through: try reader.uint64(), head: try reader.uint64(),
            token: try reader.uint64())
        try reader.finish()
        return page
    }

    private mutating func structure(_ text: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) throws -> DBusType {
        for index in known.indices where Self.isEqual(text, known[index].signature) {
            if index > 0 { known.swapAt(0, index) }
            return known[0].type
        }
        let signature = try Signature(utf8: text)
        guard signature.types.count == 1, case .structure? = signature.types.first else {
            throw RelayError(
                .schemaMismatch,
                "\(BusNames.quoted(String(decoding: name, as: UTF8.self))) came as '\(signature)', which is no structure"
            )
        }
        if known.count == Self.knownLimit { known.removeLast() }
        known.insert(Known(signature: Array(text), type: signature.types[0]), at: 0)
        return signature.types[0]
    }
    static func isEqual(_ bytes: UnsafeRawBufferPointer, _ other: [UInt8]) -> Bool {
        bytes.count == other.count
            && other.withUnsafeBytes { other in
                guard let a = bytes.baseAddress, let b = other.baseAddress else { return true }
                return memcmp(a, b, bytes.count) == 0  // Both have as many bytes.
            }
    }
}
