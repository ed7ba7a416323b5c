import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire
import RelayInspection

/// More relays than a service has places at its rings: those without one have the events as signals, and know why.
@Suite("A relay without a place at the ring", .heavy, .tags(.g4)) struct RingPlaceTests {
    private let meter: GaugeService
    private let places: TakenPlaces

    init() async throws {
        meter = try await GaugeService()
        places = try TakenPlaces(of: meter.service.core.ledger)
    }
    private func relay(_ change: (inout RelayTiming) -> Void) throws -> EventRelay {
        try EventRelay(
            following: GaugeService.name, on: meter.bus.bus, interfaces: Gauge1.self, usesRings: true,
            timing: RelayTiming(change))
    }
    private var refused: Int { meter.service.metrics.streams[0].ring?.refused ?? 0 }
    private var lacking: Int { meter.service.core.interfaces[0].stream.withRing { $0.lacking.count } }

    @Test("has all events as signals, says why, and does not ask again soon") func signals() async throws {
        // What passes soon is asked about at once.
        let relay = try relay { $0.ring = .milliseconds(1)...(.milliseconds(1)) }
        let log = GaugeLog(relay.publisher)
        relay.activate()
        try await relay.ready()
        let stream = try #require(relay.metrics.streams.first)
        #expect(!stream.usesRing)
        let reason = try #require(stream.ringRefusal)
        #expect(reason.contains("no place at the ring of \(Gauge1.name)") && reason.contains("64 of at most 64 places"))
        #expect(lacking == 1)
        for number: Int64 in 1...50 {
            try meter.publish(number...number)
            #expect(await log.wait(for: "\(number)"))
        }
        #expect(log.all == GaugeLog.numbers(1...50))
        #expect(refused == 1)
        // No peer has done anything wrong.
        #expect(meter.service.metrics.notices[Notice.Kind.limitsExceeded.rawValue] == nil)
        relay.invalidate()
        #expect(await eventually { lacking == 0 })
        try await meter.stop()
    }
    @Test("gets the ring when there is a place again") func place() async throws {
        let relay = try relay { $0.ringPlace = .milliseconds(10)...(.milliseconds(20)) }
        let log = GaugeLog(relay.publisher)
        relay.activate()
        try await relay.ready()
        #expect(await eventually { refused >= 3 })
        #expect(relay.metrics.streams[0].ringRefusal != nil && lacking == 1)
        places.free()
        #expect(await relay.isOnRing())
        #expect(await eventually { relay.metrics.streams[0].ringRefusal == nil })
        #expect(lacking == 0)
        try meter.publish(1...3)
        #expect(await log.wait(for: "3"))
        relay.invalidate()
        try await meter.stop()
    }
    @Test("Status counts those that were refused a place, for people to see") func status() async throws {
        let relays = try (0..<3).map { _ in try relay { _ in } }
        let logs = relays.map { GaugeLog($0.publisher) }
        for relay in relays { relay.activate() }
        for relay in relays { try await relay.ready() }
        func lacking() async throws -> DBusValue? {
            let peer = try await BusStranger.join(meter.bus.bus)
            let values = try await peer.call(GaugeService.name, Stream1.path(of: Gauge1.name), Stream1.name, "Status")
            guard case .dictionary(_, let entries)? = values.first else { return nil }
            return entries.first { $0.key == .string("RingLacking") }?.value
        }
        #expect(try await lacking() == .variant(.uint64(3)))
        relays[0].invalidate()
        #expect(await eventually { (try? await lacking()) == .variant(.uint64(2)) })
        for relay in relays { relay.invalidate() }
        withExtendedLifetime(logs) {}
        try await meter.stop()
    }
}

/// All places that a service has for this user, taken.
private final class TakenPlaces: Sendable {
    private let charges: Mutex<[PeerLedger.Charge]>
    init(of ledger: PeerLedger) throws {
        charges = Mutex(
            try (0..<PeerResource.waitPages.bounds.share).map { number in
                ledger.arrive(":9.\(number)")
                ledger.identify(":9.\(number)", user: getuid())
                return try ledger.charge(.waitPages, to: ":9.\(number)")
            })
    }
    /// One of them.
    func free() { _ = charges.withLock { $0.removeLast() } }
}
