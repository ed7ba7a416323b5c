import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

@Suite("Answers of OpenRing that nobody waits for any more", .heavy, .tags(.g3, .g6)) struct LateRingTests {
    @Test("a relay gives back a ring whose answer is late, confirms the answer, and asks again") func relay()
        async throws
    {
        let played = try await PlayedRing()
        let (log, service) = (played.log, played.service)
        service.delayRings()
        log.relay.activate()
        // Once, or as often as there was time before the answer.
        #expect(await eventually { service.closedRings >= 1 })
        #expect(service.received.isEmpty)
        // The late ones, and the one that was asked for since.
        try service.answerRings()
        #expect(await log.relay.isOnRing(Plain1.name))
        #expect(service.openedRings >= 2)
        #expect(await eventually { service.received.count == service.openedRings })
        log.relay.invalidate()
        service.vanish()
    }
    @Test("CloseRing takes back a call of OpenRing that waits: no ring is kept for nobody") func service() async throws
    {
        let desk = try await Desk()
        let peer = try await RingPeer.join(desk.bus.bus)
        let core = desk.service.core
        // All that may be unread is.
        let held = try (0..<UInt32(PeerResource.ringReplies.bounds.total)).map { number in
            core.ledger.arrive(":9.\(number)")
            core.ledger.identify(":9.\(number)", user: 5_000 + number)
            return try core.ledger.charge(.ringReplies, to: ":9.\(number)")
        }
        let call = try peer.stranger.begin(Desk.name, Desk.path, Stream1.name, "OpenRing")
        _ = try await peer.stranger.call(Desk.name, Desk.path, Stream1.name, "CloseRing")
        let error = await #expect(throws: RelayError.self) { _ = try await call.value }
        #expect((error?.cause as? RemoteError)?.name == ErrorNames.name(for: .cancelled))
        let stream = try #require(core.interfaces.first).stream
        #expect(!stream.hasReader(peer.stranger.connection.uniqueName))
        #expect(core.loop.withTurn { core.rings.isIdle })
        withExtendedLifetime(held) {}
        try await desk.stop()
    }
}
