import CDBus
import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire
import RelayInspection

/// Somebody takes the service's name for a moment, and is gone before the bus can say who that was.
@Suite("Owners that leave before they are verified", .heavy, .tags(.g7)) struct UnverifiedOwnerTests {
    /// What the stranger says, in one write: all of it is on the bus before the relay can ask about the first.
    private struct StrangerMessages {
        private(set) var bytes: [UInt8] = []
        private var serial: UInt32 = 0x8000_0000

        mutating func say(_ header: MessageHeader, _ values: [DBusValue]) throws {
            var header = header
            header.signature = try DBusValue.signature(of: values)
            serial += 1
            var writer = WireWriter()
            let start = try header.write(into: &writer, serial: serial)
            try DBusValue.encode(values, into: &writer)
            try MessageHeader.finish(&writer, bodyStart: start)
            bytes += writer.bytes
        }
        mutating func toBus(_ member: String, _ values: [DBusValue]) throws {
            var header = MessageHeader(.methodCall)
            (header.destination, header.path) = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
            (header.interface, header.member) = ("org.freedesktop.DBus", member)
            header.flags = .noReplyExpected
            try say(header, values)
        }
        mutating func event(_ interface: String, _ member: String, _ values: [DBusValue], _ sequence: UInt64) throws {
            let stamp: [DBusValue] = [.uint64(sequence), .uint64(sequence - 1), .uint64(1)]
            try say(
                .signal(path: Stream1.path(of: interface), interface: interface, member: member), values + stamp)
        }
        mutating func word(_ member: String, _ interface: String, _ event: String, _ sequence: UInt64) throws {
            let last = DBusValue.Entry(key: .string(event), value: .uint64(sequence))
            try say(
                .signal(path: Stream1.path(of: interface), interface: Stream1.name, member: member),
                [.uint64(666), .uint64(sequence), .dictionary(.dictionary(.string, .uint64), [last])])
        }
    }
    private func speak(
        _ bus: PrivateBus, as name: String, _ body: (inout StrangerMessages) throws -> Void
    ) throws -> RawPeer {
        let peer = try RawPeer(bus.address)
        var messages = StrangerMessages()
        try messages.toBus("RequestName", [.string(name), .uint32(4)])
        try body(&messages)
        try messages.toBus("ReleaseName", [.string(name)])
        var socket: Int32 = -1
        try #require(dbus_connection_get_unix_fd(peer.pointer, &socket) != 0)
        // Nothing of libdbus's waits to be written: it has its name.
        let written = messages.bytes.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
        try #require(written == messages.bytes.count)
        return peer
    }

    @Test("nothing that an owner sent is delivered before it was verified, nor after it left")
    func event() async throws {
        let bus = try PrivateBus()
        for round in 1...20 {
            let log = try RelayLog(bus.bus, requiring: .user("no such user"))
            await log.activate()
            let peer = try speak(bus, as: Desk.name) { messages in
                try messages.event(Plain1.name, "Said", FollowingTests.said(66), 1)
                try messages.word("End", Plain1.name, "Said", 1)
            }
            // It may have been the service, which nobody was quick enough to hear.
            #expect(
                await eventually { log.relay.foreignSignals == 2 && log.all.contains("gap 1- epochChanged") },
                "round \(round): \(log.all)")
            #expect(!log.all.contains("66") && log.all.filter { $0.hasPrefix("gap") }.count == 1, "\(log.all)")
            withExtendedLifetime(peer) {}
            log.unsubscribe()
            log.relay.invalidate()
        }
    }
    @Test("a durable stream does not take its place from an owner that was not verified") func durable() async throws {
        let bus = try PrivateBus()
        let relay = try EventRelay(
            following: DurableDesk.name, on: bus.bus, interfaces: Ledger1.self, requiring: .sameUser)
        let lines = Log<String>()
        let subscription = relay.publisher.subscribe(to: Booked.self, delivery: .immediate) {
            lines.add("\($0.number)")
        } onGap: {
            lines.add("\($0.epoch) \($0.reason.rawValue)")
        }
        relay.activate()
        // Until it knows that nobody has the name.
        #expect(
            await eventually {
                let core = relay.follower.core
                return await withCheckedContinuation { continuation in
                    core.loop.execute {
                        continuation.resume(returning: core.owner.state.onLoop.session.isOwnershipKnown)
                    }
                }
            })
        let peer = try speak(bus, as: DurableDesk.name) { messages in
            try messages.word("Head", Ledger1.name, "Booked", 500)
            try messages.event(Ledger1.name, "Booked", [.int64(66), .string("")], 501)
        }
        #expect(await eventually { relay.foreignSignals == 2 })
        #expect(relay.metrics.foreignSignals == 2)
        let desk = try await DurableDesk(bus)
        try await desk.service.publish(Booked(number: 1, text: ""))
        #expect(await eventually { lines.values.contains("1") })
        #expect(lines.values == ["0 epochChanged", "1"])
        withExtendedLifetime((subscription, peer)) {}
        try await desk.stop()
    }
    @Test("what an owner sent while it was looked at comes when it is verified, in its place") func verified()
        async throws
    {
        let bus = try PrivateBus()
        let log = try RelayLog(bus.bus, requiring: .sameUser)
        await log.activate()
        // No requirement, and one that is met: the first event comes long before the bus has answered.
        let free = try RelayLog(bus.bus)
        await free.activate()
        let service = try await FollowingTests.fake(bus.bus, epoch: 1)
        for number in Int64(1)...20 { try service.publish("Said", FollowingTests.said(number)) }
        for log in [log, free] {
            #expect(await log.wait(for: "20"))
            #expect(log.all.filter { $0.first?.isNumber == true } == (1...20).map { "\($0)" })
            #expect(!log.all.contains { $0.hasPrefix("gap") } && log.relay.foreignSignals == 0)
        }
        service.vanish()
    }
}
