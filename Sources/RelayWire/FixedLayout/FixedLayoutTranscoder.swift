/// A fixed-layout event's own bytes as the wire encoding of its fields, for code that lacks the type: by the sender's
/// layout in words.
package struct FixedLayoutTranscoder: Sendable {
    /// The sender's, in its order.
    package let fields: [WireField]
    /// Bytes of a value.
    package let size: Int
    let steps: [LayoutStep]

    /// - Parameters:
    ///   - layout: as `FixedLayout.check` returns it; it may come from anywhere.
    ///   - size: bytes of a value, as the sender reports them; nil if they follow from the layout.
    /// Throws `.invalidArgument` with the place and the reason.
    package init(layout: String, size: Int? = nil) throws(RelayError) {
        var parser = LayoutParser(layout)
        fields = try parser.wholeLayout()
        steps = parser.steps
        self.size = steps.reduce(0) { $0 + $1.size }
        if steps.reduce(0, { $0 + $1.wireSize }) > WireLimits.messageLength {
            throw parser.refusal("D-Bus allows \(WireLimits.messageLength) bytes for a message")
        }
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
            // All within the bytes: `size` is the sum of the steps'.
            switch step {
            case .structure: writer.align(8)
            case .number(let number): number.write(value, at: offset, into: &writer)
            case .array(let number, _):
                // Not longer than D-Bus allows: the parser checked it.
                try number.writeArray(
                    UnsafeRawBufferPointer(rebasing: value[offset..<offset + step.size]), into: &writer)
            }
            offset += step.size
        }
    }
}
