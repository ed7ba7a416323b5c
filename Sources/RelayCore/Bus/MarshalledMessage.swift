import CDBus

/// A message in one piece, made by libdbus, freed here.
struct MarshalledMessage: ~Copyable {
    let bytes: UnsafeRawBufferPointer
    /// Where the body begins; nil when libdbus could not marshal, or not in our byte order.
    let bodyStart: Int?

    init(_ message: OpaquePointer) {
        // A foreign sender may write big-endian; making an iterator turns the message into our order.
        var iterator = DBusMessageIter()
        dbus_message_iter_init(message, &iterator)
        var start: UnsafeMutablePointer<CChar>?
        var count: Int32 = 0
        guard dbus_message_marshal(message, &start, &count) != 0, let start else {
            (bytes, bodyStart) = (UnsafeRawBufferPointer(start: nil, count: 0), nil)
            return
        }
        // `start` holds `count` bytes until they are freed, with this value.
        bytes = UnsafeRawBufferPointer(start: start, count: Int(count))
        guard bytes.count >= 16, bytes[0] == UInt8(ascii: "l") else {
            bodyStart = nil
            return
        }
        let length = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        bodyStart = length <= bytes.count - 16 ? bytes.count - Int(length) : nil
    }
    deinit { dbus_free(UnsafeMutableRawPointer(mutating: bytes.baseAddress)) }
}
