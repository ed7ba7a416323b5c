import CDBus

/// One reference to a libdbus message, given up at the end of its scope: held ones stop the connection's reading.
/// Unchecked: libdbus messages have no locks of their own, and this has one owner.
package struct MessageHandle: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over a reference.
    init(adopting pointer: OpaquePointer) { self.pointer = pointer }
    deinit { dbus_message_unref(pointer) }

    /// Parses bytes that `MessageHeader` and the codec made. Refused bytes are an error, not an abort.
    init(parsing bytes: UnsafeRawBufferPointer) throws(RelayError) {
        var failure = DBusError()
        dbus_error_init(&failure)
        // libdbus only reads the bytes, as its declaration says; the pointer is valid during the call.
        let message = dbus_message_demarshal(
            bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: bytes.count), &failure)
        guard let message else {
            defer { dbus_error_free(&failure) }
            let reason = failure.message.map { String(cString: $0) } ?? "out of memory"
            throw RelayError(.invalidArgument, "libdbus refuses a message of \(bytes.count) bytes: \(reason)")
        }
        pointer = message
    }
}
