import Glibc
package import RelayWire

/// Reads answers of `Read` where they lie: nothing is copied, and a signature that was seen before is not parsed again.
///
/// An event's body is passed over by its signature, so that what is hostile is refused, and decoded later.
package struct PageReader {
    private struct Known {
        let signature: [UInt8]
        let skip: WireSkip
    }
    /// What stands before an event's body, which is the same for each of a kind.
    private struct Prefix {
        /// From the position where the event starts, which is a multiple of 8.
        let length: Int
        let name: Range<Int>
        let schema: UInt32
        let signature: Range<Int>
    }
    /// Few: as many as there are schemas in use. The one that was used last comes first.
    private var known: [Known] = []
    private static let knownLimit = 64

    package init() {}

    /// Calls `began` with the answer's description of its page, then `event` for each event, in order.
    ///
    /// Throws what the closures throw, and `SchemaMismatch` or a `WireFault` for what is no page; by then some of its
    /// events may have been shown.
    package mutating func read(
        _ reader: inout WireReader, began: (StreamPage) throws -> Void, event: (StreamPage.Event) throws -> Void
    ) throws -> StreamPage {
        let page = try Self.trailer(reader)
        _ = try reader.uint64()
        let end = try reader.beginArray(elementAlignment: 8)
        let start = reader.position
        try began(page)
        var last: (prefix: Prefix, skip: WireSkip)?
        // Where the event before starts.
        var before = start
        while reader.position < end {
            try reader.align(8)
            let position = reader.position
            let isLikeLast = last.map { reader.repeats($0.prefix.length, of: before) } ?? false
            if !isLikeLast { last = (try readPrefix(&reader), known[0].skip) }
            guard let (prefix, skip) = last else { break }  // Read above.
            before = position
            reader.position = position + prefix.length
            let first = reader.position
            try reader.skip(skip)
            let signature = reader.bytes(prefix.signature, from: position)
            try event(
                StreamPage.Event(
                    nameBytes: reader.bytes(prefix.name, from: position), schema: prefix.schema,
                    signatureBytes: signature, signatureStart: position + prefix.signature.lowerBound,
                    body: first..<reader.position, isLikeLast: isLikeLast))
        }
        try reader.endArray(end, elements: start)
        reader.position = reader.count
        return page
    }
    /// An answer's description of its page: it surrounds the events, which are not examined.
    package static func trailer(_ answer: WireReader) throws(WireFault) -> StreamPage {
        var reader = answer
        let epoch = try reader.uint64()
        reader.position = try reader.beginArray(elementAlignment: 8)
        var gaps: [ClosedRange<UInt64>] = []
        let end = try reader.beginArray(elementAlignment: 8)
        let start = reader.position
        while reader.position < end {
            try reader.align(8)
            let (first, last) = (try reader.uint64(), try reader.uint64())
            // Others are no ranges behind the one before: the sender's mistake, from which nothing follows.
            if first > gaps.last?.upperBound ?? 0, first <= last { gaps.append(first...last) }
        }
        try reader.endArray(end, elements: start)
        let page = StreamPage(
            epoch: epoch, gaps: gaps, oldest: try reader.uint64(), through: try reader.uint64(),
            head: try reader.uint64())
        try reader.finish()
        return page
    }

    /// Reads on to the body. Its type is then the first of those known.
    private mutating func readPrefix(_ reader: inout WireReader) throws -> Prefix {
        let start = reader.position
        let name = try reader.stringBytes()
        // A NUL stands behind.
        let nameEnd = reader.position - 1 - start
        let schema = try reader.uint32()
        let signature = try reader.signatureBytes()
        let signatureEnd = reader.position - 1 - start
        try know(signature, name)
        try reader.align(8)
        // Without the parentheses.
        return Prefix(
            length: reader.position - start, name: nameEnd - name.count..<nameEnd, schema: schema,
            signature: signatureEnd - signature.count + 1..<signatureEnd - 1)
    }
    private mutating func know(_ text: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) throws {
        for index in known.indices where Self.isEqual(text, known[index].signature) {
            if index > 0 { known.swapAt(0, index) }
            return
        }
        let signature = try Signature(utf8: text)
        guard signature.types.count == 1, case .structure(let fields)? = signature.types.first else {
            throw RelayError(
                .schemaMismatch,
                "\(BusNames.quoted(String(decoding: name, as: UTF8.self))) came as '\(signature)', which is no structure"
            )
        }
        if known.count == Self.knownLimit { known.removeLast() }
        known.insert(Known(signature: Array(text), skip: WireSkip(fields)), at: 0)
    }
    static func isEqual(_ bytes: UnsafeRawBufferPointer, _ other: [UInt8]) -> Bool {
        bytes.count == other.count
            && other.withUnsafeBytes { other in
                guard let a = bytes.baseAddress, let b = other.baseAddress else { return true }
                return memcmp(a, b, bytes.count) == 0  // Both have as many bytes.
            }
    }
}
