import RelayCore
import RelayTestKit
import Testing

private enum Gates1: EventInterface {
    static let name = "org.example.Gates1"
    static let durability = Volatile()
    static var contract: Contract<Self> { GatePassed.self }
}
private struct GatePassed: FixedLayoutEvent, Equatable {
    typealias Interface = Gates1
    let at: Timestamp, count: UInt32, gate: UInt32
}

@Suite("A time in a fixed layout") struct FixedLayoutTimeTests {
    @Test("it is accepted at the start, and arrives as it was") func arrives() async throws {
        let harness = TestHarness()
        let service = try EventService(name: "org.example.Gates", on: harness.bus, exporting: Gates1.self)
        try await harness.start(service)
        let relay = try EventRelay(following: "org.example.Gates", on: harness.bus, interfaces: Gates1.self)
        let recorder = EventRecorder(relay.publisher, of: Gates1.self)
        relay.activate()
        try await harness.settle()
        let passed = GatePassed(at: harness.now + .milliseconds(1), count: 2, gate: 7)
        try service.publish(passed)
        try await harness.settle()
        #expect(recorder.events(of: GatePassed.self) == [passed] && recorder.gaps.isEmpty)
    }
}
