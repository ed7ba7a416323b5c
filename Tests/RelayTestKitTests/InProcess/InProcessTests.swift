import TestTraits
import Testing

@testable import RelayCore
@testable import RelayTestKit
import RelayWire

/// What the bus within a process alone does.
@Suite("The bus within a process") struct InProcessTests {
    /// An event's signal, with its stamp.
    private static func event(
        _ sequence: UInt64, filling: Int = 0, to peer: String? = nil
    ) throws -> (MessageHeader, [UInt8]) {
        let values: [DBusValue] = [
            .string(String(repeating: "x", count: filling)), .uint64(sequence), .uint64(sequence - 1), .uint64(1),
        ]
        var body = WireWriter()
        try DBusValue.encode(values, into: &body)
        let header = MessageHeader.signal(
            path: "/a", interface: "org.example.A1", member: "Moved", destination: peer,
            signature: try DBusValue.signature(of: values))
        return (header, body.bytes)
    }
    @Test("events that are to be lost are lost to each receiver, whether one message is for all or each has its own")
    func losses() async throws {
        let link = InProcessBus(ManualClock(startingAt: Timestamp(microseconds: 0)))
        let bus = Bus.link(LinkedBus(link, userID: 42, groupIDs: []))
        let sender = try await Caller.join(bus)
        let receivers = [try await Caller.join(bus), try await Caller.join(bus)]
        for receiver in receivers { try await receiver.listen() }
        link.lose(2, of: "org.example.A1")
        link.lose(9, of: "org.example.B1")
        for sequence in 1...3 as ClosedRange<UInt64> {
            for receiver in receivers {
                let (header, body) = try Self.event(sequence, to: receiver.connection.uniqueName)
                try sender.connection.send(header, body: body)
            }
        }
        link.lose(1, of: "org.example.A1")
        for sequence in 4...5 as ClosedRange<UInt64> {
            let (header, body) = try Self.event(sequence)
            try sender.connection.send(header, body: body)
        }
        for receiver in receivers { #expect(await eventually { receiver.sequences.values == [3, 5] }) }
        withExtendedLifetime((sender, receivers)) {}
    }
    @Test("what a receiver does not take is bounded: past that signals are lost, and replies are not", .tags(.g3))
    func bound() async throws {
        let link = InProcessBus(ManualClock(startingAt: Timestamp(microseconds: 0)))
        let bus = Bus.link(LinkedBus(link, userID: 42, groupIDs: []))
        let (sender, receiver) = (try await Caller.join(bus), try await Caller.join(bus))
        try await receiver.listen()
        let filling = 1_000_000
        let count = UInt64(InProcessBus.mostHeld / filling) + 3
        try receiver.loop.withTurn {
            for sequence in 1...count {
                let (header, body) = try Self.event(sequence, filling: filling)
                try sender.connection.send(header, body: body)
            }
        }
        #expect(await eventually { receiver.sequences.values.last.map { $0 > count - 10 } == true })
        #expect(receiver.sequences.count < Int(count))
        let call = MethodCall(to: sender.connection.uniqueName, path: "/", interface: "a.b", member: "C")
        sender.answers.hold(true)
        _ = try await receiver.connection.call(call)
        let (header, body) = try Self.event(count + 1)
        try sender.connection.send(header, body: body)
        #expect(await eventually { receiver.sequences.values.last == count + 1 })
        withExtendedLifetime((sender, receiver)) {}
    }
    @Test("a match rule admits what a bus would pass on")
    func filters() throws {
        let rule = MatchRule(
            sender: "org.example.A", path: "/a", interface: "org.example.A1", member: "Moved", arguments: [(1, "x")])
        let filter = try #require(SignalFilter(rule.description))
        func message(_ path: String, _ interface: String, _ member: String, _ values: [DBusValue]) throws
            -> LinkedMessage
        {
            var body = WireWriter()
            try DBusValue.encode(values, into: &body)
            var header = MessageHeader.signal(path: path, interface: interface, member: member)
            header.signature = try DBusValue.signature(of: values)
            return try LinkedMessage(header, serial: 1, body: body.bytes)
        }
        let values: [DBusValue] = [.uint32(1), .string("x")]
        let fitting = try message("/a", "org.example.A1", "Moved", values)
        #expect(filter.admits(fitting, [":1.1", "org.example.A"]) && !filter.admits(fitting, [":1.1"]))
        for other in [
            try message("/b", "org.example.A1", "Moved", values), try message("/a", "org.example.A2", "Moved", values),
            try message("/a", "org.example.A1", "Lost", values),
            try message("/a", "org.example.A1", "Moved", [.string("x"), .string("y")]),
            try message("/a", "org.example.A1", "Moved", []),
        ] { #expect(!filter.admits(other, ["org.example.A"])) }
        for text in ["type='method_call'", "sender=x", "sender='x", "eavesdrop='true'", "nonsense"] {
            #expect(SignalFilter(text) == nil)
        }
        #expect(SignalFilter("")?.admits(fitting, []) == true)
    }
    @Test("the bus of a test answers as a bus does: names, owners, credentials, what it does not know")
    func driver() async throws {
        let link = InProcessBus(ManualClock(startingAt: Timestamp(microseconds: 0)))
        let bus = Bus.link(LinkedBus(link, userID: 42, groupIDs: [7]))
        let (a, b) = (try await Caller.join(bus), try await Caller.join(bus))
        #expect(a.connection.uniqueName == ":1.1" && b.connection.uniqueName == ":1.2")
        #expect(try await a.ask("RequestName", [.string("org.example.A"), .uint32(4)]) == [.uint32(1)])
        #expect(try await a.ask("RequestName", [.string("org.example.A"), .uint32(4)]) == [.uint32(4)])
        #expect(try await b.ask("RequestName", [.string("org.example.A"), .uint32(4)]) == [.uint32(3)])
        #expect(try await b.ask("GetNameOwner", [.string("org.example.A")]) == [.string(":1.1")])
        #expect(try await b.ask("NameHasOwner", [.string("org.example.B")]) == [.boolean(false)])
        #expect(try await b.ask("ReleaseName", [.string("org.example.A")]) == [.uint32(3)])
        let reply = try await b.connection.call(PeerCredentials.request(for: ":1.1"))
        #expect(try PeerCredentials(reply) == PeerCredentials(userID: 42, groupIDs: [7]))
        await #expect(throws: RelayError.self) { try await b.ask("GetNameOwner", [.string("org.example.B")]) }
        await #expect(throws: RelayError.self) { try await b.ask("Fly") }
        // A call to somebody who leaves without an answer.
        let call = Task { try await b.connection.call(.init(to: ":1.1", path: "/", interface: "a.b", member: "C")) }
        #expect(await eventually { !a.calls.values.isEmpty })
        a.connection.close()
        await #expect(throws: RelayError.self) { try await call.value }
        #expect(try await b.ask("NameHasOwner", [.string("org.example.A")]) == [.boolean(false)])
        link.end()
        #expect(await eventually { b.end.count == 1 })
        withExtendedLifetime((a, b)) {}
    }
    private final class Caller: BusHandler {
        let (calls, end, sequences) = (Log<String>(), Log<String>(), Log<UInt64>())
        /// Whether it answers calls.
        let answers = Holder<Bool>()
        let loop: BusLoop
        private let held = Holder<BusConnection>()
        private init() throws { loop = try BusLoop(name: "caller") }
        deinit { loop.stop() }
        static func join(_ bus: Bus) async throws -> Caller {
            let caller = try Caller()
            caller.held.hold(try await BusConnection.connect(to: bus, on: caller.loop, handler: caller))
            return caller
        }
        var connection: BusConnection { held.value! }  // Joined: see `join`.
        func ask(_ member: String, _ values: [DBusValue] = []) async throws -> [DBusValue] {
            var body = WireWriter()
            try DBusValue.encode(values, into: &body)
            return try await connection.call(
                .toBus(member, DBusValue.signature(of: values), body: body.bytes)
            ).values()
        }
        func listen() async throws {
            _ = try await ask("AddMatch", [.string("type='signal',interface='org.example.A1'")])
        }
        func signal(_ message: borrowing ReceivedMessage) {
            if let stamp = message.withBody({ Stamp(endOf: $0, epoch: 0) }) { sequences.add(stamp.sequence) }
        }
        func methodCall(_ call: IncomingCall) {
            calls.add(call.member)
            if answers.value == true { held.value?.reply(to: call) }
        }
        func disconnected(_ reason: RelayError) { end.add(reason.message) }
    }
    @Test("timers of a loop with a test's time run when it has moved there, in their order")
    func clock() async throws {
        let clock = ManualClock(startingAt: Timestamp(microseconds: 1_000))
        let loop = try BusLoop(name: "clock", clock: clock)
        let log = Log<String>()
        loop.schedule(after: .seconds(2)) {
            log.add("two at \(clock.timestamp.microseconds)")
            loop.schedule(after: .seconds(1)) { log.add("three at \(clock.timestamp.microseconds)") }
        }
        loop.schedule(after: .seconds(1)) { log.add("one at \(clock.timestamp.microseconds)") }
        let end = clock.now + 3_500_000_000
        repeat { #expect(await eventually { clock.isIdle }) } while clock.step(to: end)
        #expect(await eventually { clock.isIdle })
        #expect(log.values == ["one at 1001000", "two at 2001000", "three at 3001000"])
        #expect(clock.timestamp.microseconds == 3_501_000)
        loop.stop()
    }
}
