import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import Telemetry
import TestTraits
import Testing

/// `relay-service --domain telemetry`: this host's own figures, from a process to this one.
@Suite("relay-service --domain telemetry", .heavy) struct TelemetryTests {
    private func start(_ bus: PrivateBus, _ arguments: String...) async throws -> RunningProgram {
        // Without HOME: it needs no folder.
        let service = try RunningProgram(
            Programs.service, ["--bus", bus.address] + arguments, environment: Programs.environment())
        try await service.line(containing: "ready")
        return service
    }

    @Test("typed samples of every kind arrive in order, at the rate asked for, and are this host's")
    func typed() async throws {
        let bus = try PrivateBus()
        let service = try await start(bus, "--domain", "telemetry", "--rate", "200")
        let relay = try EventRelay(following: LiveService.name, on: bus.bus, interfaces: Telemetry1.self)
        let seen = Mutex<(processors: [CPUSampled], stamps: [Stamp], other: Int)>(([], [], 0))
        let subscriptions = [
            relay.publisher.subscribe(to: CPUSampled.self, delivery: .immediate) { sample in
                seen.withLock { $0.processors.append(sample) }
            } onGap: { _ in
            },
            relay.publisher.subscribe(to: MemorySampled.self, delivery: .immediate) { sample in
                seen.withLock { $0.other += sample.available <= sample.total ? 1 : .min }
            } onGap: { _ in
            },
        ]
        relay.activate()
        let start = ContinuousClock.now
        #expect(await eventually { seen.withLock { $0.processors.count >= 40 && $0.other > 0 } })
        // 40 of some 200 a second took a tenth of a second at least.
        #expect(ContinuousClock.now - start > .milliseconds(100))
        let links = try await relay.call(ListNetworkInterfaces()).links
        #expect(links.contains { $0.name == "lo" })
        let processors = seen.withLock { $0.processors }
        let count = Int(try #require(processors.first).cpus)
        for (first, second) in zip(processors, processors.dropFirst(count)) {
            #expect(first.cpu == second.cpu && first.uptime < second.uptime && first.user <= second.user)
        }
        withExtendedLifetime(subscriptions) {}
        #expect(await service.terminate().code == 0)
    }

    @Test("both domains are served under one name, however they are asked for", arguments: [true, false])
    func both(_ asList: Bool) async throws {
        let (bus, state) = (try PrivateBus(), try TestFolder())
        let domains =
            asList ? ["--domain", "relocation,telemetry"] : ["--domain", "telemetry", "--domain", "relocation"]
        let service = try RunningProgram(
            Programs.service, ["--bus", bus.address, "--state-directory", state.path, "--rate", "50"] + domains,
            environment: Programs.environment())
        try await service.line(containing: "domain relocation, telemetry")
        let order = try await RunningProgram.run(
            Programs.cli, ["--bus", bus.address, "call", "OrderBox", "label=Kitchen", "capacity=10"],
            environment: Programs.environment())
        #expect(order.output == ["boxID=1"], "\(order)")
        let watch = try await RunningProgram.run(
            Programs.cli, ["--bus", bus.address, "--json", "watch", "LoadSampled", "--count", "2"],
            environment: Programs.environment())
        #expect(watch.output.count == 2 && watch.output.allSatisfy { $0.contains("\"threads\":") }, "\(watch)")
        let ended = await service.terminate()
        #expect(ended.code == 0 && !ended.errors.contains { $0.contains("no more samples") }, "\(ended)")
    }

    @Test("a rate that is none, or is for nothing, is a usage error")
    func wrongRates() async throws {
        for (arguments, part) in [
            (["--rate", "5"], "--domain telemetry"), (["--domain", "telemetry", "--rate", "0"], "'0'"),
            (["--domain", "telemetry", "--rate", "10001"], "between 0.1 and 10000"),
            (["--domain", "telemetry", "--rate", "1e3"], "'1e3'"), (["--domain", "telemetry", "--rate", ""], "''"),
            (["--domain", "relocation,"], "'relocation,' has ''"), (["--domain", "telemetri"], "telemetry"),
        ] {
            let outcome = try await RunningProgram.run(Programs.service, arguments, environment: Programs.environment())
            #expect(outcome.code == 64 && outcome.errors.joined().contains(part), "\(arguments): \(outcome)")
        }
    }
}
