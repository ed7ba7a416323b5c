import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing
import RelayWire

/// What `relay-cli` reports of a service that the bus cannot start.
@Suite("A service that cannot start is named with its reason", .heavy, .tags(.g8)) struct StartFailureTests {
    private static let unit = "relay-service.service"

    /// A bus with a D-Bus service file, which `relay-cli` finds as well.
    private final class Site {
        let bus: PrivateBus
        let home: TestFolder
        /// A program that waits for it ends with this test, however that ends.
        private let gate: Int32

        /// - Parameter exec: what the bus runs in the unit's place; nil: a program that never takes the name.
        init(exec given: String? = nil, unit: String? = StartFailureTests.unit) throws {
            home = try TestFolder()
            let path = home.path + "/gate"
            try #require(mkfifo(path, 0o600) == 0)
            gate = open(path, O_RDWR | O_CLOEXEC)
            let exec = given ?? "/bin/sh -c \"exec cat \(path) >/dev/null 2>&1\""
            let folder = home.path + "/dbus-1/services"
            try #require(mkdir(home.path + "/dbus-1", 0o700) == 0 && mkdir(folder, 0o700) == 0)
            let text =
                "[D-BUS Service]\nName=\(LiveService.name)\nX-Relay=true\nExec=\(exec)\n"
                + (unit.map { "SystemdService=\($0)\n" } ?? "")
            let file = open("\(folder)/\(LiveService.name).service", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try #require(file >= 0 && write(file, text, text.utf8.count) == text.utf8.count)
            close(file)
            bus = try PrivateBus(limits: .session, policy: "<servicedir>\(folder)</servicedir>")
        }
        deinit { close(gate) }
        func cli(_ arguments: String...) throws -> RunningProgram {
            try RunningProgram(
                Programs.cli, ["--bus", bus.address] + arguments,
                environment: Programs.environment(["XDG_DATA_HOME": home.path]))
        }
    }
    private static let failed: [String: DBusValue] = [
        "LoadState": .string("loaded"), "ActiveState": .string("failed"), "SubState": .string("failed"),
        "Result": .string("exit-code"), "ExecMainCode": .int32(1), "ExecMainStatus": .int32(73),
        "StatusText": .string("the journal cannot be opened"),
    ]
    private static let reason =
        "its unit relay-service.service has failed: exit code 73; it reported: the journal cannot be opened"
    private static let remedy =
        "see 'systemctl --user status relay-service.service' and 'journalctl --user -u relay-service.service'"

    @Test("a failed unit ends a call long before the bus gives up; watch names it, and goes on waiting; doctor fails")
    func unit() async throws {
        // The bus waits for it: 25 seconds, as for a unit that is slow.
        let site = try Site()
        let manager = try await ServiceManagerStandIn.join(site.bus.bus, unit: Self.unit, Self.failed)
        let doctor = await (try site.cli("doctor")).outcome()
        #expect(doctor.code == 1, "\(doctor)")
        #expect(doctor.output.contains { $0.hasPrefix("failed   unit         \(Self.reason)") }, "\(doctor)")
        #expect(doctor.output.contains { $0.hasSuffix("-> \(Self.remedy)") }, "\(doctor)")

        let begin = ContinuousClock.now
        let call = await (try site.cli("call", "OrderBox", "label=Kitchen", "capacity=10")).outcome()
        #expect(call.code == 69, "\(call)")
        #expect(call.output.isEmpty && call.errors.count == 1)
        let words = "relay-cli: '\(LiveService.name)' cannot start on the bus at \(site.bus.address): \(Self.reason)"
        #expect(call.errors.first?.hasPrefix(words) == true && call.errors.first?.hasSuffix(Self.remedy) == true)
        // Long before the 25 s of the bus: no latency is measured here, but which of two answers came.
        #expect(call.errors.first?.contains("timed out") == false && ContinuousClock.now - begin < .seconds(25))

        let watch = try site.cli("watch")
        try await watch.line(containing: words)
        try await watch.line(containing: "waiting for \(LiveService.name)")
        _ = await watch.terminate()
        let hasty = await (try site.cli("watch", "--no-wait")).outcome()
        #expect(hasty.code == 69 && hasty.errors.first?.hasPrefix(words) == true, "\(hasty)")
        // It looks only.
        #expect(Set(manager.calls) == ["GetUnit", "GetAll"])
        await site.bus.stop()
    }
    @Test("a unit that is tried again and again counts as one that cannot start; one that starts slowly is waited for")
    func restarts() async throws {
        let site = try Site()
        var properties = Self.failed
        properties["ActiveState"] = .string("activating")
        properties["SubState"] = .string("start")
        properties["Result"] = .string("success")
        let manager = try await ServiceManagerStandIn.join(site.bus.bus, unit: Self.unit, properties)
        let call = try site.cli("call", "OrderBox", "label=Kitchen", "capacity=10")
        // It was looked at, and waits.
        #expect(await eventually { manager.calls.count { $0 == "GetUnit" } >= 3 })
        #expect(call.exit == nil)
        let hasty = await (try site.cli("--timeout", "0.3", "call", "OrderBox", "label=Kitchen", "capacity=10"))
            .outcome()
        #expect(
            hasty.code == 75
                && hasty.errors.first
                    == "relay-cli: Introspect: '\(LiveService.name)' has not started within 0.3 seconds: its unit "
                    + "relay-service.service is activating (start); see 'systemctl --user status relay-service.service', or "
                    + "wait longer with --timeout SECONDS",
            "\(hasty)")
        properties["SubState"] = .string("auto-restart")
        properties["Result"] = .string("exit-code")
        properties["NRestarts"] = .uint32(3)
        manager.set(properties)
        let outcome = await call.outcome()
        #expect(outcome.code == 69, "\(outcome)")
        #expect(outcome.errors.first?.contains("fails at each start (3 restarts): exit code 73") == true, "\(outcome)")
        await site.bus.stop()
    }
    @Test("where the bus runs the program itself, its end is reported with the command line") func program()
        async throws
    {
        let site = try Site(exec: "/bin/false \"a b\"", unit: nil)
        let call = await (try site.cli("call", "OrderBox", "label=Kitchen", "capacity=10")).outcome()
        #expect(call.code == 69, "\(call)")
        #expect(
            call.errors.first?.contains("cannot start on the bus at \(site.bus.address): ") == true
                && call.errors.first?.hasSuffix(
                    "; run /bin/false, which exists and is executable, to see why: /bin/false 'a b'") == true,
            "\(call)")
        let missing = try Site(exec: "/nonexistent/program", unit: nil)
        let doctor = await (try missing.cli("doctor")).outcome()
        #expect(
            doctor.output.contains {
                $0.contains("failed   unit         the bus would run /nonexistent/program, which does not exist: ")
            }, "\(doctor)")
        for site in [site, missing] { await site.bus.stop() }
    }
}
