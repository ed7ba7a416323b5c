import CDBus
import RelayWire

/// A message that libdbus composes, as it has to when file descriptors are in it.
final class ComposedMessage: @unchecked Sendable {  // Used by its maker, then under the connection's lock.
    let handle: MessageHandle
    /// What it counts as while it waits: near enough, as there is next to nothing in it.
    static let size = 256

    /// An answer with descriptors, which are duplicated here.
    ///
    /// - Parameters:
    ///   - values: what it has, the descriptors by their indices; nil: the descriptors and nothing else.
    ///   - serial: its own; 0: the connection's next.
    init(
        answering call: IncomingCall, _ values: [DBusValue]? = nil, descriptors: [Int32], serial: UInt32 = 0
    ) throws(RelayError) {
        // libdbus would abort over what is none.
        try BusNames.check(call.sender, as: .busName)
        guard call.serial != 0, let pointer = dbus_message_new(DBUS_MESSAGE_TYPE_METHOD_RETURN) else {
            throw RelayError(.unavailable, "libdbus: no memory for an answer to \(call.member)")
        }
        handle = MessageHandle(adopting: pointer)
        dbus_message_set_no_reply(pointer, 1)
        if serial != 0 { dbus_message_set_serial(pointer, serial) }
        let isComplete =
            dbus_message_set_reply_serial(pointer, call.serial) != 0
            && dbus_message_set_destination(pointer, call.sender) != 0
            && (values.map { Self.append($0, descriptors, to: pointer) } ?? Self.append(descriptors, to: pointer))
        if !isComplete {
            throw RelayError(.unavailable, "libdbus: no memory, or no descriptors, for an answer to \(call.member)")
        }
    }
    /// A call of descriptors and nothing else, which are duplicated here.
    init(calling call: MethodCall, serial: UInt32) throws(RelayError) {
        // As above.
        try BusNames.check(call.destination, as: .busName)
        try BusNames.check(call.path, as: .objectPath)
        try BusNames.check(call.interface, as: .interface)
        try BusNames.check(call.member, as: .member)
        let made = dbus_message_new_method_call(call.destination, call.path, call.interface, call.member)
        guard serial != 0, let pointer = made else {
            throw RelayError(.unavailable, "libdbus: no memory for a call of \(call.member)")
        }
        handle = MessageHandle(adopting: pointer)
        dbus_message_set_serial(pointer, serial)
        dbus_message_set_auto_start(pointer, call.flags.contains(.noAutoStart) ? 0 : 1)
        let values = call.body.isEmpty ? nil : try DBusValue.decode(signature: call.signature, body: call.body)
        let isComplete = call.descriptors.withNumbers { numbers in
            values.map { Self.append($0, numbers, to: pointer) } ?? Self.append(numbers, to: pointer)
        }
        if !isComplete {
            throw RelayError(.unavailable, "libdbus: no memory, or no descriptors, for a call of \(call.member)")
        }
    }
    private static func append(_ descriptors: [Int32], to pointer: OpaquePointer) -> Bool {
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(pointer, &iterator)
        for var descriptor in descriptors
        where dbus_message_iter_append_basic(&iterator, ReceivedMessage.descriptorType, &descriptor) == 0 {
            return false
        }
        return true
    }
}

/// A message in one piece, made by libdbus, freed here.
struct MarshalledMessage: ~Copyable {
    let bytes: UnsafeRawBufferPointer
    /// Where the body begins; nil when libdbus could not marshal, or not in our byte order.
    let bodyStart: Int?

    /// - Parameter message: nil: nothing is copied.
    init(_ message: OpaquePointer?) {
        guard let message else {
            (bytes, bodyStart) = (UnsafeRawBufferPointer(start: nil, count: 0), nil)
            return
        }
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
