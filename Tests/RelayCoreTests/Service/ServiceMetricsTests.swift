import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire
import RelayInspection

@Suite("What a service counts", .heavy) struct ServiceMetricsTests {
    @Test("events, subscribers by transport, commands, and refused calls") func counts() async throws {
        let desk = try await Desk()
        var metrics = desk.service.metrics
        let stream = try #require(metrics.streams.first)
        #expect(metrics.streams.count == 1 && stream.interface == Desk1.name && stream.oldest == nil)
        #expect((stream.events, stream.head, stream.subscribers, stream.lag) == (0, 0, 0, nil))
        #expect(
            metrics.commands == .init(replied: 0, failed: 0, unreadable: 0) && !stream.areSignalsPaused
                && !stream.isRingOpen)
        #expect((stream.notPermitted, stream.limitsExceeded) == (0, 0))

        for number in 1...5 { try desk.service.publish(Torn(number: Int64(number))) }
        let peer = try await BusStranger.join(desk.bus.bus)
        let names = DBusValue.array(.string, [.string("*")])
        _ = try await peer.call(
            Desk.name, Desk.path, Stream1.name, "Attach", [.uint64(0), .uint64(0), names, AttachOptions().value])
        _ = try await peer.call(Desk.name, Desk.path, Desk1.name, "Echo", [.string("a")])
        _ = await peer.refusal(Desk.name, Desk.path, Desk1.name, "Fail", [.string("declared")])
        for _ in 1...2 { _ = await peer.refusal(Desk.name, Desk.path, Desk1.name, "Restricted") }
        metrics = desk.service.metrics
        #expect(metrics.streams[0].events == 5 && metrics.streams[0].head == 5)
        #expect(metrics.streams[0].transports.map(\.name) == ["ring", "signal"])
        let signals = try #require(metrics.streams[0].transports.last)
        #expect((signals.subscribers, signals.lag, signals.carried, signals.heldBack) == (1, nil, 5, 0))
        #expect(metrics.streams[0].transports[0].carried == 0, "nobody has asked for a ring")
        #expect((metrics.commands.replied, metrics.commands.failed) == (1, 1))
        #expect(
            metrics.notices[Notice.Kind.notPermitted.rawValue] == 2
                && (metrics.notices[Notice.Kind.limitsExceeded.rawValue] ?? 0) == 0)
        #expect((metrics.streams[0].notPermitted, metrics.streams[0].limitsExceeded) == (2, 0))
        try await desk.stop()
    }
    @Test("a command counts as waiting until it is answered, and the question how many wait does not") func waiting()
        async throws
    {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        let caller = try await BusStranger.join(desk.bus.bus)
        func waiting() async throws -> DBusValue? {
            let values = try await peer.call(Desk.name, Desk.path, Stream1.name, "Status")
            guard case .dictionary(_, let entries)? = values.first,
                case .variant(.array(_, let figures))? = entries.first(where: { $0.key == .string("ServiceFigures") })?
                    .value
            else { return nil }
            for case .structure(let parts) in figures where parts.first == .string("waiting_commands") {
                return parts.last
            }
            return nil
        }
        #expect(try await waiting() == .uint64(0))
        async let first = caller.call(Desk.name, Desk.path, Desk1.name, "Wait", [.int64(1)])
        // Else the second might come first.
        #expect(await eventually { (try? await waiting()) == .uint64(1) })
        async let second = caller.call(Desk.name, Desk.path, Desk1.name, "Wait", [.int64(2)])
        // One runs, one waits for its turn.
        #expect(await eventually { (try? await waiting()) == .uint64(2) })
        await desk.open(1)
        _ = try await first
        await desk.open(2)
        _ = try await second
        #expect(await eventually { (try? await waiting()) == .uint64(0) })
        try await desk.stop()
    }
    @Test("a relay on the ring is a subscriber of the ring, and says how far it is") func ring() async throws {
        let desk = try await Desk()
        let relay = try EventRelay(following: Desk.name, on: desk.bus.bus, interfaces: Desk1.self)
        let stream = relay.publisher.events(of: Torn.self)
        relay.activate()
        try await relay.ready()
        #expect(await eventually { desk.service.metrics.streams[0].isRingOpen })
        for number in 1...3 { try desk.service.publish(Torn(number: Int64(number))) }
        #expect(
            await eventually {
                let ring = desk.service.metrics.streams[0].transports[0]
                return (ring.name, ring.subscribers, ring.lag, ring.carried) == ("ring", 1, 0, 3)
            })
        #expect(desk.service.metrics.streams[0].ring == .init(opened: 1, refused: 0, returned: 0))
        withExtendedLifetime(stream) {}
        relay.invalidate()
        #expect(await eventually { desk.service.metrics.streams[0].subscribers == 0 })
        try await desk.stop()
    }
    @Test("what signals left out in a pause is counted, in the pause and behind it") func heldBack() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: "org.example.Metered", on: bus.bus, exporting: Rations1.self)
        service.handle(Ration.self) { _, _ in }
        try await service.start()
        func signals() throws -> (events: UInt64, pauses: Int, ServiceMetrics.Transport) {
            let stream = try #require(service.metrics.streams.first)
            return (stream.events, stream.signalPauses, try #require(stream.transports.first { $0.name == "signal" }))
        }
        for number in 1...1_000 as ClosedRange<Int64> { try service.publish(Rationed(number: number)) }
        let (events, pauses, during) = try signals()
        #expect(events == 1_000 && pauses >= 1)
        #expect(during.carried >= 20 && during.heldBack > 0 && during.carried + during.heldBack == 1_000)
        #expect(await eventually { !service.metrics.streams[0].areSignalsPaused })
        try service.publish(Rationed(number: 0))
        let (_, _, behind) = try signals()
        #expect((behind.carried, behind.heldBack) == (during.carried + 1, during.heldBack))
        try await service.stop()
    }
    @Test("a durable interface counts this run's events, and has an oldest one") func durable() async throws {
        var desk = try await DurableDesk()
        for number in 1...4 { try await desk.service.publish(Booked(number: Int64(number), text: "")) }
        desk = try await desk.restarted()
        try await desk.service.publish(Booked(number: 5, text: ""))
        let stream = try #require(desk.service.metrics.streams.first { $0.interface == Ledger1.name })
        #expect((stream.events, stream.head, stream.oldest) == (1, 5, 1))
        try await desk.stop()
    }
}
