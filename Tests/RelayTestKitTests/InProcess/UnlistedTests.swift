import RelayCore
import RelayTestKit
import Testing

/// Types that say of themselves that they belong to an interface whose contract does not list them.
private enum Kiln1: EventInterface {
    static let name = "org.example.Kiln1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Heated.self }
}
private struct Heated: DomainEvent {
    typealias Interface = Kiln1
    var celsius: Int32
}
private struct Cracked: DomainEvent {
    typealias Interface = Kiln1
    var vase: String
}
private struct Fire: Command {
    typealias Interface = Kiln1
}

@Suite("What a contract does not list") struct UnlistedTests {
    private static let remedy = "is not in the contract of org.example.Kiln1: list it there"

    @Test("a service refuses it, and names the contract; an interface that is not exported is another matter")
    func service() async throws {
        let harness = TestHarness()
        let service = try EventService(name: "org.example.Kiln", on: harness.bus, exporting: Kiln1.self)
        let unlisted = #expect(throws: RelayError.self) { try service.publish(Cracked(vase: "blue")) }
        #expect(unlisted?.code == .notFound && unlisted?.message == "Cracked \(Self.remedy)")
        let foreign = #expect(throws: RelayError.self) { try service.publish(CoinInserted(value: 1)) }
        #expect(foreign?.code == .notFound && foreign?.message.hasSuffix("add it to exporting") == true)
        service.handle(Fire.self) { _, _ in }
        let handled = await #expect(throws: RelayError.self) { try await harness.start(service) }
        #expect(handled?.message.contains("org.example.Kiln1.Fire") == true, "\(handled?.message ?? "")")
        #expect(handled?.message.contains("list it in its interface's contract") == true)
    }
    @Test("a relay refuses to subscribe to it and to call it, and names the contract") func relay() async throws {
        let harness = TestHarness()
        let relay = try EventRelay(following: "org.example.Kiln", on: harness.bus, interfaces: Kiln1.self)
        let subscribed = #expect(throws: RelayError.self) {
            _ = try relay.subscribe(to: Cracked.self, onGap: .ignore) { _ in }
        }
        #expect(subscribed?.code == .notFound && subscribed?.message == "Cracked \(Self.remedy)")
        #expect(throws: RelayError.self) { try relay.events(of: Cracked.self) }
        let called = await #expect(throws: RelayError.self) { try await relay.call(Fire()) }
        #expect(called?.code == .notFound && called?.message == "Fire \(Self.remedy)")
        let foreign = #expect(throws: RelayError.self) {
            _ = try relay.subscribe(to: CoinInserted.self, onGap: .ignore) { _ in }
        }
        #expect(foreign?.message.hasSuffix("name it in interfaces") == true, "\(foreign?.message ?? "")")
        let listed = try relay.subscribe(to: Heated.self, onGap: .ignore) { _ in }
        listed.cancel()
    }
}
