import BusProcess
import CDBus
import Glibc
import RelayTestKit
import Synchronization
import WireSupport

@testable import RelayCore

/// A bus that lets one connection in, answers its `Hello`, and then stands still.
final class HelloBus: Sendable {
    /// Closed when neither the bus nor its thread needs it: the number is another's then.
    private final class Listener: Sendable {
        let number: Int32
        init(_ path: String) throws {
            guard let number = UnixSocket.listening(at: path) else { throw SystemError(errno) }
            self.number = number
        }
        deinit { close(number) }
        /// Lets nobody in any more.
        func end() { shutdown(number, Int32(SHUT_RDWR)) }
    }
    private let folder: TestFolder
    private let listener: Listener
    private let received = Mutex<[UInt8]>([])

    init() throws {
        folder = try TestFolder()
        let listener = try Listener(folder.path + "/bus")
        self.listener = listener
        try OwnThread.start("hello-bus") { [weak self] in Self.serve(listener) { self?.note($0) } }
    }
    // The thread's `poll` returns then.
    deinit { listener.end() }

    var bus: Bus { .address("unix:path=\(folder.path)/bus") }
    /// What came, as text.
    func hasReceived(_ text: String) -> Bool {
        received.withLock { String(decoding: $0, as: UTF8.self) }.contains(text)
    }
    private func note(_ bytes: some Sequence<UInt8>) { received.withLock { $0 += bytes } }

    private static func serve(_ listener: Listener, note: ([UInt8]) -> Void) {
        var waiting = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
        poll(&waiting, 1, -1)
        let peer = accept(listener.number, nil, nil)
        listener.end()
        guard peer >= 0 else { return }
        defer { close(peer) }
        func send(_ bytes: [UInt8]) { _ = Glibc.send(peer, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
        func receive() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            let count = recv(peer, &bytes, bytes.count, 0)
            let came = Array(bytes.prefix(max(0, count)))
            note(came)
            return came
        }
        var pending: [UInt8] = []
        while true {
            while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[...end], as: UTF8.self)
                pending.removeSubrange(...end)
                if line.contains("AUTH") { send(Array("OK 0123456789abcdef0123456789abcdef\r\n".utf8)) }
                if line.contains("NEGOTIATE") { send(Array("AGREE_UNIX_FD\r\n".utf8)) }
                guard line.contains("BEGIN") else { continue }
                while pending.count < 16 {
                    let came = receive()
                    if came.isEmpty { return }
                    pending += came
                }
                send(welcome(to: pending[8..<12].reversed().reduce(0) { $0 << 8 | UInt32($1) }))
                while !receive().isEmpty {}
                return
            }
            let came = receive()
            if came.isEmpty { return }
            pending += came
        }
    }
    /// The answer to `Hello`.
    private static func welcome(to serial: UInt32) -> [UInt8] {
        guard let made = dbus_message_new(DBUS_MESSAGE_TYPE_METHOD_RETURN) else { return [] }
        let message = LibDBusMessage(owning: made)
        dbus_message_set_reply_serial(made, serial)
        dbus_message_set_sender(made, "org.freedesktop.DBus")
        dbus_message_set_destination(made, ":1.1")
        dbus_message_set_serial(made, 1)
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(made, &iterator)
        ":1.1".withCString { text in
            // An argument of a string is a pointer to a pointer.
            var text: UnsafePointer<CChar>? = text
            _ = dbus_message_iter_append_basic(&iterator, Int32(UInt8(ascii: "s")), &text)
        }
        return message.marshalled
    }
}
