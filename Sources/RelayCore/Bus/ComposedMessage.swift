import CDBus

/// A message that libdbus composes, as it has to when file descriptors are in it.
final class ComposedMessage: @unchecked Sendable {  // Used by who makes it, then under the connection's lock.
    let handle: MessageHandle
    /// What it counts as while it waits: near enough, as there is next to nothing in it.
    static let size = 256

    /// An answer of descriptors and nothing else, which are duplicated here.
    init(answering call: IncomingCall, descriptors: [Int32]) throws(RelayError) {
        // libdbus would abort over what is none.
        try BusNames.check(call.sender, as: .busName)
        guard call.serial != 0, let pointer = dbus_message_new(DBUS_MESSAGE_TYPE_METHOD_RETURN) else {
            throw RelayError(.unavailable, "libdbus: no memory for an answer to \(call.member)")
        }
        handle = MessageHandle(adopting: pointer)
        dbus_message_set_no_reply(pointer, 1)
        let isComplete =
            dbus_message_set_reply_serial(pointer, call.serial) != 0
            && dbus_message_set_destination(pointer, call.sender) != 0 && Self.append(descriptors, to: pointer)
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
        if !Self.append(call.descriptors.map(\.number), to: pointer) {
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
