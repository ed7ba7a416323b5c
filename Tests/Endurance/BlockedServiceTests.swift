import Glibc
import RelayCore
import RelayTestKit
import TestSupport
import TestTraits
import Testing

@Suite("A service whose handlers block", .heavy, .tags(.g4)) struct BlockedServiceTests {
    private static let blocked = 64

    @Test(
        "64 of them hold up no other command, no event, no commit, no status and no end: on one processor, and on two",
        arguments: ["0", "0,1"])
    func blocked(processors: String) async throws {
        try await Site.with { site in
            let service = try site.launch(
                "taskset",
                [
                    "--cpu-list", processors, Programs.runPeer, "blocked", "--bus", site.address, "--state-directory",
                    site.stateDirectory,
                ])
            try await service.line(containing: "ready")
            let holding = try (0..<Self.blocked).map { _ in try relay(site) }
            let calls = holding.map { relay in Task { try await relay.call(Blocked1.Hold(), timeout: .seconds(600)) } }
            #expect(try await eventually { try await figure("relay_handler_threads", site) == Self.blocked })
            let (other, events) = (try relay(site), Log<Int64>())
            let following = try other.subscribe(to: Blocked1.Booked.self, from: .beginning) {
                events.add($0.number)
            } onGap: {
                Issue.record("\($0)")
            }
            // As often as it takes to prove that a command is short: from then on it runs elsewhere.
            for number in 1...Int64(40) {
                _ = try await other.call(Blocked1.Greet(), timeout: .seconds(300))
                _ = try await other.call(Blocked1.Book(number: number), timeout: .seconds(300))
            }
            #expect(await eventually { events.values == Array(1...40) })
            #expect(try await figure("relay_waiting_handlers", site) == 0)
            service.signal(SIGTERM)
            try await service.line(containing: "stopping")
            try await service.line(containing: "ended")
            let outcome = await service.outcome()
            #expect(outcome.code == 0, "\(outcome)")
            for call in calls { #expect(await call.result.isFailure) }
            for relay in holding + [other] { relay.invalidate() }
            withExtendedLifetime(following) {}
        }
    }
    private func relay(_ site: Site) throws -> EventRelay {
        let relay = try EventRelay(
            following: Blocked1.service, on: site.bus, interfaces: Blocked1.self, activation: .ifRunning)
        relay.activate()
        return relay
    }
    private func figure(_ name: String, _ site: Site) async throws -> Int? {
        let metrics = try await site.launch(
            Programs.cli, ["--bus", site.address, "metrics"]
        ).outcome()
        #expect(metrics.code == 0, "\(metrics)")
        let line = metrics.output.first { $0.hasPrefix("\(name){") }
        return line.flatMap { Int($0.split(separator: " ").last ?? "") }
    }
}

extension Result {
    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
