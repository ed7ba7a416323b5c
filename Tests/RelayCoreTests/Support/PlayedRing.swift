import RelayTestKit
import Testing

@testable import RelayCore

/// The ring of a service that a test plays, and a relay that may read it.
struct PlayedRing {
    let log: RelayLog
    let ring: FakeService.Ring
    let service: FakeService
    private let bus: PrivateBus

    /// - Parameters:
    ///   - epoch: the run that the ring says it is of; the service is of run 1.
    ///   - event: the one that the ring has.
    ///   - timing: the relay's.
    init(
        of epoch: UInt64 = 1, with event: String = "Said", timing: RelayTiming = RelayTiming()
    ) async throws {
        bus = try PrivateBus()
        log = try RelayLog(bus.bus, timing: timing)
        ring = try FakeService.Ring(epoch: epoch, [RingEvent(name: event)])
        service = try await FollowingTests.fake(bus.bus, epoch: 1, ring: ring)
    }
    /// Returns when the relay reads the ring, and misses nothing from then on.
    func join() async {
        log.relay.activate()
        #expect(await log.relay.isOnRing(Plain1.name))
        #expect(await log.relay.isLive(Plain1.name))
    }
}
