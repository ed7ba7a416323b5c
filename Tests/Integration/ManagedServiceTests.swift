import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// `relay-service` under a service manager: a stand-in for its socket, and systemd itself where it runs for this user.
@Suite("relay-service under systemd", .heavy, .tags(.g6)) struct ManagedServiceTests {
    @Test("it notifies the manager of start, reload and end, and feeds its watchdog") func standIn() async throws {
        let (bus, state, socket) = (try PrivateBus(), try TestFolder(), try NotifySocket())
        let program = try RunningProgram(
            Programs.service, ["--bus", bus.address, "--state-directory", state.path],
            environment: Programs.environment(["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "300000"]))
        #expect(await eventually { socket.count("READY=1") == 1 })
        #expect(await eventually { socket.count("WATCHDOG=1") > 2 })
        program.signal(SIGHUP)
        #expect(await eventually { socket.count("READY=1") == 2 })
        #expect(socket.count("RELOADING=1") == 1)
        try await program.line(containing: "reloaded")
        // It is one request to end, though SIGHUP came before.
        program.signal(SIGTERM)
        let outcome = await program.outcome()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(await eventually { socket.count("STOPPING=1") == 1 })
    }
    @Test("a reload reads the settings again: log level and rate at once, the rest later; wrong ones change nothing")
    func settings() async throws {
        let (bus, folder, socket) = (try PrivateBus(), try TestFolder(), try NotifySocket())
        let file = folder.path + "/some.conf"
        try folder.write("[Service]\nName=org.example.Figures\nDomain=telemetry\nRate=0.1\n", to: "some.conf")
        let program = try RunningProgram(
            Programs.service, ["--bus", bus.address, "--config", file],
            environment: Programs.environment(["NOTIFY_SOCKET": socket.path]))
        try await program.line(containing: "ready: org.example.Figures on ")
        try folder.write("[Service]\nDomain=telemetry\nrate=1\n", to: "some.conf")
        program.signal(SIGHUP)
        try await program.line(
            containing: "not reloaded, and all is as before: \(file):3: unknown key 'rate'; did you mean 'Rate'?")
        #expect(await eventually { socket.count("READY=1") == 2 })
        try folder.write("[Service]\nDomain=telemetry\nRate=100\nLogLevel=warning\n", to: "some.conf")
        program.signal(SIGHUP)
        try await program.line(containing: "changed, but only with the next start: Name")
        try await program.line(containing: "reloaded: log level warning, rate 100.0")
        // At the old rate, these would take minutes.
        let seen = try RunningProgram(
            Programs.cli, ["--bus", bus.address, "--service", "org.example.Figures", "watch", "--count", "50"],
            environment: Programs.environment())
        #expect(await seen.outcome().code == 0)
        program.signal(SIGTERM)
        #expect(await program.outcome().code == 0)
    }
    @Test("whenever reloads are asked for, none begins once the end was reported, and none is open then")
    func reloadsAtEnd() async throws {
        let bus = try PrivateBus()
        for _ in 0..<TestForm.rounds(6, soak: 200) {
            let (folder, socket) = (try TestFolder(), try NotifySocket())
            let program = try RunningProgram(
                Programs.service, ["--bus", bus.address, "--state-directory", folder.path],
                environment: Programs.environment(["NOTIFY_SOCKET": socket.path]))
            #expect(await eventually { socket.count("READY=1") == 1 })
            let hail = Task.detached {
                while program.exit == nil {
                    program.signal(SIGHUP)
                    usleep(.random(in: 0...300))
                }
            }
            let reloads = Int.random(in: 1...20)
            #expect(await eventually { socket.count("RELOADING=1") >= reloads })
            program.signal(SIGTERM)
            let outcome = await program.outcome()
            await hail.value
            #expect(outcome.code == 0, "\(outcome)")
            let said = try await socket.settledLines()
                .filter { ["READY=1", "RELOADING=1", "STOPPING=1"].contains($0) }
            #expect(said.last == "STOPPING=1" && said.count { $0 == "STOPPING=1" } == 1, "\(said.suffix(5))")
            // In turns, beginning with the start.
            let (even, odd) = (said.indices.filter { $0 % 2 == 0 }, said.indices.filter { $0 % 2 == 1 })
            #expect(even.allSatisfy { said[$0] == "READY=1" }, "\(said.suffix(5))")
            #expect(odd.dropLast().allSatisfy { said[$0] == "RELOADING=1" }, "\(said.suffix(5))")
        }
    }
    @Test("SIGHUP before SIGTERM is one request to end, with no manager", arguments: 1...3) func hangUp(_: Int)
        async throws
    {
        let service = try await LiveService.start()
        service.program.signal(SIGHUP)
        service.program.signal(SIGTERM)
        let outcome = await service.program.outcome()
        #expect(outcome.code == 0, "\(outcome)")
    }
    @Test(
        "the rendered units are taken by systemd, for a user's bus and for the system's", arguments: ["user", "system"])
    func units(scope: String) async throws {
        let folder = try TestFolder()
        let rendered = try await RunningProgram.run(
            Programs.sources + "/../../scripts/render-units",
            [
                "--name", LiveService.name, "--exec", Programs.service, "--arguments=--\(scope) --idle-exit 30",
                "--scope", scope, "--user", "root", "--systemd", "--unit", "relay.service", folder.path,
            ], environment: Programs.environment())
        #expect(rendered.code == 0 && rendered.output.count == 2, "\(rendered)")
        let unit = folder.path + "/lib/systemd/\(scope)/relay.service"
        let outcome = try await RunningProgram.run(
            "systemd-analyze", ["verify", "--\(scope)", "--man=no", unit],
            environment: Programs.environment(["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]))
        #expect(outcome.code == 0 && !outcome.errors.contains { $0.contains("relay.service") }, "\(outcome)")
    }
    @Test(
        "a template's value that is missing, and a name that is none, are refused",
        arguments: [
            (["--name", "printer", "--exec", "/x", "/nonexistent"], "no bus name"),
            (["--name", "a.b", "--exec", "x", "/nonexistent"], "no absolute path"),
            (["--name", "a.b", "--exec", "/x", "--scope", "system", "/nonexistent"], "give --user"),
            (["--name", "a.b", "--exec", "/x", "--arguments", "1\nUser=root", "/nonexistent"], "more than one line"),
        ])
    func refusedUnits(_ arguments: [String], _ part: String) async throws {
        let outcome = try await RunningProgram.run(
            Programs.sources + "/../../scripts/render-units", arguments, environment: Programs.environment())
        #expect(outcome.code == 1 && outcome.errors.joined().contains(part), "\(outcome)")
    }
    @Test(
        "systemd starts, reloads and stops it",
        .enabled("no systemd runs for this user: the stand-in alone is tried") { try await UserManager.isRunning })
    func systemd() async throws {
        let (bus, state) = (try PrivateBus(), try TestFolder())
        let unit = "relay-test-\(getpid()).service"
        let started = try await UserManager.run(
            "systemd-run",
            [
                "--user", "--collect", "--unit", unit, "-p", "Type=notify", "-p", "NotifyAccess=main", "-p",
                "WatchdogSec=30", "-p", "ExecReload=/bin/kill -HUP $MAINPID", Programs.service, "--bus", bus.address,
                "--state-directory", state.path,
            ])
        #expect(started.code == 0, "\(started)")
        let status = try await UserManager.run("systemctl", ["--user", "show", "-p", "StatusText", unit])
        #expect(status.output == ["StatusText=serving \(LiveService.name)"], "\(status)")
        let reloaded = try await UserManager.run("systemctl", ["--user", "reload", unit])
        #expect(reloaded.code == 0, "\(reloaded)")
        let stopped = try await UserManager.run("systemctl", ["--user", "stop", unit])
        #expect(stopped.code == 0, "\(stopped)")
        let left = try await UserManager.run("systemctl", ["--user", "is-active", unit])
        #expect(left.output == ["inactive"], "\(left)")
    }
}

/// The systemd of this user, if there is one.
private enum UserManager {
    static var isRunning: Bool {
        get async throws { try await run("systemctl", ["--user", "show", "-p", "Version"]).code == 0 }
    }
    static func run(_ program: String, _ arguments: [String]) async throws -> RunningProgram.Outcome {
        var own: [String: String] = [:]
        for name in ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "HOME"] {
            if let value = getenv(name) { own[name] = String(cString: value) }
        }
        return try await RunningProgram.run(program, arguments, environment: Programs.environment(own))
    }
}
