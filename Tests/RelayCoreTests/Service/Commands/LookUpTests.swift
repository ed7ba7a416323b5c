import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// What a service does while it does not know who a peer is: the tests answer in the bus's place.
@Suite("Look-ups of a peer's credentials", .heavy, .tags(.g3, .g7)) struct LookUpTests {
    /// A look-up of the peer is under way, whose answer the test gives.
    private func withhold(_ core: ServiceCore, _ peer: BusStranger) {
        let name = peer.connection.uniqueName
        core.loop.withTurn {
            let charge = try? core.ledger.charge(call: .lookUpCalls, arguments: .lookUpBytes, 0, to: name)
            core.directory.state.onLoop.lookUps[name] = charge.map { [PeerDirectory.LookUp(charge: $0) { _ in }] }
        }
    }
    private func answer(
        _ core: ServiceCore, _ peer: BusStranger, _ result: Result<PeerCredentials, RelayError>
    ) {
        core.loop.withTurn { core.directory.lookedUp(peer.connection.uniqueName, result) }
    }
    private func waiting(_ core: ServiceCore, _ peer: BusStranger) -> Int {
        core.loop.withTurn { core.directory.state.onLoop.lookUps[peer.connection.uniqueName]?.count ?? 0 }
    }

    @Test("G7: a look-up that fails answers Unavailable, is reported, and is repeated for the next call")
    func failing() async throws {
        let desk = try await Desk()
        let (core, peer) = (desk.service.core, try await BusStranger.join(desk.bus.bus))
        withhold(core, peer)
        async let refusal = peer.refusal(Desk.name, Desk.path, Desk1.name, "Restricted")
        #expect(await eventually { waiting(core, peer) == 2 })
        answer(core, peer, .failure(RelayError(.timedOut, "no answer within 10 s")))
        let refused = await refusal
        #expect(refused?.name == "org.eventrelay.Error.Unavailable")
        #expect(refused?.message.contains("no answer within 10 s") == true)
        #expect(
            await eventually {
                desk.notices.all(of: .lookUpFailed).contains { $0.message.contains(peer.connection.uniqueName) }
            })
        let next = await peer.refusal(Desk.name, Desk.path, Desk1.name, "Restricted")
        #expect(next?.name == "org.eventrelay.Error.NotPermitted")
        try await desk.stop()
    }
    @Test("G3: behind a look-up wait 64 calls of a peer; others are answered") func bounded() async throws {
        let desk = try await Desk()
        let core = desk.service.core
        let (peer, other) = (try await BusStranger.join(desk.bus.bus), try await BusStranger.join(desk.bus.bus))
        withhold(core, peer)
        let limit = PeerResource.lookUpCalls.bounds.peer
        await withTaskGroup(of: String?.self) { group in
            for number in 1...limit + 5 {
                group.addTask {
                    await peer.refusal(Desk.name, Desk.path, Desk1.name, "Echo", [.string("\(number)")])?.name
                }
            }
            // One place is taken by the test.
            for _ in 1...6 {
                let refusal = await group.next()
                #expect(refusal == "org.eventrelay.Error.LimitsExceeded")
            }
            #expect(waiting(core, peer) == limit)
            #expect(await other.refusal(Desk.name, Desk.path, Desk1.name, "Echo", [.string("other")]) == nil)
            #expect(desk.notes == ["echo other"])
            answer(core, peer, .success(PeerCredentials(userID: getuid())))
            for await name in group { #expect(name == nil) }
        }
        #expect(desk.notes.count == limit)
        #expect(core.ledger.held(.lookUpCalls, of: peer.connection.uniqueName) == 0)
        try await desk.stop()
    }
}
