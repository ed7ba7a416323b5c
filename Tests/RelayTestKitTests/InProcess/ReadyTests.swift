import RelayCore
import RelayTestKit
import Testing

@Suite("Waiting until a relay is in step") struct ReadyTests {
    private static let name = "org.example.Till"

    private func relay(_ harness: TestHarness) throws -> EventRelay {
        let relay = try EventRelay(following: Self.name, on: harness.bus, interfaces: Till1.self)
        relay.activate()
        return relay
    }

    @Test("it names the service that is not there in time, and returns when it is") func inTime() async throws {
        let harness = TestHarness()
        let relay = try relay(harness)
        let late = await #expect(throws: RelayError.self) { try await relay.ready(within: .milliseconds(1)) }
        #expect(late?.code == .timedOut && late?.message.contains(Self.name) == true, "\(late?.message ?? "")")
        let waiting = Task { try await relay.ready(within: .seconds(300)) }
        let service = try EventService(name: Self.name, on: harness.bus, exporting: Till1.self)
        try await harness.start(service)
        try await waiting.value
        try await relay.ready()
    }
    @Test("without a bus it says so, rather than to start the service") func noBus() async throws {
        let bus = Bus.address("unix:path=/nowhere")
        let relay = try EventRelay(following: Self.name, on: bus, interfaces: Orders1.self)
        relay.activate()
        // The first attempt has failed when its call ends.
        let called = await relay.outcome(of: Ponder(), timeout: .seconds(300))
        guard case .failed(let failure) = called else {
            Issue.record("a call without a bus: \(called)")
            return
        }
        let late = await #expect(throws: RelayError.self) { try await relay.ready(within: .milliseconds(1)) }
        #expect(late?.code == .timedOut && late?.message.contains(Self.name) == true, "\(late?.message ?? "")")
        #expect(late?.message.hasSuffix(failure.message) == true, "\(late?.message ?? ""), \(failure.message)")
    }
    @Test("it ends with its task, and with the relay") func ends() async throws {
        let harness = TestHarness()
        let relay = try relay(harness)
        let cancelled = Task { try await relay.ready(within: .seconds(300)) }
        cancelled.cancel()
        let error = await #expect(throws: RelayError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled)
        let waiting = Task { try await relay.ready(within: .seconds(300)) }
        relay.invalidate()
        await #expect(throws: RelayError.self) { try await waiting.value }
        await #expect(throws: RelayError.self) { try await relay.ready(within: .seconds(300)) }
    }
}
