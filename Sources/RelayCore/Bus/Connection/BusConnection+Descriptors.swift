import CDBus
import Synchronization

/// File descriptors in messages.
extension BusConnection {
    /// Whether the bus takes file descriptors from this connection, and gives it some: over TCP it does not.
    package var canPassDescriptors: Bool {
        inner.withLock { inner in
            inner.pointer.map { dbus_connection_can_send_type($0, ReceivedMessage.descriptorType) != 0 } ?? false
        }
    }
    /// Answers a call with file descriptors and nothing else, behind everything that was sent before. They stay the
    /// caller's.
    ///
    /// Throws `Unavailable` when the connection is gone or cannot pass them, or there is no memory: the call has no
    /// answer then.
    package func reply(to call: IncomingCall, descriptors: [Int32]) throws(RelayError) {
        guard call.wantsReply else { return }
        try send { () throws(RelayError) in try ComposedMessage(answering: call, descriptors: descriptors) }
    }
    /// Sends a call with file descriptors and nothing else. They stay the caller's.
    ///
    /// Throws `Unavailable` when the connection is gone or cannot pass them, or there is no memory, and
    /// `InvalidArgument` for a destination, path, interface or member that is none.
    func sendDescriptors(_ call: MethodCall, serial: UInt32) throws(RelayError) {
        try send { () throws(RelayError) in try ComposedMessage(calling: call, serial: serial) }
    }
    private func send(_ compose: () throws(RelayError) -> ComposedMessage) throws(RelayError) {
        guard canPassDescriptors else {
            throw RelayError(.unavailable, "this connection to the bus cannot pass file descriptors, or is gone")
        }
        let message = try compose()
        try inner.withLock { inner in Result { () throws(RelayError) in try Self.send(message, &inner) } }.get()
    }
    private static func send(_ message: ComposedMessage, _ inner: inout Inner) throws(RelayError) {
        guard let pointer = inner.pointer, dbus_connection_get_is_connected(pointer) != 0 else {
            throw RelayError(.unavailable, "the connection to the bus is gone")
        }
        guard inner.outbox.isEmpty, dbus_connection_get_outgoing_size(pointer) == 0 else {
            return inner.outbox.append(message)
        }
        if dbus_connection_send(pointer, message.handle.pointer, nil) == 0 {
            throw RelayError(.unavailable, "libdbus: out of memory")
        }
    }
}
