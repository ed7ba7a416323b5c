package import RelayCore
import RelayWire

/// One message of a channel: a header and a body.
package struct MirrorMessage: Hashable, Sendable {
    package let header: MirrorHeader
    /// A page's, or a part of a snapshot's.
    package let body: [UInt8]
    /// How large the body of a page or of a part becomes, but for one event that is larger.
    package static let bodySize = 256 << 10

    /// - Parameter header: its length and checksum are filled in.
    package init(_ header: MirrorHeader, body: [UInt8]) {
        var header = header
        header.length = UInt32(clamping: body.count)
        self.body = body
        header.checksum = Self.checksum(header, body)
        self.header = header
    }
    /// Throws `.invalidArgument` for bytes that are no message: somebody else's, or damaged ones.
    package init(_ bytes: UnsafeRawBufferPointer) throws(RelayError) {
        var reader = WireReader(bytes)
        let header = try MirrorHeader(&reader)
        guard bytes.count - MirrorHeader.size == Int(header.length) else {
            throw RelayError(
                .invalidArgument,
                "a mirror's message of \(bytes.count) bytes, which announces \(header.length) behind its header")
        }
        body = Array(bytes.dropFirst(MirrorHeader.size))
        guard Self.checksum(header, body) == header.checksum else {
            throw RelayError(
                .invalidArgument, "a mirror's message of run \(header.epoch) up to #\(header.last) is damaged")
        }
        self.header = header
    }
    package init(_ bytes: [UInt8]) throws(RelayError) {
        // As a result: the closure's error would lose its type.
        self = try bytes.withUnsafeBytes { bytes in
            Result { () throws(RelayError) in try Self(bytes) }
        }.get()
    }
    package var bytes: [UInt8] {
        var writer = WireWriter(capacity: MirrorHeader.size + body.count)
        header.writeWhole(into: &writer)
        writer.append(body)
        return writer.takeBytes()
    }
    private static func checksum(_ header: MirrorHeader, _ body: [UInt8]) -> UInt64 {
        var writer = WireWriter(capacity: MirrorHeader.size)
        header.write(into: &writer)
        var hash = MessageChecksum()
        writer.withUnsafeBytes { hash.combine($0) }
        body.withUnsafeBytes { hash.combine($0) }
        return hash.value
    }
}
