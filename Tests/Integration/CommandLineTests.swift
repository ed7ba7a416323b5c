import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// `relay-cli call` and `list` against a live service: what they print, and how they end.
@Suite("relay-cli call and list", .heavy, .tags(.g8)) struct CommandLineTests {
    @Test("call prints the reply by its names, or as JSON")
    func replies() async throws {
        let service = try await LiveService.start()
        let text = try await service.runCLI("call", "OrderBox", "label=Kitchen", "capacity=10")
        #expect(text.code == 0 && text.output == ["boxID=1"] && text.errors.isEmpty, "\(text)")
        let json = try await service.runCLI("--json", "call", "OrderBox", "label=Küche", "capacity=5")
        #expect(json.code == 0 && json.output == [#"{"boxID":2}"#], "\(json)")
        let contents = try await service.runCLI("--json", "call", "Contents")
        let boxes =
            #","sequence":2,"boxes":[{"boxID":1,"capacity":10,"title":"Kitchen"},"#
            + #"{"boxID":2,"capacity":5,"title":"Küche"}],"items":[],"next":null}"#
        #expect(contents.code == 0 && contents.output.joined().hasSuffix(boxes), "\(contents)")
        let second = try await service.runCLI(
            "--json", "call", "Contents", #"after={"boxID":1,"itemID":0}"#, "limit=1")
        #expect(second.output.joined().hasSuffix(#""title":"Küche"}],"items":[],"next":null}"#), "\(second)")
    }

    @Test("get prints a document's present state; one that only its service sets is not set")
    func documents() async throws {
        let service = try await LiveService.start(domain: "relocation,inventory")
        _ = try await service.runCLI("call", "OrderBox", "label=Kitchen", "capacity=10")
        let json = try await service.runCLI("--json", "get", "Inventory")
        let inventory =
            #"{"boxes":[{"boxID":1,"capacity":10,"itemCount":0,"title":"Kitchen"}],"isWhole":true}"#
        #expect(json.code == 0 && json.output == [inventory] && json.errors.isEmpty, "\(json)")
        let set = try await service.runCLI("set", "Inventory", "isWhole=false")
        #expect(set.code == 64 && set.output.isEmpty && "\(set.errors)".contains("read only"), "\(set)")
    }

    @Test(
        "each kind of failure has its exit code, and a message that names what is wrong",
        arguments: [
            (["call", "OrderBox", "label=A", "capacity=7"], 1, "InvalidCapacity"),
            (["call", "OrderBx", "label=A", "capacity=5"], 64, "OrderBox"),
            (["call", "OrderBox", "lable=A", "capacity=5"], 64, "label"),
            (["call", "OrderBox", "label=A"], 64, "capacity"),
            (["call", "OrderBox", "label=A", "capacity=ten"], 65, "ten"),
            (["call", "OrderBox", "label=A", "capacity=2147483648"], 65, "2147483648"),
            (["call", "RemoveBox", "boxID=99"], 1, "UnknownBox"),
            (["watch", "BoxProvisoned"], 64, "did you mean 'BoxProvisioned'?"),
            (["wotch"], 64, "watch"),
            (["watch", "--count", "none"], 64, "none"),
            (["--service", "org.example.Absent", "call", "Anything"], 69, "org.example.Absent"),
            (["--service", "org.example.Absent", "watch", "--no-wait"], 69, "org.example.Absent"),
        ])
    func failures(_ arguments: [String], _ code: Int32, _ part: String) async throws {
        let service = try await LiveService.start()
        let outcome = try await RunningProgram.run(
            Programs.cli, ["--bus", service.address] + arguments, environment: Programs.environment())
        #expect(outcome.code == code, "\(outcome)")
        #expect(outcome.errors.joined(separator: "\n").contains(part), "\(outcome)")
        #expect(outcome.output.isEmpty, "\(outcome)")
    }

    @Test("without a bus it says what to do")
    func noBus() async throws {
        let outcome = try await RunningProgram.run(
            Programs.cli, ["call", "Contents"],
            environment: Programs.environment(["XDG_RUNTIME_DIR": "/nonexistent", "TMPDIR": "/nonexistent"]))
        #expect(outcome.code == 69, "\(outcome)")
        #expect(outcome.errors.joined().contains("relay-service --own-bus"), "\(outcome)")
    }

    @Test("a service that does not answer in time is exit code 75")
    func timeout() async throws {
        let service = try await LiveService.start()
        service.program.signal(SIGSTOP)
        let outcome = try await service.runCLI("--timeout", "0.3", "call", "Contents")
        #expect(outcome.code == 75, "\(outcome)")
        service.program.signal(SIGCONT)
        #expect(try await service.runCLI("call", "Contents").code == 0)
    }

    @Test("list shows events, commands and properties with their fields")
    func list() async throws {
        let service = try await LiveService.start()
        let outcome = try await service.runCLI("list")
        #expect(outcome.code == 0, "\(outcome)")
        let text = outcome.output.joined(separator: "\n")
        for part in [LiveService.interface, "BoxProvisioned", "OrderBox", "Contents", "capacity", "boxID", "itemTitle"]
        {
            #expect(text.contains(part), "\(part) is not in:\n\(text)")
        }
    }

    @Test(
        "another user is not permitted to command the service: exit code 77",
        .enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "needs a second user"))
    func notPermitted() async throws {
        // The bus decides, as that of the system does.
        let policy = """
            <policy context="default"><allow user="*"/></policy>
            <policy user="nobody"><deny send_interface="org.eventrelay.Relocation1"/></policy>
            """
        let bus = try PrivateBus(limits: .session, policy: policy)
        try #require(chmod(bus.directory, 0o755) == 0)
        let state = try TestFolder()
        let service = try RunningProgram(
            Programs.service, ["--bus", bus.address, "--state-directory", state.path, "--admit", "anyone"],
            environment: Programs.environment())
        try await service.line(containing: "ready")
        // A build folder may be closed to others.
        let copy = bus.directory + "/relay-cli"
        defer { unlink(copy) }
        #expect(try await RunningProgram.run("cp", [Programs.cli, copy]).code == 0)
        let outcome = try await RunningProgram.run(
            "/usr/bin/setpriv",
            ["--reuid=65534", "--regid=65534", "--clear-groups", copy, "--bus", bus.address]
                + ["call", "OrderBox", "label=A", "capacity=5"],
            environment: Programs.environment())
        #expect(outcome.code == 77, "\(outcome)")
        #expect(outcome.errors.joined().contains("OrderBox"), "\(outcome)")
        // Nothing was ordered.
        let contents = try await RunningProgram.run(
            Programs.cli, ["--bus", bus.address, "--json", "call", "Contents"], environment: Programs.environment())
        #expect(contents.output.joined().hasSuffix(#","sequence":0,"boxes":[],"items":[],"next":null}"#), "\(contents)")
    }

    @Test(
        "of those whom a bus admits, the service admits its own user only, unless it is told otherwise",
        .enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "needs a second user"))
    func admission() async throws {
        let bus = try PrivateBus(limits: .session, policy: "<policy context=\"default\"><allow user=\"*\"/></policy>")
        try #require(chmod(bus.directory, 0o755) == 0)
        let copy = bus.directory + "/relay-cli"
        defer { unlink(copy) }
        #expect(try await RunningProgram.run("cp", [Programs.cli, copy]).code == 0)
        func stranger(_ words: String...) async throws -> RunningProgram.Outcome {
            try await RunningProgram.run(
                "/usr/bin/setpriv",
                ["--reuid=65534", "--regid=65534", "--clear-groups", copy, "--bus", bus.address] + words,
                environment: Programs.environment())
        }
        // Whoever opens a bus of their own to others lets them read, unless a requirement names somebody else.
        let cases: [(option: [String], call: Int32, history: Int32)] = [
            ([], 77, 0), (["--admit", "group:root"], 77, 77), (["--admit", "anyone"], 0, 0),
        ]
        for (option, callCode, historyCode) in cases {
            let state = try TestFolder()
            let service = try RunningProgram(
                Programs.service, ["--bus", bus.address, "--state-directory", state.path] + option,
                environment: Programs.environment())
            try await service.line(containing: "ready")
            let call = try await stranger("call", "OrderBox", "label=A", "capacity=5")
            let history = try await stranger("history")
            #expect(call.code == callCode, "\(option): \(call)")
            #expect(history.code == historyCode, "\(option): \(history)")
            #expect(await service.terminate().code == 0)
        }
    }
}
