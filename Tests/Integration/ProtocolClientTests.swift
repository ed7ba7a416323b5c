import Glibc
import RelayTestKit
import TestTraits
import Testing

/// docs/internals/PROTOCOL.md and docs/internals/RING.md are enough to write a client from: `Examples/python` was.
@Suite("A client written from the pages alone", .heavy, .tags(.g2, .g6)) struct ProtocolClientTests {
    private func client(_ service: LiveService, _ options: [String]) throws -> RunningProgram {
        // Its modules are not to be compiled into a folder of the sources.
        try RunningProgram(
            "/usr/bin/python3",
            ["-B", "\(Programs.sources)/../../Examples/python/relay_client.py", "--bus", service.address] + options)
    }
    private func sequence(_ service: LiveService, _ interface: String) async throws -> Int {
        let path = "/org/eventrelay/\(interface)"
        let stream = "org.eventrelay.Stream1"
        let answer = try await service.run(
            "busctl", ["--address=\(service.address)", "get-property", LiveService.name, path, stream, "Sequence"])
        return try #require(answer.output.first?.split(separator: " ").last.flatMap { Int($0) })
    }
    /// The gaps of a volatile interface's runs; an issue if anything is neither an event nor in a gap, or is twice.
    private func gaps(_ lines: [String]) throws -> [String] {
        var next = 1
        var gaps: [String] = []
        for line in lines {
            let words = line.split(separator: " ")
            let first = try #require(Int(words[1]))
            #expect(first == next, "\(line)")
            if words[0] == "gap" { gaps.append(line) }
            next = words[0] == "event" ? first + 1 : Int(words[2]).map { $0 + 1 } ?? 1
        }
        return gaps
    }

    @Test(
        "it has every event once and in order, though the service is killed again and again",
        arguments: [[], ["--ring"]])
    func killed(_ options: [String]) async throws {
        let service = try await LiveService.start()
        #expect(try await service.orderBox("Before").code == 0)
        let client = try client(service, options + [LiveService.interface])
        for round in 1...3 {
            for number in 1...6 { #expect(try await service.orderBox("Box \(round) \(number)").code == 0) }
            // Those under way may be committed or not, and sent or not.
            async let first = service.orderBox("late")
            async let second = service.orderBox("later")
            service.program.signal(SIGKILL)
            _ = await service.program.outcome()
            _ = try await (first, second)
            try await service.restart()
        }
        let last = try await sequence(service, "Relocation1")
        #expect(last >= 19)
        #expect(await eventually { client.output.count >= last })
        // Its number, and which number the box has: what came by signal, by ring and from the journal reads the same.
        let starts = (1...last).map { "event \($0) BoxProvisioned {\"boxID\": \($0), \"capacity\": 10, " }
        #expect(client.output.count == last)
        for (line, start) in zip(client.output, starts) { #expect(line.hasPrefix(start), "\(line)") }
        _ = await client.terminate()
    }

    @Test("it prints what its page shows: a kill, a position that was kept, a journal that was replaced")
    func page() async throws {
        let service = try await LiveService.start()
        let folder = try TestFolder()
        let options = ["--position", "\(folder.path)/position", LiveService.interface]
        #expect(try await service.orderBox("Kitchen").code == 0)
        let first = try client(service, options)
        try await first.line(containing: "Kitchen")
        service.program.signal(SIGKILL)
        _ = await service.program.outcome()
        try await service.restart()
        #expect(try await service.orderBox("Hall", 5).code == 0)
        try await first.line(containing: "Hall")
        #expect(await first.terminate().code == 0)
        #expect(try await service.orderBox("Attic").code == 0)
        let second = try client(service, options)
        try await second.line(containing: "Attic")
        service.program.signal(SIGTERM)
        _ = await service.program.outcome()
        #expect(try await service.run("find", [service.state.path, "-mindepth", "1", "-delete"]).code == 0)
        try await service.restart()
        #expect(try await service.orderBox("Shed").code == 0)
        try await second.line(containing: "Shed")
        #expect(await second.terminate().code == 0)
        let page = try Programs.text("Examples/python/README.md").split(separator: "\n").map(String.init)
        let shown = page.filter { $0.hasPrefix("    event ") || $0.hasPrefix("    gap ") }.map {
            String($0.dropFirst(4))
        }
        #expect(first.output + second.output == shown)
    }

    @Test(
        "what it lacks, or cannot use, is one line that says what to do, and an exit code",
        arguments: [
            (["--bus", "unix:path=/nowhere", "no name"], Int32(64), "'no name' is no D-Bus name: give one"),
            ([LiveService.interface], 69, "no session bus: "),
            (["--bus", "unix:path=/nowhere", "--position", "/dev/null", LiveService.interface], 65, "'/dev/null': "),
        ])
    func refusals(_ options: [String], _ code: Int32, _ part: String) async throws {
        try await refuses(options, code, part)
    }
    @Test(
        "a module that is not installed is named, with the package that has it",
        arguments: [
            ("gi", "install Debian's packages python3-gi and gir1.2-glib-2.0"), ("relay_ring", "copy relay_ring.py"),
        ])
    func modules(_ module: String, _ part: String) async throws {
        // Modules beside a program come before those that are installed.
        let folder = try TestFolder()
        let script = "cp Examples/python/*.py \(folder.path); echo 'raise ImportError(1)' >\(folder.path)/\(module).py"
        let prepared = try RunningProgram("/bin/sh", ["-c", "cd \(Programs.sources)/../..; \(script)"])
        try #require(await prepared.outcome().code == 0)
        try await refuses([LiveService.interface], 69, part, program: folder.path + "/relay_client.py")
    }
    private func refuses(
        _ options: [String], _ code: Int32, _ part: String,
        program: String = "\(Programs.sources)/../../Examples/python/relay_client.py"
    ) async throws {
        let without = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY"].flatMap { ["-u", $0] }
        let client = try RunningProgram("/usr/bin/env", without + ["/usr/bin/python3", "-B", program] + options)
        let outcome = await client.outcome()
        #expect(outcome.code == code && outcome.errors.count == 1, "\(outcome)")
        let error = outcome.errors.first ?? ""
        #expect(error.hasPrefix("relay_client.py: ") && error.contains(part), "\(error)")
    }

    @Test("what a paused or killed volatile service did not send is a gap, and nothing else is")
    func volatile() async throws {
        // Beyond the signal budget of 2,000 a second.
        let service = try await LiveService.start(domain: "telemetry", "--rate", "5000")
        let client = try client(service, ["org.eventrelay.Telemetry1"])
        try await client.line(containing: "lost")
        service.program.signal(SIGKILL)
        _ = await service.program.outcome()
        try await client.line(containing: "the service is gone")
        try await service.restart()
        // It has counted from 1 again.
        #expect(
            await eventually {
                client.output.last { $0.contains("event") } != client.output.first { $0.contains("event") }
            })
        _ = await client.terminate()
        let gaps = try gaps(client.output)
        #expect(gaps.contains { $0.hasSuffix("lost") })
        #expect(gaps.count { $0.hasSuffix("? the service is gone") } == 1)
    }

    @Test("it reads a ring whose writer has overtaken it, to its end, and what it did not see is a gap")
    func lapped() async throws {
        let service = try await LiveService.start(domain: "telemetry", "--rate", "10000")
        let client = try client(service, ["--ring", "--new", "org.eventrelay.Telemetry1"])
        try await client.line(containing: "event")
        client.signal(SIGSTOP)
        let start = try await sequence(service, "Telemetry1")
        // A record has more than 80 bytes, and the ring 4 MiB.
        #expect(try await eventually { try await sequence(service, "Telemetry1") > start + 60_000 })
        client.signal(SIGCONT)
        service.program.signal(SIGTERM)
        _ = await service.program.outcome()
        _ = await client.terminate()
        let lines = client.output
        let first = try #require(lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        let gaps = try gaps(["gap 1 \(first - 1)"] + lines).dropFirst()
        #expect(gaps.contains { $0.hasSuffix("lost") })
        // A run that ends in good order leaves nothing open.
        #expect(!gaps.contains { $0.contains("?") })
    }
}
