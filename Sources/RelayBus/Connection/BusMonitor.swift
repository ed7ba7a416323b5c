import CDBus
import Glibc
package import RelayWire

/// A message between others, as a monitor sees it.
package struct MonitoredMessage: Sendable {
    package var kind: MessageHeader.Kind
    package var serial: UInt32 = 0
    package var replySerial: UInt32 = 0
    package var sender: String?
    /// As the sender named it: a unique name or a well-known one.
    package var destination: String?
    package var path: String?
    package var interface: String?
    package var member: String?
    package var errorName: String?
    package var signature = ""
    package var body: [UInt8] = []

    package init(_ kind: MessageHeader.Kind) { self.kind = kind }
}

/// A connection that the bus shows what others exchange, by `BecomeMonitor`. It can send nothing.
///
/// - Isolation: for one thread, which waits on `descriptor` when `next` has nothing.
/// - Loss: the bus ends the connection of a monitor that does not read.
package final class BusMonitor {
    private let pointer: OpaquePointer
    private let bus: Bus
    /// Readable when there may be something.
    package let descriptor: Int32

    /// Connects, and waits for the bus's answer.
    ///
    /// - Parameter rules: which messages are shown: match rules, of which one has to fit.
    /// - Throws: `NotPermitted` where the bus does not let this user monitor it; `Unavailable` without a bus.
    package init(_ bus: Bus, rules: [String], timeout: Duration) throws(RelayError) {
        guard dbus_threads_init_default() != 0 else { throw RelayError(.unavailable, "libdbus: out of memory") }
        var failure = DBusError()
        dbus_error_init(&failure)
        defer { dbus_error_free(&failure) }
        let place = try bus.place()
        guard let pointer = dbus_connection_open_private(place.text, &failure) else {
            let remote = Self.remote(failure)
            throw RelayError(.unavailable, place.unreachable(remote.message), cause: remote)
        }
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        var descriptor: Int32 = -1
        do throws(RelayError) {
            guard dbus_bus_register(pointer, &failure) != 0 else {
                throw bus.refusal(Self.unanswered(failure, isConnected: dbus_connection_get_is_connected(pointer) != 0))
            }
            let request = try Self.request(rules)
            let milliseconds = MonotonicClock.milliseconds(until: MonotonicClock.deadline(after: timeout))
            guard
                let reply = dbus_connection_send_with_reply_and_block(
                    pointer, request.pointer, max(1_000, milliseconds), &failure)
            else { throw Self.error("BecomeMonitor at \(bus)", failure) }
            dbus_message_unref(reply)
            guard dbus_connection_get_unix_fd(pointer, &descriptor) != 0 else {
                throw RelayError(.unavailable, "the connection to \(bus) has no descriptor")
            }
        } catch {
            dbus_connection_close(pointer)
            dbus_connection_unref(pointer)
            throw error
        }
        (self.pointer, self.descriptor, self.bus) = (pointer, descriptor, bus)
    }
    deinit {
        dbus_connection_close(pointer)
        dbus_connection_unref(pointer)
    }

    /// The next message; nil: there is none now.
    ///
    /// Throws `Unavailable` when the bus has ended the connection.
    package func next() throws(RelayError) -> MonitoredMessage? {
        while true {
            if let message = dbus_connection_pop_message(pointer) {
                // Those that are not worth a look are left out.
                guard let received = ReceivedMessage(MessageHandle(adopting: message)) else { continue }
                if received.isDisconnected { break }
                return MonitoredMessage(received)
            }
            // It takes what is there, and does not wait.
            guard dbus_connection_read_write(pointer, 0) != 0 else { break }
            if dbus_connection_get_dispatch_status(pointer) != DBUS_DISPATCH_DATA_REMAINS { return nil }
        }
        throw RelayError(
            .unavailable, "\(bus) ended the connection: it went away, or this monitor was too slow for it; begin again")
    }

    private static func request(_ rules: [String]) throws(RelayError) -> MessageHandle {
        var body = WireWriter()
        let array = body.beginArray(elementAlignment: 4)
        for rule in rules { try body.string(rule, named: "the match rule") }
        try body.endArray(array)
        body.uint32(0)
        let header = MessageHeader.methodCall(
            path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus.Monitoring", member: "BecomeMonitor",
            destination: "org.freedesktop.DBus", signature: try Signature("asu"))
        var writer = WireWriter()
        // libdbus gives its first calls the lowest numbers.
        let start = try header.write(into: &writer, serial: 1 << 20)
        writer.append(body.bytes)
        try MessageHeader.finish(&writer, bodyStart: start)
        return try MessageHandle(parsing: writer)
    }
    /// Why `Hello` failed. libdbus reports an end of the connection and a silent bus as the same.
    private static func unanswered(_ failure: DBusError, isConnected: Bool) -> RelayError {
        let remote = remote(failure)
        if !isConnected { return RelayError(.unavailable, "the bus closed the connection", cause: remote) }
        let isLate = ["NoReply", "Timeout", "TimedOut"].contains { remote.name.hasSuffix(".Error.\($0)") }
        return isLate
            ? RelayError(.timedOut, "Hello: \(remote.message)", cause: remote)
            : ErrorNames.relayError(remote, calling: "Hello")
    }
    private static func error(_ what: String, _ failure: DBusError) -> RelayError {
        ErrorNames.relayError(remote(failure), calling: what)
    }
    private static func remote(_ failure: DBusError) -> RemoteError {
        RemoteError(
            name: failure.name.map { String(cString: $0) } ?? "",
            message: failure.message.map { String(cString: $0) } ?? "out of memory")
    }
}

extension MessageHandle {
    fileprivate init(parsing writer: borrowing WireWriter) throws(RelayError) {
        let bytes = writer.bytes
        self = try Self.parsed(bytes)
    }
    private static func parsed(_ bytes: [UInt8]) throws(RelayError) -> MessageHandle {
        // A closure that returns what cannot be copied: by pointer, which the array outlives.
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        return try MessageHandle(parsing: UnsafeRawBufferPointer(copy))
    }
}

extension MonitoredMessage {
    init(_ message: borrowing ReceivedMessage) {
        self.init(message.kind)
        (serial, replySerial) = (message.serial, message.replySerial)
        (sender, destination, path) = (message.sender, message.destination, message.path)
        (interface, member, errorName) = (message.interface, message.member, message.errorName)
        (signature, body) = (message.signature, message.body)
    }
}
