import CDBus
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing
import WireSupport

@testable import RelayBus
import RelayWire

@Suite("Receiving", .heavy, .tags(.g1, .g8)) struct ReceivingTests {
    let fixture: BusFixture
    init() throws { fixture = try BusFixture() }

    @Test("a flood arrives whole and in order, beside calls that are answered meanwhile") func flood() async throws {
        let (peer, sender) = (try await fixture.peer(), try await fixture.peer())
        let signature = try Signature("u")
        let name = peer.name
        let task = Task {
            for number: UInt32 in 0..<10_000 {
                try sender.connection.send(.test(name, "Went", signature), body: wire { $0.uint32(number) })
            }
        }
        for _ in 0..<20 { _ = try await peer.connection.call(.toBus("GetId")) }
        try await task.value
        #expect(await eventually { peer.handler.signals.count == 10_000 })
        let numbers = peer.handler.signals.map { signal in
            signal.body.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        #expect(numbers == Array(0..<10_000))
    }
    @Test("a big-endian sender is read as any other") func bigEndian() async throws {
        let (peer, sender) = (try await fixture.peer(), try await fixture.peer())
        let name = Array(peer.name.utf8)
        func number(_ value: Int) -> [UInt8] { [0, 0, UInt8(value >> 8), UInt8(value & 255)] }
        func text(_ code: UInt8, _ type: Character, _ value: [UInt8], _ fields: inout [UInt8]) {
            while fields.count % 8 != 0 { fields.append(0) }
            fields += [code, 1, type.asciiValue ?? 0, 0] + number(value.count) + value + [0]
        }
        var fields: [UInt8] = []
        text(1, "o", Array("/a".utf8), &fields)
        text(2, "s", Array("org.example.A1".utf8), &fields)
        text(3, "s", Array("Went".utf8), &fields)
        text(6, "s", name, &fields)
        while fields.count % 8 != 0 { fields.append(0) }
        fields += [8, 1, UInt8(ascii: "g"), 0, 2] + Array("us".utf8) + [0]
        let body = number(513) + number(2) + Array("hi".utf8) + [0]
        var bytes: [UInt8] =
            [UInt8(ascii: "B"), 4, 1, 1] + number(body.count) + number(77) + number(fields.count) + fields
        while bytes.count % 8 != 0 { bytes.append(0) }
        bytes += body
        try bytes.withUnsafeBytes { try sender.connection.send($0) }
        #expect(await eventually { peer.handler.signals.count == 1 })
        let signal = try #require(peer.handler.signals.first)
        #expect(signal.signature == "us" && signal.sender == sender.name)
        #expect(
            signal.body
                == wire {
                    $0.uint32(513); try? $0.string("hi")
                })
    }
    @Test("a call without an interface is shown without one") func noInterface() async throws {
        let (peer, sender) = (try await fixture.peer(), try await fixture.peer())
        try sender.connection.send(.methodCall(path: "/", interface: nil, member: "Do", destination: peer.name))
        #expect(await eventually { peer.handler.all.calls.count == 1 })
        let call = try #require(peer.handler.all.calls.first)
        #expect(call.interface == nil && call.path == "/" && call.member == "Do" && call.sender == sender.name)
        #expect(call.wantsReply)
    }
    @Test("a call that wants no reply gets none") func noReply() async throws {
        let (peer, echo) = (try await fixture.peer(), try await fixture.echo())
        peer.connection.send(.test(echo.name, flags: .noReplyExpected), timeout: .seconds(100)) { _ in }
        _ = try await peer.connection.call(.test(echo.name))
        #expect(echo.handler.all.calls.map(\.wantsReply) == [false, true])
        #expect(peer.connection.strayReplies == 0)
    }
    @Test("strange replies end nothing and are counted: unknown serials, errors to nobody") func strayReplies()
        async throws
    {
        let (peer, sender) = (try await fixture.peer(), try await fixture.peer())
        for serial: UInt32 in [1, 0x8000_0000, .max] {
            try sender.connection.send(.methodReturn(to: serial, destination: peer.name))
            try sender.connection.send(.error("org.example.Error.Odd", to: serial, destination: peer.name))
        }
        #expect(await eventually { peer.connection.strayReplies == 6 })
    }
    @Test("only libdbus itself can say that the bus is gone") func forgedDisconnected() throws {
        func isDisconnected(sender: String?) throws -> Bool {
            let made = dbus_message_new_signal(
                "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local", "Disconnected")
            let message = LibDBusMessage(owning: try #require(made))
            if let sender { dbus_message_set_sender(message.pointer, sender) }
            giveSerial(message)
            let received = ReceivedMessage(MessageHandle(adopting: dbus_message_ref(message.pointer)))
            return received?.isDisconnected ?? false
        }
        #expect(try isDisconnected(sender: nil))
        #expect(try !isDisconnected(sender: ":1.7"))
        #expect(try !isDisconnected(sender: "org.freedesktop.DBus"))
    }
    /// A message needs a serial before it is marshalled.
    private func giveSerial(_ message: LibDBusMessage) { dbus_message_set_serial(message.pointer, 1) }

    @Test("descriptors that a stranger sends along are closed, not gathered") func descriptors() async throws {
        let peer = try await fixture.peer()
        let sender = try RawPeer(fixture.bus.address)
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        for kind in ["call", "signal"] {
            let made =
                kind == "call"
                ? dbus_message_new_method_call(peer.name, "/a", "org.example.A1", "Take")
                : dbus_message_new_signal("/a", "org.example.A1", "Taken")
            let message = LibDBusMessage(owning: try #require(made))
            dbus_message_set_destination(message.pointer, peer.name)
            var iterator = DBusMessageIter()
            dbus_message_iter_init_append(message.pointer, &iterator)
            for _ in 0..<4 {
                #expect(dbus_message_iter_append_basic(&iterator, unixDescriptorType, &ends[1]) != 0)
            }
            sender.send(message)
        }
        close(ends[1])
        #expect(await eventually { peer.handler.signals.count == 1 && peer.handler.all.calls.count == 1 })
        #expect(peer.handler.signals.first?.signature == "hhhh")
        // The reading end sees a hang-up when the last copy of the other is closed, wherever it was.
        #expect(
            await eventually {
                var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
                return poll(&waiting, 1, 0) == 1 && waiting.revents & Int16(POLLHUP) != 0
            })
        _ = try await peer.connection.call(.toBus("GetId"))
    }
    private let unixDescriptorType = Int32(UInt8(ascii: "h"))

    /// A whole message with so many bytes, over what we send.
    private func message(_ header: MessageHeader, _ count: Int) throws -> [UInt8] {
        var writer = WireWriter(capacity: count + 1_024)
        let start = try header.write(into: &writer, serial: .random(in: 1...0x7FFF_FFFF))
        writer.bytes([UInt8](repeating: 9, count: count))
        try MessageHeader.finish(&writer, bodyStart: start, limit: WireLimits.messageLength)
        return writer.bytes
    }
    @Test("a foreign message of 33 MiB ends nothing: a call is refused, a reply ends its call, a signal is dropped")
    func foreignGiants() async throws {
        let peer = try await fixture.peer()
        let sender = try RawPeer(fixture.bus.address)
        let (signature, giant) = (try Signature("ay"), 33 << 20)
        for _ in 1...2 {
            try sender.send(try message(.test(peer.name, "Went", signature), giant))
            try sender.send(
                try message(
                    .methodCall(
                        path: "/a", interface: "org.example.A1", member: "Do", destination: peer.name,
                        signature: signature), giant))
        }
        let replies = Log<Result<BusReply, RelayError>>()
        let serial = peer.connection.send(.test(sender.name), timeout: .seconds(600)) { replies.add($0) }
        try sender.send(try message(.methodReturn(to: serial, destination: peer.name, signature: signature), giant))
        #expect(await eventually { replies.count == 1 })
        #expect(replies.values.first?.code == .tooLarge)
        var refusal: (name: String, text: String)?
        #expect(
            await eventually {
                refusal = refusal ?? sender.error()
                return refusal != nil
            })
        #expect(refusal?.name == "org.eventrelay.Error.TooLarge")
        #expect(refusal?.text == "Do with over 2097152 bytes of arguments, over the limit of 1048576")
        #expect(peer.handler.signals.isEmpty && peer.handler.all.calls.isEmpty)
        // What is less than that is shown; a call over 1 MiB is refused with its size, as before.
        try sender.send(try message(.test(peer.name, "Went", signature), 1_500_000))
        #expect(await eventually { peer.handler.signals.count == 1 })
        #expect(peer.handler.signals.first?.body.count == 4 + 1_500_000)
        _ = try await peer.connection.call(.toBus("GetId"))
        #expect(peer.handler.all.disconnects.isEmpty)
    }
    @Test("more than libdbus holds at a time, 63 MiB, comes through: nothing is kept") func backlog() async throws {
        let peer = try await fixture.peer()
        let sender = try await fixture.peer()
        let bytes = Atomic<Int>(0)
        let counter = CountingHandler { bytes.add($0, ordering: .relaxed) }
        let receiver = try await BusConnection.connect(to: fixture.bus.bus, on: fixture.loop, handler: counter)
        let body = wire(capacity: 1 << 20) { $0.bytes([UInt8](repeating: 3, count: 1_000_000)) }
        let header = MessageHeader.test(receiver.uniqueName, "Went", try Signature("ay"))
        for _ in 0..<66 { try sender.connection.send(header, body: body) }
        #expect(await eventually { bytes.load(ordering: .relaxed) == 66 * body.count })
        _ = try await peer.connection.call(.toBus("GetId"))
        receiver.close()
    }
    /// Looks at each body and keeps none.
    private final class CountingHandler: BusHandler {
        let count: @Sendable (Int) -> Void
        init(_ count: @escaping @Sendable (Int) -> Void) { self.count = count }
        func signal(_ message: borrowing ReceivedMessage) {
            if message.hasMember("Went") { message.withBody { count($0.count) } }
        }
        func methodCall(_ call: IncomingCall) {}
        func disconnected(_ reason: RelayError) {}
    }
    @Test("a message's parts can be compared without making strings of them") func comparisons() throws {
        let made = dbus_message_new_signal("/a", "org.example.A1", "Went")
        let message = LibDBusMessage(owning: try #require(made))
        dbus_message_set_serial(message.pointer, 5)
        guard let received = ReceivedMessage(MessageHandle(adopting: dbus_message_ref(message.pointer))) else {
            Issue.record("a sound message is not shown")
            return
        }
        let answers = [
            received.hasPath("/a"), received.hasInterface("org.example.A1"), received.hasMember("Went"),
            received.hasSignature(""), !received.hasPath("/"), !received.hasMember("Wen"), !received.hasSender(":1.1"),
            !received.hasMember("Went "), received.serial == 5, received.replySerial == 0, !received.wantsReply,
        ]
        #expect(answers == Array(repeating: true, count: 11))
    }
}
