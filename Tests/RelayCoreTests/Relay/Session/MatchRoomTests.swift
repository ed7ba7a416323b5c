import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

@Suite("A bus without room for another match rule", .heavy, .tags(.g2)) struct MatchRoomTests {
    @Test("is asked again until it has some, and what did not come meanwhile is a gap") func room() async throws {
        // The owner's, two of one interface, and one of the two of the other.
        let bus = try PrivateBus(limits: .matchRules(4))
        let relay = try EventRelay(
            following: Desk.name, on: bus.bus, interfaces: Plain1.self, Desk1.self, usesRings: false,
            timing: RelayTiming { $0.retry = .milliseconds(50) })
        let lines = Log<String>()
        let states = relay.publisher.subscribe(
            to: EventRelay.State.self, delivery: .immediate
        ) {
            if case .invalidated(let error) = $0 { lines.add(error.message) }
        } onGap: { _ in
        }
        let first = relay.publisher.subscribe(to: Noted.self, delivery: .immediate) { _ in
        } onGap: { _ in
        }
        relay.activate()
        let service = try await FollowingTests.fake(bus.bus, epoch: 1)
        #expect(await eventually { service.attaches == 1 })
        let second = relay.publisher.subscribe(to: Said.self, delivery: .immediate) {
            lines.add("\($0.number)")
        } onGap: { gap in
            lines.add("gap \(gap.sequences.lowerBound)-\(gap.sequences.upperBound)")
        }
        #expect(await relay.isLive(Plain1.name))
        try service.publish("Said", FollowingTests.said(1))
        // An answer behind the event: the bus has dropped that.
        _ = try await relay.follower.call(interface: Plain1.name, member: "Schemas")
        first.cancel()
        #expect(await eventually { !lines.values.isEmpty })
        try service.publish("Said", FollowingTests.said(2))
        #expect(await eventually { lines.values.count == 2 })
        #expect(lines.values == ["gap 1-1", "2"])
        withExtendedLifetime((states, second)) {}
        service.vanish()
    }
}
