/// A fixed-layout event's own bytes as the wire encoding of its fields, for who does not have the type: by the sender's layout in
/// words.
package struct FixedLayoutTranscoder: Sendable {
    /// The sender's, in its order.
    package let fields: [WireField]
    /// Bytes of a value.
    package let size: Int
    private let steps: [LayoutStep]

    /// - Parameters:
    ///   - layout: as `FixedLayout.check` returns it; it may come from anywhere.
    ///   - size: bytes of a value, as the sender tells them; nil when only the layout tells.
    /// Throws `.invalidArgument` with the place and the reason.
    package init(layout: String, size: Int? = nil) throws(RelayError) {
        var parser = LayoutParser(layout)
        fields = try parser.wholeLayout()
        steps = parser.steps
        self.size = steps.reduce(0) { $0 + $1.size }
        if let size, size != self.size {
            throw parser.refusal("its numbers have \(self.size) bytes, the sender's values \(size)")
        }
        _ = try WireSchema(fields: fields)  // Its signature's length.
    }

    /// Appends the fields, as `WireCodec` would for the value.
    ///
    /// Throws `.invalidArgument` for bytes of another size; the writer is then as before.
    package func transcode(_ value: UnsafeRawBufferPointer, into writer: inout WireWriter) throws(RelayError) {
        guard value.count == size else {
            throw RelayError(.invalidArgument, "\(value.count) bytes; the sender's layout has \(size)")
        }
        var offset = 0
        for step in steps {
            // Within the bytes: `size` is the sum of the steps'. Numbers: every byte is valid.
            switch step {
            case .structure: writer.align(8)
            case .int8: writer.int16(Int16(value.loadUnaligned(fromByteOffset: offset, as: Int8.self)))
            case .int16: writer.int16(value.loadUnaligned(fromByteOffset: offset, as: Int16.self))
            case .int32: writer.int32(value.loadUnaligned(fromByteOffset: offset, as: Int32.self))
            case .int64: writer.int64(value.loadUnaligned(fromByteOffset: offset, as: Int64.self))
            case .uint8: writer.byte(value.loadUnaligned(fromByteOffset: offset, as: UInt8.self))
            case .uint16: writer.uint16(value.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
            case .uint32: writer.uint32(value.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            case .uint64: writer.uint64(value.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            case .float: writer.double(Double(value.loadUnaligned(fromByteOffset: offset, as: Float.self)))
            case .double: writer.double(value.loadUnaligned(fromByteOffset: offset, as: Double.self))
            }
            offset += step.size
        }
    }
}
