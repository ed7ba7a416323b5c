/// A message header made once, for what is sent often: emitting copies it, appends a body, and fills serial and length in.
package struct MessageTemplate: Sendable {
    package let header: MessageHeader
    private let bytes: [UInt8]

    /// Throws `.invalidArgument` for a bad or missing field.
    package init(_ header: MessageHeader) throws(RelayError) {
        self.header = header
        var writer = WireWriter()
        _ = try header.write(into: &writer, serial: 1)
        bytes = writer.bytes
    }
    /// A broadcast signal.
    package init(path: String, interface: String, member: String, signature: Signature) throws(RelayError) {
        try self.init(.signal(path: path, interface: interface, member: member, signature: signature))
    }
    /// How many bytes the header has; the body starts there, aligned.
    package var bodyStart: Int { bytes.count }

    /// Empties the writer and puts the header there.
    package func begin(_ writer: inout WireWriter) {
        writer.removeAll()
        writer.append(bytes)
    }
    /// Fills serial and body length in. Throws `.tooLarge` over `limit` bytes, and `.invalidArgument` for serial 0.
    package func finish(
        _ writer: inout WireWriter, serial: UInt32, limit: Int = WireLimits.defaultMessageLength
    ) throws(RelayError) {
        if serial == 0 { throw RelayError(.invalidArgument, "a message's serial must not be 0") }
        try MessageHeader.finish(&writer, bodyStart: bodyStart, limit: limit)
        writer.patch(serial, at: MessageHeader.serialOffset)
    }
}
