import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

@Suite("An Attach that the service cannot answer now is repeated", .heavy, .tags(.g2)) struct RefusedAttachTests {
    /// What makes a relay that is in step attach once more.
    enum Reason: CaseIterable { case detached, silence }

    @Test("by a relay that is in step, whose loss nothing else would show", arguments: Reason.allCases)
    func inStep(_ reason: Reason) async throws {
        let bus = try PrivateBus()
        let log = try RelayLog(
            bus.bus, isOnSignals: true,
            timing: RelayTiming { ($0.retry, $0.tick) = (.milliseconds(50), .milliseconds(200)) })
        await log.activate()
        let service = try await FollowingTests.fake(bus.bus, epoch: 1)
        #expect(await log.wait(for: "active"))
        try service.publish("Said", FollowingTests.said(1))
        #expect(await log.wait(for: "1"))
        // Nothing is in doubt that the relay would ask about.
        try service.announce()
        #expect(await log.relay.follower.core.isConfirmed())
        service.refuseAttaches(3)
        switch reason {
        case .detached:
            try service.publish("Said", FollowingTests.said(2), isLost: true)
            try service.detach()
            #expect(await log.wait(for: "gap 2-2 lost"), "\(log.all)")
        case .silence:
            try service.publish("Said", FollowingTests.said(2))
            try service.publish("Said", FollowingTests.said(3), isLost: true)
            #expect(await log.wait(for: "gap 3-3 lost"), "\(log.all)")
        }
        service.vanish()
    }
    @Test("by one that wants another name, too") func widening() async throws {
        let bus = try PrivateBus()
        let relay = try EventRelay(
            following: Desk.name, on: bus.bus, interfaces: Desk1.self, usesRings: false,
            timing: RelayTiming { $0.retry = .milliseconds(50) })
        let seen = Log<Int64>()
        let first = relay.publisher.subscribe(to: Noted.self, delivery: .immediate) { _ in
        } onGap: { _ in
        }
        relay.activate()
        let number = WireField(name: "number", type: .int64, swiftType: "Int64")
        let text = WireField(name: "text", type: .string, swiftType: "String")
        let service = try await FakeService.start(
            Desk.name, Desk1.name, on: bus.bus, epoch: 1,
            schemas: [
                EventSchema(event: "Noted", fields: [text, number]), EventSchema(event: "Torn", fields: [number]),
            ])
        #expect(await relay.isLive(Desk1.name))
        service.refuseAttaches(3)
        let before = service.attaches
        let second = relay.publisher.subscribe(to: Torn.self, delivery: .immediate) {
            seen.add($0.number)
        } onGap: { _ in
        }
        #expect(await eventually { service.attaches >= before + 4 })
        #expect(await relay.isLive(Desk1.name))
        try service.publish("Torn", [.int64(7)])
        #expect(await eventually { seen.values == [7] })
        withExtendedLifetime((first, second)) {}
        service.vanish()
    }
}
