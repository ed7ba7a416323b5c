import TestTraits
import Testing

@testable import RelayCore
@testable import RelayTestKit

/// What the in-process transport alone does.
@Suite("The in-process transport") struct InProcessTests {
    private static func event(_ sequence: UInt64) -> InProcessQueue.Event {
        let place = PlacedEvent(
            index: 0, sequence: sequence, previous: sequence - 1, publishedAt: Timestamp(microseconds: sequence))
        return InProcessQueue.Event(place: place, payload: [1, 2, 3])
    }

    @Test("a queue tells once until it was found empty, and gives events up to a sequence")
    func queue() {
        let news = Log<Int>()
        let queue = InProcessQueue { news.add(1) }
        for sequence in 1...5 as ClosedRange<UInt64> { queue.push(Self.event(sequence)) }
        #expect(news.count == 1)
        #expect(queue.next(through: 2)?.place.sequence == 1 && queue.next(through: 2)?.place.sequence == 2)
        #expect(queue.next(through: 2) == nil && !queue.isEmpty)
        queue.push(Self.event(6))
        #expect(news.count == 2)
        var rest: [UInt64] = []
        while let event = queue.next(through: .max) { rest.append(event.place.sequence) }
        #expect(rest == [3, 4, 5, 6] && queue.isEmpty && !queue.takeLoss())
        queue.noteLoss()
        #expect(news.count == 3 && queue.takeLoss() && !queue.takeLoss())
    }
    @Test("a queue that nobody reads is bounded, and what has no room is a loss that shows", .tags(.g3))
    func bound() {
        let queue = InProcessQueue {}
        for sequence in 1...UInt64(InProcessQueue.limit) { queue.push(Self.event(sequence)) }
        #expect(!queue.takeLoss())
        queue.push(Self.event(UInt64(InProcessQueue.limit) + 1))
        #expect(queue.takeLoss())
    }
    @Test("an outlet gives events to those whom the service has let in, as long as they want some", .tags(.g7))
    func attached() {
        let outlet = InProcessOutlet("org.example.A1", epoch: 1, [], InProcessStreams())
        let queue = InProcessQueue {}
        func emit(_ sequence: UInt64) {
            [1, 2, 3].withUnsafeBytes { outlet.emit(Self.event(sequence).place, $0).wake() }
        }
        outlet.add(queue, of: ":1.1")
        emit(1)
        #expect(queue.isEmpty && outlet.progress(of: ":1.2") == nil)
        outlet.attach(":1.1", names: ["*"])
        emit(2)
        #expect(queue.next(through: .max)?.place.sequence == 2)
        #expect(outlet.progress(of: ":1.1")?.sequence() == 2)
        outlet.attach(":1.1", names: [])
        emit(3)
        outlet.attach(":1.1", names: ["Moved"])
        outlet.depart(":1.1")
        emit(4)
        #expect(queue.isEmpty && queue.given == 2)
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
        let (calls, end) = (Log<String>(), Log<String>())
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
        func signal(_ message: borrowing ReceivedMessage) {}
        func methodCall(_ call: IncomingCall) { calls.add(call.member) }
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
