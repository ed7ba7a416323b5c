import CRingAttack
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire
import RelayInspection

/// Peers that mean harm.
@Suite("Hostile openers of rings", .heavy, .tags(.g4, .g8)) struct HostileOpenerTests {
    @Test("peers that open rings and read no answer do not stop the service from being heard", arguments: [1, 8, 25])
    func unread(count: Int) async throws {
        let desk = try await Desk(try PrivateBus(limits: .builtIn))
        // libdbus may read when it sends, which the bus would report.
        desk.service.core.replies.unread.withLock { $0.isKnowable = false }
        let peers = try (0..<count).map { _ in try RawPeer(desk.bus.address) }
        for serial: UInt32 in 1...UInt32(1_000 / count) {
            for peer in peers {
                var writer = WireWriter()
                let header = MessageHeader.methodCall(
                    path: Desk.path, interface: Stream1.name, member: "OpenRing", destination: Desk.name)
                let start = try header.write(into: &writer, serial: serial)
                try MessageHeader.finish(&writer, bodyStart: start)
                try peer.send(writer.bytes)
            }
        }
        let other = try await RingPeer.join(desk.bus.bus)
        let answer = try await other.stranger.call(Desk.name, Desk.path, Desk1.name, "Echo", [.string("x")])
        #expect(answer == [.string("x")])
        if count < PeerResource.ringReplies.bounds.share {
            var ring = try await other.openRing(Desk.name, Desk1.name)
            try desk.service.publish(Torn(number: 1))
            #expect(try await other.drain(&ring, to: 1).count == 1)
        } else {
            // They have used up what their user may have unread: others of it stay with the signals.
            let refusal = await other.stranger.refusal(Desk.name, Desk.path, Stream1.name, "OpenRing")
            #expect(refusal?.name == ErrorNames.name(for: .unavailable), "that passes")
            let stream = try #require(desk.service.metrics.streams.first)
            let ring = try #require(stream.ring)
            #expect(ring.refused > 0 && stream.limitsExceeded > 0)
            try await other.stranger.listen(Desk1.name)
            try desk.service.publish(Torn(number: 1))
            #expect(await eventually { other.stranger.signals.contains { $0.member == "Torn" } })
        }
        withExtendedLifetime(peers) {}
        try await desk.stop()
    }
    @Test("a call that waits for its turn ends with CloseRing, behind which its caller has no ring") func withdrawn()
        async throws
    {
        let desk = try await Desk()
        let peer = try await RingPeer.join(desk.bus.bus)
        _ = try await peer.stranger.call(Desk.name, Desk.path, Desk1.name, "Echo", [.string("x")])
        let core = desk.service.core
        // As long as one answer is not confirmed, there is no other.
        let unread = try core.ledger.charge(.ringReplies, to: peer.stranger.connection.uniqueName)
        async let refusal = peer.stranger.refusal(Desk.name, Desk.path, Stream1.name, "OpenRing")
        #expect(await eventually { core.loop.withTurn { !core.rings.isIdle } })
        _ = try await peer.stranger.call(Desk.name, Desk.path, Stream1.name, "CloseRing")
        #expect(await refusal?.name == ErrorNames.name(for: .cancelled))
        let stream = try #require(core.interfaces.first).stream
        #expect(!stream.hasReader(peer.stranger.connection.uniqueName))
        withExtendedLifetime(unread) {}
        try await desk.stop()
    }
    @Test("a ring whose mode a peer of the same user takes away is replaced: those that come later have one")
    func mode() async throws {
        let desk = try await Desk()
        let core = desk.service.core
        if geteuid() == 0 {
            // Root could open a file of any mode: the thread that makes rings and opens them is another user's.
            let failure = await withCheckedContinuation { continuation in
                core.loop.execute { continuation.resume(returning: attack_become(65_534)) }
            }
            try #require(failure == 0)
        }
        let peers = [try await RingPeer.join(desk.bus.bus), try await RingPeer.join(desk.bus.bus)]
        let reply = try await peers[0].call(Desk.name, Desk1.name)
        let stolen = try #require(reply.descriptors.first)
        #expect(stolen.withNumber { fchmod($0, 0) } == 0)
        var ring = try await peers[1].openRing(Desk.name, Desk1.name)
        try desk.service.publish(Torn(number: 1))
        #expect(try await peers[1].drain(&ring, to: 1).count == 1)
        #expect(await eventually { peers[0].stranger.signals.contains { $0.member == "Reattach" } })
        #expect(!peers[1].stranger.signals.contains { $0.member == "Reattach" })
        var former = RingReader(try stolen.withNumber { try RingArea(receiving: $0) }, after: 0)
        guard case .ended = try former.next() else { throw RelayError(.conflict, "the ring goes on") }
        // Not at each request: its readers attach again each time.
        let stream = try #require(core.interfaces.first).stream
        let present = try #require(stream.withRing { $0.writer })
        let reader = peers[1].stranger.connection.uniqueName
        #expect(!stream.replaceRing(present, for: reader) && stream.hasReader(reader))
        try await desk.stop()
    }
    @Test("a reader that gets no description of the ring that replaces its own is no reader, and attaches again")
    func replacementFails() async throws {
        let desk = try await Desk()
        let core = desk.service.core
        let peer = try await RingPeer.join(desk.bus.bus)
        var ring = try await peer.openRing(Desk.name, Desk1.name)
        let (name, stream) = (peer.stranger.connection.uniqueName, try #require(core.interfaces.first).stream)
        #expect(stream.hasReader(name))
        let attempts = Mutex(0)
        let failure: RelayError? = await withCheckedContinuation { continuation in
            core.loop.execute {
                do throws(RelayError) {
                    let page = try core.rings.state.onLoop.pages.page(of: name, core.ledger)
                    _ = try core.rings.share(for: name, page, stream) { _ throws(RelayError) in
                        attempts.withLock { $0 += 1 }
                        throw RelayError(.unavailable, "no description", cause: SystemError(EACCES))
                    }
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: error)
                }
            }
        }
        #expect(failure?.message == "no description" && attempts.withLock { $0 } == 2)
        #expect(!stream.hasReader(name))
        #expect(await eventually { peer.stranger.signals.contains { $0.member == "Reattach" } })
        // Its former ring has ended, and what is published comes as a signal.
        try await peer.stranger.listen(Desk1.name)
        try desk.service.publish(Torn(number: 1))
        #expect(await eventually { peer.stranger.signals.contains { $0.member == "Torn" } })
        guard case .ended = try ring.next() else { throw RelayError(.conflict, "the ring goes on") }
        try await desk.stop()
    }
}
