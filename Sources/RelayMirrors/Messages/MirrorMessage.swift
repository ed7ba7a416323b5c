package import RelayCore
import RelayWire

/// One message of a channel: a header and a body.
package struct MirrorMessage: Hashable, Sendable {
    package let header: MirrorHeader
    /// All of it: the header, then a page's body, or a part of a snapshot's.
    package let bytes: [UInt8]
    /// A copy.
    package var body: [UInt8] { Array(bytes[MirrorHeader.size...]) }
    /// How large the body of a page or of a part becomes, but for one event that is larger.
    package static let bodySize = 256 << 10

    /// - Parameter header: its length and checksum are filled in.
    package init(_ header: MirrorHeader, body: [UInt8]) {
        self.init(header, behindRoom: [UInt8](repeating: 0, count: MirrorHeader.size) + body)
    }
    /// - Parameter bytes: room for the header, at least, and what follows it.
    init(_ header: MirrorHeader, behindRoom bytes: consuming [UInt8]) {
        var (header, bytes) = (header, bytes)
        header.length = UInt32(clamping: bytes.count - MirrorHeader.size)
        bytes.withUnsafeMutableBytes { bytes in
            header.checksum = Self.checksum(header, UnsafeRawBufferPointer(bytes))
            var writer = WireWriter(capacity: MirrorHeader.size)
            header.writeWhole(into: &writer)
            writer.withUnsafeBytes { bytes.copyMemory(from: $0) }
        }
        (self.header, self.bytes) = (header, bytes)
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
        guard Self.checksum(header, bytes) == header.checksum else {
            throw RelayError(
                .invalidArgument, "a mirror's message of run \(header.epoch) up to #\(header.last) is damaged")
        }
        (self.header, self.bytes) = (header, Array(bytes))
    }
    package init(_ bytes: [UInt8]) throws(RelayError) {
        // As a result: the closure's error would lose its type.
        self = try bytes.withUnsafeBytes { bytes in
            Result { () throws(RelayError) in try Self(bytes) }
        }.get()
    }
    /// - Parameter message: whole; of its header nothing is read.
    private static func checksum(_ header: MirrorHeader, _ message: UnsafeRawBufferPointer) -> UInt64 {
        var writer = WireWriter(capacity: MirrorHeader.size)
        header.write(into: &writer)
        var hash = MessageChecksum()
        writer.withUnsafeBytes { hash.combine($0) }
        hash.combine(UnsafeRawBufferPointer(rebasing: message[MirrorHeader.size...]))
        return hash.value
    }
}
