import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// A user floods a service, on a bus with the system bus's limits: the bus drops its own announcements and answers.
@Suite("Departures that the bus did not announce", .heavy, .tags(.g3, .g4)) struct DepartureTests {
    private struct Site {
        let bus: PrivateBus
        let desk: Desk
        let witness: BusStranger
        var core: ServiceCore { desk.service.core }
        var streams: [PublishedStream] { core.interfaces.map(\.stream) }

        init() async throws {
            bus = try DescriptorFlood.openBus()
            desk = try await Desk(bus)
            witness = try await BusStranger.join(bus.bus)
        }
        /// A peer with a ring, attached.
        func subscriber() async throws -> RingPeer {
            let peer = try await RingPeer.join(bus.bus)
            _ = try await peer.openRing(Desk.name, Desk1.name)
            _ = try await peer.stranger.call(
                Desk.name, Desk.path, Stream1.name, "Attach",
                [
                    .uint64(0), .uint64(0), .array(.string, [.string("*")]),
                    .dictionary(.dictionary(.string, .variant), []),
                ])
            return peer
        }
        /// The service is deaf while this runs, and whatever the bus has for it meanwhile is lost.
        func whileMuted(_ body: (StandingLoop) async throws -> Void) async throws {
            let name = try #require(core.loop.withTurn { core.connection.onLoop?.uniqueName })
            let standing = await StandingLoop(core.loop)
            let flood = try DescriptorFlood(of: name, at: bus.address)
            #expect(try await flood.hasMuted(by: witness))
            try await body(standing)
            #expect(try await DescriptorFlood.waiting(for: name, by: witness) > 64)
            await flood.end()
            standing.letGo()
        }
    }

    @Test("after a flood the service holds nothing of peers that have gone, and goes on with those that have not")
    func flood() async throws {
        let site = try await Site()
        let stays = try await site.subscriber()
        var gone: [RingPeer] = []
        for _ in 1...5 { gone.append(try await site.subscriber()) }
        let names = gone.map { $0.stranger.connection.uniqueName }
        let core = site.core
        #expect(core.ledger.held(.waitPages) == 6 && site.streams[0].subscribers.count == 6)
        try await site.whileMuted { _ in
            for peer in gone { peer.stranger.connection.close() }
            for name in names {
                let hasLeft = try await eventually { try await !site.witness.hasOwner(name) }
                #expect(hasLeft)
            }
        }
        let stayed = stays.stranger.connection.uniqueName
        #expect(await eventually { core.ledger.present == [stayed] })
        #expect(core.ledger.held(.waitPages) == 1 && site.streams[0].subscribers.map(\.peer) == [stayed])
        #expect(core.loop.withTurn { core.rings.state.onLoop.pages.count } == 1)
        #expect(site.streams[0].hasReader(stayed) && !site.streams[0].hasReader(names[0]))
        // And a peer that leaves when the bus announces that again.
        stays.stranger.connection.close()
        #expect(await eventually { core.ledger.isEmpty })
        try await site.desk.stop()
    }
    @Test("who a peer is is asked again, if the bus's answer was lost") func lookUp() async throws {
        let site = try await Site()
        let peer = try await BusStranger.join(site.bus.bus)
        let (core, name) = (site.core, peer.connection.uniqueName)
        let answer = Mutex<Result<PeerCredentials, RelayError>?>(nil)
        let connection = try #require(core.loop.withTurn { core.connection.onLoop })
        try await site.whileMuted { standing in
            await standing.perform {
                core.census.note(name)
                core.directory.credentials(of: name, bytes: 0, connection) { result in answer.withLock { $0 = result } }
            }
            // The bus has answered, which went nowhere.
            let isThere = try await site.witness.hasOwner(name)
            #expect(isThere)
        }
        #expect(await eventually { answer.withLock { $0 } != nil })
        let user = try answer.withLock { try $0?.get().userID }
        #expect(user == getuid() && core.ledger.held(.lookUpCalls, of: name) == 0)
        peer.connection.close()
        #expect(await eventually { core.ledger.isEmpty })
        try await site.desk.stop()
    }
}
