import RelayWire

/// `Received`: the proof that a reply was read.
extension BusConnection {
    /// Reports to its sender that a reply was read, and all that came before it was read or dropped.
    package func sendReceived(_ serial: UInt32, to sender: String) {
        var body = WireWriter()
        body.uint32(serial)
        do throws(RelayError) {
            let header = MessageHeader.methodCall(
                path: "/", interface: Stream1.name, member: "Received", destination: sender,
                signature: try Signature(Stream1.receivedSignature), flags: [.noReplyExpected, .noAutoStart])
            try send(header, body: body.bytes)
        } catch {
            // The connection is gone, which the other side sees.
        }
    }
}
