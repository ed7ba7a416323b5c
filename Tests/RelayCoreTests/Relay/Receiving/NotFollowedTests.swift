import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

private enum Kiln1: EventInterface {
    static let name = "org.example.Kiln1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Heated.self }
}
private struct Heated: DomainEvent {
    typealias Interface = Kiln1
    var celsius: Int32
}
/// Two types that say of themselves that they belong to `Kiln1`, whose contract does not list them.
private struct Cracked: DomainEvent {
    typealias Interface = Kiln1
    var vase: String
}
private struct Fire: Command {
    typealias Interface = Kiln1
}
/// Neither exported nor followed.
private enum Stray1: EventInterface {
    static let name = "org.example.Stray1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Strayed.self }
}
private struct Strayed: DomainEvent {
    typealias Interface = Stray1
    var number: Int64
}
private struct Local: Event { var number: Int }

/// No bus is needed for what is known without one.
@Suite("What a contract does not list, or a relay does not follow", .tags(.g2)) struct NotFollowedTests {
    private static let service = "org.example.Kiln"
    private static let remedy = "is not in the contract of org.example.Kiln1: list it there"

    @Test("a service refuses it, and names the contract; an interface that is not exported is another matter")
    func service() async throws {
        let harness = TestHarness()
        let service = try EventService(name: Self.service, on: harness.bus, exporting: Kiln1.self)
        let unlisted = #expect(throws: RelayError.self) { try service.publish(Cracked(vase: "blue")) }
        #expect(unlisted?.code == .notFound && unlisted?.message == "Cracked \(Self.remedy)")
        let foreign = #expect(throws: RelayError.self) { try service.publish(Strayed(number: 1)) }
        #expect(foreign?.code == .notFound && foreign?.message.hasSuffix("add it to exporting") == true)
        service.handle(Fire.self) { _, _ in }
        let handled = await #expect(throws: RelayError.self) { try await harness.start(service) }
        #expect(handled?.message.contains("org.example.Kiln1.Fire") == true, "\(handled?.message ?? "")")
        #expect(handled?.message.contains("list it in its interface's contract") == true)
    }
    @Test("a relay refuses to subscribe to it and to call it, and names the contract") func relay() async throws {
        let relay = try EventRelay(following: Self.service, on: TestHarness().bus, interfaces: Kiln1.self)
        let subscribed = #expect(throws: RelayError.self) {
            _ = try relay.subscribe(to: Cracked.self) { _ in
            } onGap: { _ in
            }
        }
        #expect(subscribed?.code == .notFound && subscribed?.message == "Cracked \(Self.remedy)")
        #expect(throws: RelayError.self) { try relay.events(of: Cracked.self) }
        let called = await #expect(throws: RelayError.self) { try await relay.call(Fire()) }
        #expect(called?.code == .notFound && called?.message == "Fire \(Self.remedy)")
        let foreign = #expect(throws: RelayError.self) {
            _ = try relay.subscribe(to: Strayed.self) { _ in
            } onGap: { _ in
            }
        }
        #expect(foreign?.message.hasSuffix("name it in interfaces") == true, "\(foreign?.message ?? "")")
        #expect(throws: RelayError.self) { try relay.events(of: Strayed.self) }
        let listed = try relay.subscribe(to: Heated.self) { _ in
        } onGap: { _ in
        }
        listed.cancel()
    }
    @Test("at the publisher, an event of no followed interface is a gap with what to do; others are left alone")
    func publisher() async throws {
        let relay = try EventRelay(
            following: Self.service, on: .address("unix:path=/nonexistent"), interfaces: Kiln1.self,
            delivery: .immediate)
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
        let forgotten = subscribe(to: Cracked.self)
        #expect(gaps.values.last?.contains("Cracked is not in the contract of org.example.Kiln1: list it") == true)
        let others = [
            subscribe(to: Heated.self), subscribe(to: Local.self), subscribe(to: EventRelay.State.self),
            subscribe(to: EventRelay.InterfaceChange.self), subscribe(to: EventRelay.CursorFailure.self),
        ]
        #expect(gaps.count == 2)
        withExtendedLifetime((stray, forgotten, others)) {}
        relay.invalidate()
    }
}
