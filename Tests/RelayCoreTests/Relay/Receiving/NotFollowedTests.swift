import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

/// No bus is needed for what is known without one.
@Suite("A subscription that a relay cannot serve", .tags(.g2)) struct NotFollowedTests {
    private enum Stray1: EventInterface {
        static let name = "org.example.Stray1"
        static var contract: Contract<Self> { Strayed.self }
    }
    private struct Strayed: DomainEvent {
        typealias Interface = Stray1
        var number: Int64
    }
    /// Of a followed interface, whose contract does not list it.
    private struct Forgotten: DomainEvent {
        typealias Interface = Desk1
        var number: Int64
    }
    private struct Local: Event { var number: Int }

    @Test("at the publisher, an event of no followed interface is a gap with what to do; others are left alone")
    func publisher() async throws {
        let relay = try EventRelay(
            following: Desk.name, on: .address("unix:path=/nonexistent"), interfaces: Desk1.self, delivery: .immediate)
        let gaps = Log<String>()
        func subscribe<E: Event>(to type: E.Type) -> Subscription {
            relay.publisher.subscribe(to: type, delivery: .immediate) { _ in
            } onGap: {
                gaps.add("\($0)")
            }
        }
        let stray = subscribe(to: Strayed.self)
        #expect(
            gaps.values == [
                "Any number of events may be missing: this relay does not follow them (Strayed is of "
                    + "org.example.Stray1, which this relay was not made for: name it in interfaces)."
            ])
        let forgotten = subscribe(to: Forgotten.self)
        #expect(gaps.values.last?.contains("Forgotten is not in the contract of org.example.Desk1: list it") == true)
        let others = [
            subscribe(to: Torn.self), subscribe(to: Local.self), subscribe(to: EventRelay.State.self),
            subscribe(to: EventRelay.InterfaceChange.self), subscribe(to: EventRelay.CursorFailure.self),
        ]
        #expect(gaps.count == 2)
        // The same, where it can be thrown.
        #expect(throws: RelayError.self) { try relay.events(of: Strayed.self) }
        withExtendedLifetime((stray, forgotten, others)) {}
        relay.invalidate()
    }
}
