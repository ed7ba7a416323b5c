package import RelayWire

/// The end of an event's body is its stamp: three numbers, aligned as the body is. The run is not among them.
extension Stamp {
    @inline(__always) package static var size: Int { 3 * MemoryLayout<UInt64>.size }

    /// Nil for a body that has none.
    @inline(__always) package init?(endOf body: UnsafeRawBufferPointer, epoch: UInt64) {
        guard body.count >= Self.size, body.count % 8 == 0 else { return nil }
        @inline(__always) func number(_ offset: Int) -> UInt64 {
            let start = body.count - Self.size + offset
            // In bounds: counted above.
            return UInt64(littleEndian: body.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        }
        self.init(
            epoch: epoch, sequence: number(0), previous: number(8), publishedAt: Timestamp(microseconds: number(16)))
    }
    /// Appends it to the fields.
    package func write(into body: inout WireWriter) {
        body.uint64(sequence)
        body.uint64(previous)
        body.uint64(publishedAt.microseconds)
    }
    /// The room for one that is not known yet.
    static func reserve(in body: inout WireWriter) { for _ in 0..<3 { body.uint64(0) } }
    /// Fills that room in. The body has it.
    func enter(_ body: inout [UInt8]) {
        let end = body.count - Self.size
        body.withUnsafeMutableBytes { bytes in
            // `reserve` made the room.
            bytes.storeBytes(of: sequence.littleEndian, toByteOffset: end, as: UInt64.self)
            bytes.storeBytes(of: previous.littleEndian, toByteOffset: end + 8, as: UInt64.self)
            bytes.storeBytes(of: publishedAt.microseconds.littleEndian, toByteOffset: end + 16, as: UInt64.self)
        }
    }
    /// The same in a message.
    func enter(_ message: inout WireWriter) {
        let end = message.count - Self.size
        message.patch(sequence, at: end)
        message.patch(previous, at: end + 8)
        message.patch(publishedAt.microseconds, at: end + 16)
    }
}
