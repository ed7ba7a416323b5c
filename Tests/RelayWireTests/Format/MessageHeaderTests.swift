import CDBus
import TestTraits
import Testing
import WireSupport

@testable import RelayWire

@Suite("Message headers", .tags(.g8)) struct MessageHeaderTests {
    private func written(_ header: MessageHeader, serial: UInt32 = 7, body: (inout WireWriter) -> Void = { _ in })
        throws -> [UInt8]
    {
        var writer = WireWriter()
        let start = try header.write(into: &writer, serial: serial)
        #expect(start % 8 == 0)
        body(&writer)
        try MessageHeader.finish(&writer, bodyStart: start)
        return writer.bytes
    }

    @Test("libdbus reads back every field of a method call") func methodCall() throws {
        let bytes = try written(
            .methodCall(
                path: "/org/example/A1", interface: "org.example.A1", member: "Do", destination: "org.example.Service1",
                signature: try Signature("u"), flags: .noAutoStart), serial: 0x8000_0001
        ) { $0.uint32(5) }
        let message = try #require(LibDBusMessage.demarshalled(bytes))
        #expect(dbus_message_get_type(message.pointer) == DBUS_MESSAGE_TYPE_METHOD_CALL)
        #expect(dbus_message_get_serial(message.pointer) == 0x8000_0001)
        #expect(LibDBusMessage.text(dbus_message_get_path(message.pointer)) == "/org/example/A1")
        #expect(LibDBusMessage.text(dbus_message_get_interface(message.pointer)) == "org.example.A1")
        #expect(LibDBusMessage.text(dbus_message_get_member(message.pointer)) == "Do")
        #expect(LibDBusMessage.text(dbus_message_get_destination(message.pointer)) == "org.example.Service1")
        #expect(dbus_message_get_auto_start(message.pointer) == 0)
        #expect(dbus_message_get_no_reply(message.pointer) == 0)
        #expect(message.signature == "u")
        #expect(message.body == [5, 0, 0, 0])
    }
    @Test("libdbus reads back signals, replies and errors") func otherKinds() throws {
        let signal = try #require(
            LibDBusMessage.demarshalled(try written(.signal(path: "/", interface: "a.b", member: "C"))))
        #expect(dbus_message_get_type(signal.pointer) == DBUS_MESSAGE_TYPE_SIGNAL)
        #expect(dbus_message_get_no_reply(signal.pointer) == 1)
        let reply = try #require(LibDBusMessage.demarshalled(try written(.methodReturn(to: 9, destination: ":1.3"))))
        #expect(dbus_message_get_type(reply.pointer) == DBUS_MESSAGE_TYPE_METHOD_RETURN)
        #expect(dbus_message_get_reply_serial(reply.pointer) == 9)
        #expect(LibDBusMessage.text(dbus_message_get_destination(reply.pointer)) == ":1.3")
        let failure = try #require(
            LibDBusMessage.demarshalled(
                try written(.error("a.b.Error.C", to: 9, destination: ":1.3", signature: try Signature("s"))) {
                    try? $0.string("no")
                }))
        #expect(dbus_message_get_type(failure.pointer) == DBUS_MESSAGE_TYPE_ERROR)
        #expect(LibDBusMessage.text(dbus_message_get_error_name(failure.pointer)) == "a.b.Error.C")
    }
    @Test("a header with a bad or a missing field is refused, and nothing is written")
    func refusals() throws {
        let path = "/a"
        let bad: [MessageHeader] = [
            .methodCall(path: "a", interface: "a.b", member: "C", destination: nil),
            .methodCall(path: "/a/", interface: "a.b", member: "C", destination: nil),
            .methodCall(path: path, interface: "a", member: "C", destination: nil),
            .methodCall(path: path, interface: "a.b", member: "C.D", destination: nil),
            .methodCall(path: path, interface: "a.b", member: "", destination: nil),
            .methodCall(path: path, interface: "a.b", member: "C", destination: "a"),
            .methodCall(path: path, interface: "a.b", member: "C\0", destination: nil),
            .signal(path: path, interface: "org.freedesktop.DBus.Local", member: "C"),
            .signal(path: "/org/freedesktop/DBus/Local", interface: "a.b", member: "C"),
            .methodReturn(to: 0, destination: nil), .error("x", to: 1, destination: nil),
            .error("a.b", to: 0, destination: nil), MessageHeader(.signal), MessageHeader(.methodCall),
            MessageHeader(.error), MessageHeader(.methodReturn),
        ]
        for header in bad {
            var writer = WireWriter()
            let error = #expect(throws: RelayError.self) { try header.write(into: &writer, serial: 1) }
            #expect(error?.code == .invalidArgument, "\(header)")
            #expect(writer.count == 0)
        }
        var writer = WireWriter()
        #expect(throws: RelayError.self) {
            try MessageHeader.signal(path: path, interface: "a.b", member: "C").write(into: &writer, serial: 0)
        }
    }
    @Test("a message over the limit is TooLarge, at the limit it passes") func limit() throws {
        var writer = WireWriter()
        let start = try MessageHeader.signal(path: "/", interface: "a.b", member: "C").write(into: &writer, serial: 1)
        writer.append([UInt8](repeating: 1, count: 100))
        try MessageHeader.finish(&writer, bodyStart: start, limit: writer.count)
        let error = #expect(throws: RelayError.self) {
            try MessageHeader.finish(&writer, bodyStart: start, limit: writer.count - 1)
        }
        #expect(error?.code == .tooLarge)
        writer.append([UInt8](repeating: 1, count: 1 << 20))
        #expect(throws: RelayError.self) { try MessageHeader.finish(&writer, bodyStart: start) }
    }
    @Test("a template's messages are the header's own, with their serial and body") func template() throws {
        let template = try MessageTemplate(
            path: "/org/example/A1", interface: "org.example.A1", member: "Done", signature: try Signature("xs"))
        var writer = WireWriter()
        for serial: UInt32 in [0x8000_0000, 0xFFFF_FFFF] {
            template.begin(&writer)
            writer.int64(-1)
            try writer.string("box \(serial)")
            try template.finish(&writer, serial: serial)
            let message = try #require(LibDBusMessage.demarshalled(writer.bytes))
            #expect(dbus_message_get_serial(message.pointer) == serial)
            #expect(message.signature == "xs")
            #expect(
                writer.bytes
                    == (try written(template.header, serial: serial) {
                        $0.int64(-1)
                        try? $0.string("box \(serial)")
                    }))
        }
        #expect(throws: RelayError.self) { try template.finish(&writer, serial: 0) }
    }
    @Test("every header length up to 64 ends aligned and is accepted") func alignment() throws {
        for length in 1...64 {
            let member = String(repeating: "m", count: length)
            let bytes = try written(
                .signal(path: "/", interface: "a.b", member: member, signature: try Signature("t"))
            ) { $0.uint64(UInt64(length)) }
            let message = try #require(LibDBusMessage.demarshalled(bytes))
            #expect(message.body.count == 8)
        }
    }
}
