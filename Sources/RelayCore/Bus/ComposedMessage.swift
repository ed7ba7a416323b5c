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
        var isComplete =
            dbus_message_set_reply_serial(pointer, call.serial) != 0
            && dbus_message_set_destination(pointer, call.sender) != 0
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(pointer, &iterator)
        for var descriptor in descriptors where isComplete {
            isComplete = dbus_message_iter_append_basic(&iterator, ReceivedMessage.descriptorType, &descriptor) != 0
        }
        if !isComplete {
            throw RelayError(.unavailable, "libdbus: no memory, or no descriptors, for an answer to \(call.member)")
        }
    }
}
