import RelayCore
import RelayTestKit
import Relocation
import TestTraits
import Testing

/// A service that the bus starts.
@Suite("A service that the bus starts", .heavy, .tags(.g6)) struct ActivationTests {
    @Test("a command starts a service that the bus can start, and a relay that only looks does not")
    func onDemand() async throws {
        let (services, state) = (try TestFolder(), try TestFolder())
        let bus = try PrivateBus(limits: .session, policy: "<servicedir>\(services.path)</servicedir>")
        let description = """
            [D-BUS Service]
            Name=\(LiveService.name)
            Exec=\(Programs.service) --bus \(bus.address) --state-directory \(state.path)

            """
        try services.write(description, to: "\(LiveService.name).service")

        let looking = try EventRelay(
            following: LiveService.name, on: bus.bus, interfaces: Relocation1.self, activation: .ifRunning)
        looking.activate()
        do {
            _ = try await looking.call(Contents())
            Issue.record("a service was started")
        } catch {
            #expect((error as? RelayError)?.code == .unavailable)
        }
        let relay = try EventRelay(following: LiveService.name, on: bus.bus, interfaces: Relocation1.self)
        relay.activate()
        #expect(try await relay.call(OrderBox(label: "Kitchen", capacity: 10)).boxID == 1)
        // Now it runs, for the other one, too.
        #expect(try await looking.call(Contents()).boxes.map(\.title) == ["Kitchen"])
        // The service ends with its bus.
        await bus.stop()
    }
}
