import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// `relay-service` as a process: how it starts, ends and fails.
@Suite("Start, end and failures of relay-service", .heavy, .tags(.g8)) struct ServiceProgramTests {
    private func hasOwner(_ service: LiveService) async throws -> Bool {
        let outcome = try await service.run(
            "busctl",
            [
                "--address=\(service.address)", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus", "NameHasOwner", "s", LiveService.name,
            ])
        return outcome.output == ["b true"]
    }

    @Test("a second service of the same name is refused, and told who has it")
    func secondIsRefused() async throws {
        let service = try await LiveService.start()
        let state = try TestFolder()
        let second = try await RunningProgram.run(
            Programs.service, ["--bus", service.address, "--state-directory", state.path],
            environment: Programs.environment())
        #expect(second.code == 75, "\(second)")
        let said = second.errors.joined()
        #expect(said.contains(LiveService.name) && said.contains("process \(service.program.processID)"), "\(second)")
        #expect(try await hasOwner(service))
    }

    @Test("without a bus in the environment it says what to do")
    func noBus() async throws {
        let state = try TestFolder()
        let outcome = try await RunningProgram.run(
            Programs.service, ["--state-directory", state.path], environment: Programs.environment())
        #expect(outcome.code == 69, "\(outcome)")
        #expect(outcome.errors.joined().contains("--own-bus"), "\(outcome)")
    }

    @Test("a bus that does not answer is named")
    func deadBus() async throws {
        let address = "unix:path=/nonexistent/bus"
        let state = try TestFolder()
        let outcome = try await RunningProgram.run(
            Programs.service, ["--bus", address, "--state-directory", state.path],
            environment: Programs.environment())
        #expect(outcome.code == 69, "\(outcome)")
        #expect(outcome.errors.joined().contains("/nonexistent/bus"), "\(outcome)")
    }

    @Test(
        "wrong arguments are usage errors that name the offender",
        arguments: [
            (["--bogus"], "bogus"), (["--bus"], "--bus"), (["extra"], "extra"), (["--log-level", "loud"], "loud"),
            (["--domain", "relocatoin"], "relocation"), (["--session", "--system"], "two buses"),
            (["--own-bus=yes"], "own-bus"), (["--bus", "nonsense"], "nonsense"),
            (["--synchronous", "of"], "full and normal"),
            (["--domain", "telemetry,boxes"], "'boxes', which is no domain"),
            (["--rate", "0"], "between 0.1 and 10000"),
            (["--rate", "5"], "--domain telemetry"),
            (["--state-directory", ""], "--state-directory"),
        ])
    func wrongArguments(_ arguments: [String], _ part: String) async throws {
        let outcome = try await RunningProgram.run(Programs.service, arguments, environment: Programs.environment())
        #expect(outcome.code == 64, "\(outcome)")
        #expect(outcome.errors.joined().contains(part), "\(outcome)")
        #expect(outcome.output.isEmpty)
    }

    @Test("help and version go to the standard output, with exit code 0")
    func helpAndVersion() async throws {
        let help = try await RunningProgram.run(Programs.service, ["--help"], environment: Programs.environment())
        #expect(help.code == 0 && help.errors.isEmpty && help.output.contains { $0.contains("--own-bus") }, "\(help)")
        let version = try await RunningProgram.run(
            Programs.service, ["--version"], environment: Programs.environment())
        #expect(version.code == 0 && version.output.count == 1, "\(version)")
    }

    @Test("SIGTERM, SIGINT and SIGHUP release the name, with exit code 0", arguments: [SIGTERM, SIGINT, SIGHUP])
    func endSignals(_ signal: Int32) async throws {
        let service = try await LiveService.start()
        #expect(try await service.orderBox("Kitchen").output == ["x 1"])
        service.program.signal(signal)
        let outcome = await service.program.outcome()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.errors.contains { $0.contains("released \(LiveService.name)") }, "\(outcome)")
        #expect(try await !hasOwner(service))
        // It can come back at once.
        try await service.restart()
        #expect(try await service.orderBox("Hall").output == ["x 2"])
    }

    @Test(
        "with closed standard descriptors it serves until it is asked to end",
        arguments: ["1>&- 2>&-", "0<&- 2>&-", "0<&- 1>&- 2>&-"])
    func closedDescriptors(_ closed: String) async throws {
        let bus = try PrivateBus()
        let state = try TestFolder()
        let program = try RunningProgram(
            "/bin/sh",
            ["-c", "exec \"$0\" \"$@\" \(closed)", Programs.service, "--bus", bus.address]
                + ["--state-directory", state.path],
            environment: Programs.environment())
        let call = [
            "--address=\(bus.address)", "call", LiveService.name, LiveService.object, LiveService.interface, "OrderBox",
            "si", "Kitchen", "10",
        ]
        func order() async throws -> [String] {
            try await RunningProgram.run("busctl", call, environment: Programs.environment()).output
        }
        var first: [String] = []
        let end = ContinuousClock.now + .seconds(30)
        while first.isEmpty, program.exit == nil, ContinuousClock.now < end { first = try await order() }
        #expect(first == ["x 1"])
        // By now it has written lines of its log, which must not count as requests to end.
        #expect(try await order() == ["x 2"])
        #expect(program.exit == nil)
        #expect(await program.terminate().code == 0)
    }

    @Test("it ends with exit code 69 when the bus goes away")
    func busGoes() async throws {
        let service = try await LiveService.start()
        await service.bus.stop()
        let outcome = await service.program.outcome()
        #expect(outcome.code == 69, "\(outcome)")
        #expect(outcome.errors.contains { $0.contains("error:") && $0.contains("went away") }, "\(outcome)")
    }

    @Test("a hundred kinds of wrong calls leave it serving")
    func survivesWrongCalls() async throws {
        let service = try await LiveService.start()
        let stray = ["OrderBox", "Attach", "Get", "Set", "Introspect", "Ping", "Nothing"]
        let interfaces = [LiveService.interface, "org.eventrelay.Stream1", "org.freedesktop.DBus.Properties", "a.b"]
        let arguments = [[], ["u", "1"], ["as", "0"], ["ttas", "1", "2", "0"]]
        for member in stray {
            for interface in interfaces {
                for argument in arguments {
                    _ = try await service.run(
                        "busctl",
                        ["--address=\(service.address)", "call", LiveService.name, LiveService.object, interface]
                            + [member] + argument)
                }
            }
        }
        #expect(service.program.exit == nil)
        #expect(try await service.orderBox("Kitchen").output == ["x 1"])
    }
}
