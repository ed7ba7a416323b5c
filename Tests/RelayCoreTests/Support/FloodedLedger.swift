import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

/// A relay of a durable service that is in step, whose loop stands, and that another user floods: the bus drops
/// whatever is for it.
struct FloodedLedger {
    let witness: BusStranger
    let desk: DurableDesk
    private let relay: EventRelay
    private let name: String
    private let lines = Log<String>()
    private let subscription: Subscription
    private let standing: StandingLoop
    private let flood: DescriptorFlood

    /// - Parameter isOnSignals: events come as signals only. Else the owner has to be of the relay's user.
    init(isOnSignals: Bool) async throws {
        let bus = try DescriptorFlood.openBus()
        witness = try await BusStranger.join(bus.bus)
        desk = try await DurableDesk(bus)
        relay = try EventRelay(
            following: DurableDesk.name, on: bus.bus, interfaces: Ledger1.self,
            requiring: isOnSignals ? .anyone : .sameUser, usesRings: !isOnSignals)
        let lines = lines
        subscription = relay.publisher.subscribe(to: Booked.self, delivery: .immediate) {
            lines.add("\($0.number)")
        } onGap: {
            lines.add("gap \($0.sequences)")
        }
        relay.activate()
        try await relay.ready()
        try await desk.service.publish(Booked(number: 1, text: ""))
        #expect(await eventually { lines.values == ["1"] })
        let core = relay.follower.core
        #expect(await core.isConfirmed())
        name = try #require(core.loop.withTurn { core.owner.connection?.uniqueName })
        standing = await StandingLoop(core.loop)
        flood = try DescriptorFlood(of: name, at: bus.address)
        #expect(try await flood.hasMuted(by: witness))
    }
    /// The flood ends, and the relay gets to what the bus has kept for it. Returns when it has all five events.
    func recover() async throws {
        #expect(try await DescriptorFlood.waiting(for: name, by: witness) > 64)
        await flood.end()
        standing.letGo()
        #expect(await eventually { lines.values.count >= 5 }, "\(lines.values)")
        #expect(lines.values == ["1", "2", "3", "4", "5"])
        relay.invalidate()
    }
}

extension SessionController {
    /// A word of the service has confirmed all that came: there is no doubt whose answer would show what is lost later.
    func isConfirmed() async -> Bool {
        await eventually { loop.withTurn { streams.all.allSatisfy { !$0.shared.machine.needsTick } } }
    }
}
