import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("What ready waited for", .heavy) struct ReadyTests {
    private func failure(of relay: EventRelay) async -> String {
        let error = await relayFailure { try await relay.ready(within: .milliseconds(300)) }
        #expect(error?.code == .timedOut)
        return error?.message ?? ""
    }
    @Test("the bus, where none answers") func bus() async throws {
        let relay = try EventRelay.active(GaugeService.name, .address("unix:path=/nowhere/bus"), Gauge1.self)
        let text = await failure(of: relay)
        #expect(text.contains("/nowhere/bus") && !text.contains("start it"))
    }
    @Test("an owner of the name, which is to be started") func owner() async throws {
        let bus = try PrivateBus()
        let relay = try EventRelay.active(GaugeService.name, bus.bus, Gauge1.self)
        #expect(await failure(of: relay).contains("nobody has the name: start it, or wait longer"))
    }
    @Test("answers of a service that runs: to OpenRing") func ring() async throws {
        let played = try await PlayedRing()
        played.service.delayRings()
        played.log.relay.activate()
        let text = await failure(of: played.log.relay)
        #expect(text.contains("its answers are due for \(Plain1.name) (OpenRing)") && !text.contains("start it"))
        played.log.relay.invalidate()
        played.service.vanish()
    }
    @Test("a handler that has not returned") func handler() async throws {
        let meter = try await GaugeService()
        let relay = try meter.relay()
        let mayReturn = Mutex(false)
        let log = GaugeLog(relay.publisher) { _ in
            while !mayReturn.withLock({ $0 }) { usleep(1_000) }
        }
        relay.activate()
        try await relay.ready()
        try meter.publish(1...1)
        #expect(await log.wait(for: "1"))
        let words = await relay.follower.core.awaited(within: .milliseconds(100))
        mayReturn.withLock { $0 = true }
        #expect(words.contains("has not returned"))
        try await meter.stop()
    }
}
