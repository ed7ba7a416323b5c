import CDBus
import WireSupport

@testable import RelayCore

/// A peer made of libdbus alone, which does what ours refuses to do. It blocks: for a few messages.
final class RawPeer {
    let pointer: OpaquePointer
    init(_ address: String) throws {
        dbus_threads_init_default()
        guard let pointer = dbus_connection_open_private(address, nil) else {
            throw RelayError(.unavailable, "no raw connection to \(address)")
        }
        self.pointer = pointer
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        guard dbus_bus_register(pointer, nil) != 0 else {
            dbus_connection_close(pointer)
            dbus_connection_unref(pointer)
            throw RelayError(.unavailable, "no name at \(address)")
        }
    }
    deinit {
        dbus_connection_close(pointer)
        dbus_connection_unref(pointer)
    }
    var name: String { String(cString: dbus_bus_get_unique_name(pointer)) }

    func send(_ message: LibDBusMessage) {
        dbus_connection_send(pointer, message.pointer, nil)
        dbus_connection_flush(pointer)
    }
    /// The next error that came as a reply, if there is one now; other messages are dropped.
    func error() -> (name: String, text: String)? {
        dbus_connection_read_write(pointer, 0)
        while let message = dbus_connection_pop_message(pointer).map({ LibDBusMessage(owning: $0) }) {
            guard dbus_message_get_type(message.pointer) == DBUS_MESSAGE_TYPE_ERROR else { continue }
            let name = LibDBusMessage.text(dbus_message_get_error_name(message.pointer)) ?? ""
            // A string's length, its bytes and a NUL.
            return (name, String(decoding: message.body.dropFirst(4).dropLast(), as: UTF8.self))
        }
        return nil
    }
    func send(_ bytes: [UInt8]) throws {
        guard let message = LibDBusMessage.demarshalled(bytes) else {
            throw RelayError(.invalidArgument, "libdbus refuses the test's bytes")
        }
        send(message)
    }
}
