import CDBus
import Glibc
import Synchronization
package import RelayWire

/// File descriptors in messages.
extension BusConnection {
    /// Whether the bus takes file descriptors from this connection, and gives it some: over TCP it does not.
    package var canPassDescriptors: Bool {
        inner.withLock { inner in
            inner.pointer.map { dbus_connection_can_send_type($0, ReceivedMessage.descriptorType) != 0 } ?? false
        }
    }
    /// The user whose process made the bus's socket, as the kernel knows it; nil: it is no socket of this machine.
    package var busUser: UInt32? {
        inner.withLock { inner in
            var descriptor: Int32 = -1
            guard let pointer = inner.pointer, dbus_connection_get_unix_fd(pointer, &descriptor) != 0 else {
                return nil
            }
            // A `ucred`, which is behind _GNU_SOURCE: process, user and group.
            var credentials: [UInt32] = [0, 0, 0]
            let size = socklen_t(credentials.count * MemoryLayout<UInt32>.size)
            var taken = size
            let failed = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &taken)
            return failed == 0 && taken == size ? credentials[1] : nil
        }
    }
    /// Answers a call with file descriptors and nothing else, behind everything that was sent before. They stay the
    /// caller's.
    ///
    /// Throws `Unavailable` when the connection is gone or cannot pass them, or there is no memory: the call has no
    /// answer then.
    ///
    /// - Parameter serial: the answer's own; 0: the connection's next.
    package func reply(to call: IncomingCall, descriptors: [Int32], serial: UInt32 = 0) throws(RelayError) {
        guard call.wantsReply else { return }
        try send { () throws(RelayError) in
            try ComposedMessage(answering: call, descriptors: descriptors, serial: serial)
        }
    }
    /// Whether commands and replies may have file descriptors: on a bus that passes them, and by a link.
    package var canTransferDescriptors: Bool { canPassDescriptors || inner.withLock { $0.link != nil } }
    /// Answers a call with values that have file descriptors, by their indices in the body. They stay the caller's.
    ///
    /// Throws `Unavailable` when the connection is gone or cannot pass them, or there is no memory: the call has no
    /// answer then.
    ///
    /// - Parameter serial: the answer's own.
    package func reply(
        to call: IncomingCall, _ signature: Signature, body: [UInt8], descriptors: [ReceivedDescriptor], serial: UInt32
    ) throws(RelayError) {
        guard call.wantsReply else { return }
        let header = MessageHeader.methodReturn(to: call.serial, destination: call.sender, signature: signature)
        if try sendByLink(header, serial, body, descriptors) { return }
        let values = try body.withUnsafeBytes { body in
            Result { () throws(RelayError) in try DBusValue.decode(signature: signature, body: body) }
        }.get()
        try descriptors.withNumbers { numbers throws(RelayError) in
            try send { () throws(RelayError) in
                try ComposedMessage(answering: call, values, descriptors: numbers, serial: serial)
            }
        }
    }
    /// Sends a call with file descriptors: those that its body has by their indices, or nothing else. They stay the
    /// caller's.
    ///
    /// Throws `Unavailable` when the connection is gone or cannot pass them, or there is no memory, and
    /// `InvalidArgument` for a destination, path, interface or member that is none.
    func sendDescriptors(_ call: MethodCall, serial: UInt32) throws(RelayError) {
        let header = MessageHeader.methodCall(
            path: call.path, interface: call.interface, member: call.member, destination: call.destination,
            signature: call.signature, flags: call.flags)
        if !call.body.isEmpty, try sendByLink(header, serial, call.body, call.descriptors) { return }
        try send { () throws(RelayError) in try ComposedMessage(calling: call, serial: serial) }
    }
    private func send(_ compose: () throws(RelayError) -> ComposedMessage) throws(RelayError) {
        guard canPassDescriptors else {
            throw RelayError(.unavailable, "this connection to the bus cannot pass file descriptors, or is gone")
        }
        let message = try compose()
        try inner.withLock { inner in Result { () throws(RelayError) in try Self.send(message, &inner) } }.get()
    }
    /// False: there is no link.
    private func sendByLink(
        _ header: MessageHeader, _ serial: UInt32, _ body: [UInt8], _ descriptors: [ReceivedDescriptor]
    ) throws(RelayError) -> Bool {
        guard inner.withLock({ $0.link != nil }) else { return false }
        var message = try LinkedMessage(header, serial: serial, body: body)
        for descriptor in descriptors {
            let copy = descriptor.withNumber { fcntl($0, F_DUPFD_CLOEXEC, 0) }
            if copy < 0 {
                let failure = SystemError(errno)
                throw RelayError(.unavailable, "a file descriptor cannot be duplicated: \(failure)", cause: failure)
            }
            message.descriptors.append(ReceivedDescriptor(copy))
        }
        let isSent = inner.withLock { [message] inner in
            inner.link?.send(message, from: self)
            return inner.link != nil
        }
        if !isSent { throw RelayError(.unavailable, "the connection to the bus is gone") }
        return true
    }
    private static func send(_ message: ComposedMessage, _ inner: inout Inner) throws(RelayError) {
        guard let pointer = inner.pointer, dbus_connection_get_is_connected(pointer) != 0 else {
            throw RelayError(.unavailable, "the connection to the bus is gone")
        }
        guard inner.outbox.isEmpty, dbus_connection_get_outgoing_size(pointer) == 0 else {
            inner.outbox.append(message)
            return inner.watches.waitForRoom(true)
        }
        if dbus_connection_send(pointer, message.handle.pointer, nil) == 0 {
            throw RelayError(.unavailable, "libdbus: out of memory")
        }
    }
}
