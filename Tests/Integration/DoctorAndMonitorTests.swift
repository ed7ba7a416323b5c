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

    @Test("doctor takes no name, starts nothing and changes no file, for no moment")
    func changesNothing() async throws {
        let service = try await LiveService.start()
        #expect(try await service.orderBox("Kitchen").code == 0)
        // A name that the bus could start: nobody may.
        let home = try TestFolder()
        // With a ring, which doctor looks at.
        let watcher = try service.cli("watch")
        try await watcher.line(containing: "watching")
        let monitor = try RunningProgram("dbus-monitor", ["--address", service.address])
        try await monitor.line(containing: "NameLost")
        let (files, names) = (try Self.files(in: home.path), try Self.files(in: service.state.path).keys)
        let doctor = try RunningProgram(
            Programs.cli, ["--bus", service.address, "doctor"],
            environment: Programs.environment(["HOME": home.path, "XDG_STATE_HOME": home.path + "/state"]))
        let outcome = await doctor.outcome()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(try Self.files(in: home.path) == files && Self.files(in: service.state.path).keys == names)
        let first = try #require(outcome.output.first)
        let name = try #require(first.firstMatch(of: /this program is (:1\.\d+)/)?.1)
        // What comes behind all of it.
        #expect(try await service.orderBox("Hall").code == 0)
        try await monitor.line(containing: "string \"Hall\"")
        let calls = monitor.output.filter { $0.hasPrefix("method call") && $0.contains("sender=\(name) ") }
        let members = Set(calls.compactMap { $0.firstMatch(of: /member=(\w+)/).map { String($0.1) } })
        #expect(members.isSuperset(of: ["Attach", "Status", "Introspect"]), "\(members)")
        #expect(
            members.isSubset(of: [
                "Hello", "AddMatch", "ListNames", "ListActivatableNames", "GetNameOwner", "GetConnectionUnixUser",
                "GetConnectionUnixProcessID", "GetStats", "Introspect", "Attach", "Status", "OpenRing", "CloseRing",
                "Received",
                // Of a bridge, if there is one.
                "Schemas", "GetDocument",
            ]), "\(members)")
        for program in [monitor, watcher] { _ = await program.terminate() }
    }
    /// The files below a folder, with what changes when they are written.
    private static func files(in folder: String) throws -> [String: [Int]] {
        var found: [String: [Int]] = [:]
        var waiting = [folder]
        while let folder = waiting.popLast() {
            let directory = try #require(opendir(folder))
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                var status = stat()
                guard name != ".", name != "..", lstat("\(folder)/\(name)", &status) == 0 else { continue }
                found["\(folder)/\(name)"] = [
                    Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                ]
                if status.st_mode & S_IFMT == S_IFDIR { waiting.append("\(folder)/\(name)") }
            }
        }
        return found
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

    @Test("a watch that names no service takes the first that comes, whatever its name")
    func anyService() async throws {
        let bus = try PrivateBus()
        let state = try TestFolder()
        let watch = try RunningProgram(
            Programs.cli, ["--bus", bus.address, "watch"], environment: Programs.environment())
        try await watch.line(containing: "waiting for a service of Relay on the bus at \(bus.address)")
        let service = try RunningProgram(
            Programs.service,
            ["--bus", bus.address, "--state-directory", state.path, "--name", "org.example.Removals"],
            environment: Programs.environment())
        try await watch.line(containing: "watching org.example.Removals")
        #expect(await watch.terminate().code == 0)
        _ = await service.terminate()
        let over = try await RunningProgram.run(
            Programs.cli, ["--bus", bus.address, "watch", "--for", "0.2"], environment: Programs.environment())
        #expect(over.code == 0 && over.errors.count == 1, "\(over)")
    }

    @Test("of a primary and a secondary service the primary is meant, and doctor examines both")
    func secondary() async throws {
        let home = try TestFolder()
        let folder = home.path + "/dbus-1/services"
        try #require(mkdir(home.path + "/dbus-1", 0o700) == 0 && mkdir(folder, 0o700) == 0)
        for (name, kind) in [("org.example.First", "--always"), ("org.example.Second", "--secondary")] {
            let rendered = try await RunningProgram.run(
                Programs.sources + "/../../scripts/render-units",
                ["--name", name, "--exec", Programs.service, kind, home.path])
            try #require(rendered.code == 0, "\(rendered)")
            #expect(rename("\(home.path)/share/dbus-1/services/\(name).service", "\(folder)/\(name).service") == 0)
        }
        let state = try TestFolder()
        let bus = try PrivateBus(limits: .session, policy: "<servicedir>\(folder)</servicedir>")
        let environment = Programs.environment(["XDG_DATA_HOME": home.path])
        let second = try RunningProgram(
            Programs.service, ["--bus", bus.address, "--domain", "telemetry", "--name", "org.example.Second"],
            environment: environment)
        let first = try RunningProgram(
            Programs.service,
            ["--bus", bus.address, "--state-directory", state.path, "--name", "org.example.First"],
            environment: environment)
        for program in [first, second] { try await program.line(containing: "ready") }
        let status = try await RunningProgram.run(
            Programs.cli, ["--bus", bus.address, "status"], environment: environment)
        #expect(status.code == 0 && status.output.first?.hasPrefix("org.example.First,") == true, "\(status)")
        let doctor = try await RunningProgram.run(
            Programs.cli, ["--bus", bus.address, "doctor"], environment: environment)
        #expect(doctor.code == 0, "\(doctor)")
        for name in ["org.example.First", "org.example.Second"] {
            #expect(doctor.output.contains(name), "\(doctor)")
            #expect(doctor.output.contains { $0.hasPrefix("ok       name         '\(name)' is owned by") }, "\(doctor)")
        }
        for program in [first, second] { _ = await program.terminate() }
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
