import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

@Suite("What a service counts", .heavy) struct ServiceMetricsTests {
    @Test("events, subscribers by transport, commands, and refused calls") func counts() async throws {
        let desk = try await Desk()
        var metrics = desk.service.metrics
        let stream = try #require(metrics.streams.first)
        #expect(metrics.streams.count == 1 && stream.interface == Desk1.name && stream.oldest == nil)
        #expect((stream.events, stream.head, stream.subscribers, stream.slowest) == (0, 0, 0, nil))
        #expect(metrics.commands == .init() && metrics.refusedCalls == 0 && !stream.isPaused && !stream.hasRing)

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
        #expect(metrics.streams[0].transports == [.init(name: "signal", subscribers: 1, slowest: nil)])
        #expect((metrics.commands.replied, metrics.commands.failed) == (1, 1))
        #expect(metrics.notices[.notPermitted] == 2 && metrics.refusedCalls == 2)
        try await desk.stop()
    }
    @Test("a relay on the ring is a subscriber of the ring, and says how far it is") func ring() async throws {
        let desk = try await Desk()
        let relay = try EventRelay(following: Desk.name, on: desk.bus.bus, interfaces: Desk1.self)
        let stream = relay.publisher.events(of: Torn.self)
        relay.activate()
        try await relay.ready()
        #expect(await eventually { desk.service.metrics.streams[0].hasRing })
        for number in 1...3 { try desk.service.publish(Torn(number: Int64(number))) }
        #expect(
            await eventually {
                desk.service.metrics.streams[0].transports == [.init(name: "ring", subscribers: 1, slowest: 0)]
            })
        withExtendedLifetime(stream) {}
        relay.invalidate()
        #expect(await eventually { desk.service.metrics.streams[0].subscribers == 0 })
        try await desk.stop()
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
