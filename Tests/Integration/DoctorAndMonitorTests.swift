import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// `relay-cli doctor`, `monitor` and the choice of a service against a live one.
@Suite("relay-cli doctor and monitor", .heavy, .tags(.g8)) struct DoctorAndMonitorTests {
    @Test("doctor finds a live service healthy, and starts none")
    func doctor() async throws {
        let service = try await LiveService.start()
        #expect(try await service.orderBox("Kitchen").code == 0)
        let outcome = try await service.runCLI("doctor")
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        let grades = outcome.output.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        // The machine's clock and limits are its own.
        for check in ["bus", "name", "own", "send", "receive", "descriptors", "memory", "journal", "versions"] {
            #expect(grades.contains("ok \(check)"), "\(check) is not ok in \(outcome)")
        }
        #expect(grades.contains { $0.hasSuffix(" clock") } && grades.contains { $0.hasSuffix(" disk") }, "\(outcome)")
        // It has left nothing behind: nobody is subscribed, and the ring that nobody opened is not open.
        let status = try await service.runCLI("status")
        #expect(status.output.contains("Nobody is subscribed."), "\(status)")
        #expect(status.output.contains { $0.contains("nobody has asked for it") }, "\(status)")

        _ = await service.program.terminate()
        let absent = try await service.runCLI("doctor", "--json")
        #expect(absent.code == 1, "\(absent)")
        #expect(absent.output.contains { $0.hasPrefix(#"{"check":"name","grade":"failed""#) }, "\(absent)")
    }

    @Test("monitor shows a call, its event and its reply")
    func monitor() async throws {
        let service = try await LiveService.start()
        let monitor = try service.cli("monitor", "--count", "3")
        try await monitor.line(containing: "monitoring \(LiveService.name)")
        #expect(try await service.orderBox("Kitchen").code == 0)
        let outcome = await monitor.outcome()
        #expect(outcome.code == 0, "\(outcome)")
        let lines = outcome.output.map { line in
            line.split(separator: " ", omittingEmptySubsequences: true).dropFirst().joined(separator: " ")
                .replacing(/:1\.\d+/, with: ":1.N").replacing(/in [0-9.]+ (ms|µs|us|s)/, with: "in T")
        }
        // The event leaves before its reply.
        #expect(
            lines == [
                #"call OrderBox from :1.N: label="Kitchen" capacity=10"#,
                #"event #1 BoxProvisioned: boxID=1 capacity=10 title="Kitchen""#,
                "reply OrderBox to :1.N in T: boxID=1",
            ], "\(outcome)")
    }

    @Test("the only service on the bus is taken, whatever its name; RELAY_SERVICE names another")
    func choice() async throws {
        let bus = try PrivateBus()
        let state = try TestFolder()
        let service = try RunningProgram(
            Programs.service,
            ["--bus", bus.address, "--state-directory", state.path, "--name", "org.example.Removals"],
            environment: Programs.environment())
        try await service.line(containing: "ready")
        var list: RunningProgram.Outcome
        repeat {
            list = try await RunningProgram.run(
                Programs.cli, ["--bus", bus.address, "status"], environment: Programs.environment())
            // A service that does not answer within three seconds is not taken.
        } while list.code == 69
        #expect(
            list.code == 0 && list.output.first == "org.example.Removals, built with Relay \(RelayVersion.current)",
            "\(list)")
        let other = try await RunningProgram.run(
            Programs.cli, ["--bus", bus.address, "list"],
            environment: Programs.environment(["RELAY_SERVICE": "org.example.Absent"]))
        #expect(other.code == 69 && other.errors.joined().contains("'org.example.Absent'"), "\(other)")
    }
}
