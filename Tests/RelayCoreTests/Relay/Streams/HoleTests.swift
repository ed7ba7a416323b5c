import BusProcess
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// What a relay reads to have no hole, with a service that loses what a test wants.
@Suite("Holes that are read from the journal", .heavy, .tags(.g2)) struct HoleTests {
    static let schemas = [
        EventSchema(
            event: "Booked",
            fields: [
                WireField(name: "number", type: .int64, swiftType: "Int64"),
                WireField(name: "text", type: .string, swiftType: "String"),
            ]),
        EventSchema(event: "Struck", fields: [WireField(name: "number", type: .int64, swiftType: "Int64")]),
    ]
    static func booked(_ number: Int64) -> [DBusValue] { [.int64(number), .string("")] }

    private static func fake(_ bus: Bus, epoch: UInt64, after earlier: FakeService? = nil) async throws -> FakeService {
        try await FakeService.start(
            DurableDesk.name, Ledger1.name, on: bus, epoch: epoch, schemas: schemas, isDurable: true, after: earlier)
    }
    /// A relay, what its publisher tells of `Booked` and of its state, and what a positioned subscription does.
    private final class RelayRecorder: Sendable {
        let relay: EventRelay
        let lines = Log<String>()
        let replayed = Log<String>()
        private let subscriptions: [Subscription]

        init(_ bus: Bus, alsoStruck: Bool = false, timing: RelayTiming = RelayTiming()) throws {
            let relay = try EventRelay(
                following: DurableDesk.name, on: bus, interfaces: Ledger1.self, usesRings: true, timing: timing)
            let (lines, replayed) = (lines, replayed)
            var all = [
                relay.publisher.subscribe(to: EventRelay.State.self, delivery: .immediate) { state in
                    switch state {
                    case .connecting: lines.add("connecting")
                    case .active: lines.add("active")
                    case .interrupted: lines.add("interrupted")
                    case .invalidated(let error): lines.add("invalidated \(error)")
                    }
                } onGap: { _ in
                },
                relay.publisher.subscribe(to: Booked.self, delivery: .immediate) {
                    lines.add("\($0.number)")
                } onGap: {
                    lines.add(text($0))
                },
                try relay.subscribe(to: Booked.self, from: .beginning) {
                    replayed.add("\($0.number)")
                } onGap: {
                    replayed.add(text($0))
                },
            ]
            if alsoStruck {
                all.append(
                    relay.publisher.subscribe(to: Struck.self, delivery: .immediate) {
                        lines.add("s\($0.number)")
                    } onGap: { _ in
                    })
            }
            (self.relay, subscriptions) = (relay, all)
            relay.activate()
        }
        func has(_ line: String, count: Int = 1) async -> Bool {
            await eventually { lines.values.filter { $0 == line }.count >= count }
        }
        var events: [String] { lines.values.filter { $0 != "active" && $0 != "connecting" } }
    }

    @Test(
        "what the bus loses is read: by the next event, by the head, and without either by asking",
        arguments: [
            false, true,
        ]) func loss(alsoStruck: Bool) async throws
    {
        let bus = try PrivateBus()
        let service = try await Self.fake(bus.bus, epoch: 1)
        let recorder = try RelayRecorder(bus.bus, alsoStruck: alsoStruck)
        #expect(await recorder.has("active"))
        try service.publish("Booked", Self.booked(1))
        for number in Int64(2)...4 { try service.publish("Booked", Self.booked(number), isLost: true) }
        try service.publish("Booked", Self.booked(5))
        #expect(await recorder.has("5"))
        try service.publish("Booked", Self.booked(6), isLost: true)
        try service.announce()
        #expect(await recorder.has("6"))
        try service.publish("Booked", Self.booked(7))
        try service.publish("Booked", Self.booked(8), isLost: true)
        #expect(await recorder.has("8"), "asked for when nothing comes for two seconds")
        let all = (1...8).map { "\($0)" }
        #expect(recorder.events == all)
        #expect(await eventually { recorder.replayed.values == all })
        #expect(service.unproved == 0)
        service.vanish()
    }
    @Test("a page that the bus has lost is asked for again") func lostPage() async throws {
        let bus = try PrivateBus()
        let service = try await Self.fake(bus.bus, epoch: 1)
        let recorder = try RelayRecorder(bus.bus, timing: RelayTiming { $0.read = .milliseconds(200) })
        #expect(await recorder.has("active"))
        service.loseReads(2)
        try service.publish("Booked", Self.booked(1), isLost: true)
        try service.publish("Booked", Self.booked(2))
        #expect(await recorder.has("2"))
        #expect(recorder.events == ["1", "2"])
        #expect(service.reads.count { $0.names == ["Booked"] } >= 3)
        service.vanish()
    }
    @Test("a hole that the service does not answer for lets nothing through that is behind it") func silence()
        async throws
    {
        let bus = try PrivateBus()
        let first = try await Self.fake(bus.bus, epoch: 1)
        let recorder = try RelayRecorder(bus.bus)
        #expect(await recorder.has("active"))
        first.silenceReads()
        try first.publish("Booked", Self.booked(1), isLost: true)
        try first.publish("Booked", Self.booked(2))
        #expect(await eventually { first.reads.contains { $0.names == ["Booked"] } })
        #expect(recorder.events == [])
        first.vanish()
        #expect(await recorder.has("interrupted"))
        let second = try await Self.fake(bus.bus, epoch: 2, after: first)
        try second.publish("Booked", Self.booked(3))
        #expect(await recorder.has("3"))
        #expect(recorder.events == ["interrupted", "1", "2", "3"])
        second.vanish()
    }
    @Test("what a service committed and did not send before it died is found at the next, before `active`")
    func died() async throws {
        let bus = try PrivateBus()
        let first = try await Self.fake(bus.bus, epoch: 1)
        let recorder = try RelayRecorder(bus.bus)
        #expect(await recorder.has("active"))
        try first.publish("Booked", Self.booked(1))
        #expect(await recorder.has("1"))
        for number in Int64(2)...3 { try first.publish("Booked", Self.booked(number), isLost: true) }
        first.vanish()
        #expect(await recorder.has("interrupted"))
        let second = try await Self.fake(bus.bus, epoch: 2, after: first)
        #expect(await recorder.has("active", count: 2))
        let after = recorder.lines.values.drop { $0 != "interrupted" }
        #expect(Array(after) == ["interrupted", "2", "3", "active"])
        #expect(await eventually { recorder.replayed.values == ["1", "2", "3"] })
        second.vanish()
    }
    @Test("retention that goes on over a hole leaves an exact gap") func pruned() async throws {
        let bus = try PrivateBus()
        let first = try await Self.fake(bus.bus, epoch: 1)
        let recorder = try RelayRecorder(bus.bus)
        #expect(await recorder.has("active"))
        try first.publish("Booked", Self.booked(1))
        #expect(await recorder.has("1"))
        first.vanish()
        #expect(await recorder.has("interrupted"))
        for number in Int64(2)...6 { try? first.publish("Booked", Self.booked(number), isLost: true) }
        first.prune(through: 4)
        let second = try await Self.fake(bus.bus, epoch: 2, after: first)
        #expect(await recorder.has("6"))
        #expect(recorder.events == ["1", "interrupted", "gap 2...4 (?, expired)", "5", "6"])
        second.vanish()
    }
    @Test("the bus comes back with a stranger under the service's old unique name: nobody takes it for the service")
    func stranger() async throws {
        let bus = try PrivateBus()
        // In this order they get the unique names 0 and 1.
        let first = try await Self.fake(bus.bus, epoch: 1)
        let recorder = try RelayRecorder(bus.bus)
        #expect(await recorder.has("active"))
        try first.publish("Booked", Self.booked(1))
        #expect(await recorder.has("1"))
        bus.process.signal(SIGKILL)
        _ = await bus.process.waitForExit()
        #expect(await recorder.has("interrupted"))
        unlink("\(bus.directory)/bus")
        let again = try BusDaemon(directory: bus.directory)
        // The relay may be back before anybody: then it has that name itself, and nobody can be a stranger under it.
        var strangers: [BusStranger] = []
        for _ in 0..<4 { strangers.append(try await BusStranger.join(bus.bus)) }
        let stamp: [DBusValue] = [.uint64(2), .uint64(1), .uint64(1)]
        let signal = MessageHeader.signal(
            path: Stream1.path(of: Ledger1.name), interface: Ledger1.name, member: "Booked")
        for stranger in strangers { try stranger.send(signal: signal, Self.booked(66) + stamp) }
        let second = try await Self.fake(bus.bus, epoch: 2, after: first)
        for stranger in strangers { try stranger.send(signal: signal, Self.booked(77) + stamp) }
        try second.publish("Booked", Self.booked(2))
        #expect(await recorder.has("2"))
        for stranger in strangers { try stranger.send(signal: signal, Self.booked(88) + stamp) }
        try second.publish("Booked", Self.booked(3))
        #expect(await recorder.has("3"))
        #expect(recorder.events == ["1", "interrupted", "2", "3"])
        second.vanish()
        await again.stop()
    }
    @Test("a journal restored from a backup is a gap, and its new events are none that were had") func restored()
        async throws
    {
        let bus = try PrivateBus()
        let first = try await Self.fake(bus.bus, epoch: 1)
        let recorder = try RelayRecorder(bus.bus)
        #expect(await recorder.has("active"))
        for number in Int64(1)...5 { try first.publish("Booked", Self.booked(number)) }
        #expect(await recorder.has("5"))
        first.vanish()
        #expect(await recorder.has("interrupted"))
        // It knows nothing of epoch 1, and has three events of its own.
        let second = try await Self.fake(bus.bus, epoch: 2)
        for number in Int64(11)...13 { try second.publish("Booked", Self.booked(number)) }
        #expect(await recorder.has("13"))
        #expect(
            recorder.events == [
                "1", "2", "3", "4", "5", "interrupted", "gap 6...18446744073709551615 (?, historyReplaced)", "11", "12",
                "13",
            ])
        second.vanish()
    }
    @Test("rows of an older version are decoded by the schema they were written with") func evolution() async throws {
        let bus = try PrivateBus()
        // 1: without the text. 2: retyped. 3: the present one.
        func fields(_ all: [(String, WireType)]) -> EventSchema {
            EventSchema(event: "Booked", fields: all.map { WireField(name: $0.0, type: $0.1) })
        }
        let old = try await FakeService.start(
            DurableDesk.name, Ledger1.name, on: bus.bus, epoch: 1,
            schemas: [fields([("text", .string), ("extra", .uint32), ("number", .int64)])], isDurable: true)
        try old.publish("Booked", [.string("old"), .uint32(9), .int64(1)])
        let relay = try PositionedTests.relay(bus)
        let states = relay.states
        let stream = try relay.events(of: Booked.self, from: .beginning)
        relay.activate()
        var iterator = stream.makeAsyncIterator()
        guard case .event(let event, _)? = await iterator.next() else {
            Issue.record("it was not read")
            return
        }
        #expect(event == Booked(number: 1, text: "old"))
        old.vanish()
        for await state in states { if case .interrupted = state { break } }
        // The numbers of its schemas are those of the rows: 0 lacks the text, 1 is the old one's, 2 is the present one.
        let new = try await FakeService.start(
            DurableDesk.name, Ledger1.name, on: bus.bus, epoch: 2,
            schemas: [fields([("number", .int64)]), fields([("number", .int32), ("text", .string)])] + [
                Self.schemas[0]
            ],
            isDurable: true, after: old)
        new.append("Booked", schema: 0, [.int64(2)])
        new.append("Booked", schema: 1, [.int32(3), .string("")])
        new.append("Booked", schema: 7, [.int64(4), .string("")])
        try new.publish("Booked", [.int64(5), .string("new")])
        var lines: [String] = []
        while lines.count < 2, let delivery = await iterator.next() {
            switch delivery {
            case .event(let event, _): lines.append("\(event.number) \(event.text)")
            case .gap(let gap):
                lines.append("\(gap.sequences) \(gap.count ?? 0) \(gap.reason.rawValue): \(gap.detail ?? "")")
            }
        }
        #expect(
            lines == [
                // One run, with each reason.
                "2...4 3 schemaMismatch: Booked, field 'text': the sender has none, this program needs 's'; make it "
                    + "optional, or update the sender; "
                    + "Booked, field 'number': the sender sends 'i', this program reads 'x'; give the "
                    + "changed field or interface a new name; "
                    + "the service does not report the fields of Booked as schema 7 has them",
                "5 new",
            ])
        #expect(stream.missed == 3)
        new.vanish()
    }
}
