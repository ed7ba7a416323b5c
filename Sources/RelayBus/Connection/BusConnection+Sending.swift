import CDBus
import Glibc
import Synchronization
package import RelayWire

/// Messages that we compose. libdbus authenticates, and reads; what we composed is written to its socket past it: it would
/// take each message apart once more, and write it by itself.
extension BusConnection {
    /// What dbus-daemon takes unless it is configured otherwise.
    private static let largestMessage = 32 << 20

    /// Sends one message in wire format, made with a serial of this connection's. Does not wait for the bus.
    ///
    /// Throws `Unavailable` when the connection is gone, `InvalidArgument` when libdbus refuses the bytes, `TooLarge`
    /// over 32 MiB: libdbus would take them, and the bus end the connection.
    package func send(_ bytes: UnsafeRawBufferPointer) throws(RelayError) {
        _ = try MessageHandle(parsing: bytes)
        try sendComposed(bytes)
    }
    package func send(_ writer: borrowing WireWriter) throws(RelayError) {
        try writer.withUnsafeBytes { bytes in Result { () throws(RelayError) in try send(bytes) } }.get()
    }
    /// Sends a message that was composed without a serial, of a template and by a codec: it gets the next one.
    package func send(numbering writer: inout WireWriter) throws(RelayError) {
        writer.patch(nextSerial(), at: MessageHeader.serialOffset)
        try sendComposed(writer)
    }
    private func sendComposed(_ writer: borrowing WireWriter) throws(RelayError) {
        try writer.withUnsafeBytes { bytes in Result { () throws(RelayError) in try sendComposed(bytes) } }.get()
    }
    /// Sends bytes that are a message: a bus would end the connection over any others.
    private func sendComposed(_ bytes: UnsafeRawBufferPointer) throws(RelayError) {
        if bytes.count > Self.largestMessage {
            throw RelayError(.tooLarge, "a message of \(bytes.count) bytes: a bus takes \(Self.largestMessage)")
        }
        assert((try? MessageHandle(parsing: bytes)) != nil, "libdbus refuses what was composed")
        let result = inner.withLock { inner in Result { () throws(RelayError) in try sendComposed(bytes, &inner) } }
        try result.get()
    }
    private func sendComposed(_ bytes: UnsafeRawBufferPointer, _ inner: inout Inner) throws(RelayError) {
        guard let pointer = inner.pointer, dbus_connection_get_is_connected(pointer) != 0 else {
            if let link = inner.link { return link.send(try LinkedMessage(bytes), from: self) }
            throw RelayError(.unavailable, "the connection to the bus is gone")
        }
        if loop.isGathering, inner.socket != nil { return gather(bytes, &inner) }
        // What waits goes first; the loop continues from there when the socket has room.
        guard inner.outbox.isEmpty, dbus_connection_get_outgoing_size(pointer) == 0 else {
            inner.outbox.append(bytes)
            return inner.watches.waitForRoom(true)
        }
        guard let socket = Self.socket(pointer, &inner) else {
            let message = try MessageHandle(parsing: bytes)
            if dbus_connection_send(pointer, message.pointer, nil) == 0 {
                throw RelayError(.unavailable, "libdbus: out of memory")
            }
            return
        }
        let written = Self.write(bytes, to: socket)
        if written == bytes.count { return }
        inner.outbox.append(UnsafeRawBufferPointer(rebasing: bytes[written...]))
        inner.watches.waitForRoom(true)
    }
    /// So many bytes are written at once, also where more is gathered: about what a bus reads at once.
    private static let gathered = 2_048
    /// Keeps a message until more have come, or the turn ends.
    private func gather(_ bytes: UnsafeRawBufferPointer, _ inner: inout Inner) {
        let isFirst = inner.outbox.isEmpty
        inner.outbox.append(bytes)
        // Else it waits for room already.
        if inner.watches.isWaiting { return }
        if inner.outbox.count >= Self.gathered { return Self.flush(&inner) }
        if isFirst, !loop.atEnd({ [weak self] in self?.inner.withLock { Self.flush(&$0) } }) { Self.flush(&inner) }
    }
    /// Nil until the bus has let this connection in: libdbus writes what is before.
    private static func socket(_ pointer: OpaquePointer, _ inner: inout Inner) -> Int32? {
        if let socket = inner.socket { return socket }
        var socket: Int32 = -1
        guard dbus_connection_get_is_authenticated(pointer) != 0, dbus_connection_get_socket(pointer, &socket) != 0
        else { return nil }
        inner.socket = socket
        return socket
    }
    /// Returns how many bytes the socket took. A broken one takes all: they are gone with the connection, which the loop
    /// sees when it reads.
    private static func write(_ bytes: UnsafeRawBufferPointer, to socket: Int32) -> Int {
        while true {
            let count = Glibc.send(
                socket, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS, ENOMEM: return 0
            default: return bytes.count
            }
        }
    }
    /// Writes what waits, until the socket is full again.
    static func flush(_ inner: inout Inner) {
        guard let pointer = inner.pointer, !inner.outbox.isEmpty else { return }
        guard dbus_connection_get_is_connected(pointer) != 0 else {
            inner.outbox = Outbox()
            return inner.watches.waitForRoom(false)
        }
        var isFull = false
        while !isFull, !inner.outbox.isEmpty, dbus_connection_get_outgoing_size(pointer) == 0,
            let socket = socket(pointer, &inner)
        {
            inner.outbox.takeNext { item in
                switch item {
                case .message(let message):
                    _ = dbus_connection_send(pointer, message.handle.pointer, nil)
                    return 0
                case .bytes(let bytes):
                    let written = write(bytes, to: socket)
                    isFull = written < bytes.count
                    return written
                }
            }
        }
        inner.watches.waitForRoom(!inner.outbox.isEmpty)
    }
    func nextSerial() -> UInt32 { pending.withLock { $0.nextSerial() } }

    /// Sends a message without a reply.
    package func send(_ header: MessageHeader, body: [UInt8] = []) throws(RelayError) {
        try send(header, serial: nextSerial(), body: body)
    }
    func send(_ header: MessageHeader, serial: UInt32, body: [UInt8]) throws(RelayError) {
        var writer = WireWriter(capacity: body.count + 256)
        let template = try templates.withLock { templates in
            Result { () throws(RelayError) in try templates.template(of: header) }
        }.get()
        if let template {
            template.begin(&writer)
            HeaderTemplates.fillIn(header, &writer)
            writer.append(body)
            try template.finish(&writer, serial: serial)
        } else {
            let start = try header.write(into: &writer, serial: serial)
            writer.append(body)
            try MessageHeader.finish(&writer, bodyStart: start)
        }
        try Self.check(body, header.signature)
        try sendComposed(writer)
    }
    /// Bodies come from anywhere, from a file too: one that is none of its signature would end the connection.
    private static func check(_ body: [UInt8], _ signature: Signature) throws(RelayError) {
        do {
            try body.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                for type in signature.types { try reader.skip(type) }
                try reader.finish()
            }
        } catch {
            throw RelayError(
                .invalidArgument, "a body of \(body.count) bytes is no '\(signature)': \(error)", cause: error)
        }
    }
}
