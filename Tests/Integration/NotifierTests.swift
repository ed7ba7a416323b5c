import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// The events of the reference service, with titles that it would refuse.
private enum Boxes1: EventInterface {
    static let name = "org.eventrelay.Relocation1"
    static var contract: Contract<Self> { BoxReady.self }
}
private struct BoxReady: DomainEvent {
    typealias Interface = Boxes1
    static let name = "BoxProvisioned"
    let boxID: Int64
    let capacity: Int32
    let title: String
}

/// `Examples/notifier`: its script, killed and with hostile titles; and its unit.
@Suite("The notifier example", .heavy, .tags(.g2, .g6)) struct NotifierTests {
    fileprivate static let folder: String = {
        let path = Programs.sources + "/../../Examples/notifier"
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }()

    /// A service that says anything, and a notifier whose `notify-send` writes down what it is given.
    private final class Site: Sendable {
        let bus: PrivateBus
        let folder: TestFolder
        let service: EventService

        init() async throws {
            (bus, folder) = (try PrivateBus(), try TestFolder())
            service = try EventService(
                name: "org.eventrelay.Service1", on: bus.bus, exporting: Boxes1.self, journal: MemoryLog())
            try await service.start()
            mkdir(folder.path + "/bin", 0o700)
            // Each argument on a line of its own; a line's end within one would show. With a file `wait` it stands still.
            try folder.write(
                """
                #!/bin/bash
                echo $$ >"$0.pid"
                while [ -e "$0.wait" ]; do sleep 0.05; done
                printf '<%s>\\n' "$@" >>"$0.log"
                [ ! -e "$0.fails" ]
                """, to: "bin/notify-send")
            chmod(folder.path + "/bin/notify-send", 0o700)
        }
        func file(_ name: String) -> String { folder.path + "/bin/notify-send." + name }
        func set(_ name: String) throws { try folder.write("", to: "bin/notify-send." + name) }
        func unset(_ name: String) { unlink(file(name)) }
        func text(_ path: String) -> String {
            guard let file = fopen(path, "r") else { return "" }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = fread(&bytes, 1, bytes.count, file)
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
        /// What `notify-send` was given, a line an argument.
        var log: [String] { text(file("log")).split(separator: "\n").map(String.init) }
        /// The bodies alone, in their order.
        var bodies: [String] {
            let log = log
            return log.indices.filter { $0 % 4 == 3 }.map { String(log[$0].dropFirst().dropLast()) }
        }
        var places: String { folder.path + "/places" }

        func order(_ boxID: Int64, _ title: String, capacity: Int32 = 20) async throws {
            try await service.publish(BoxReady(boxID: boxID, capacity: capacity, title: title))
        }
        /// - Parameter output: where its own output goes; nil: to the test.
        func start(_ arguments: String..., hasDisplay: Bool = true, output: String? = nil) throws -> RunningProgram {
            let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
            var more = [
                "PATH": folder.path + "/bin:" + path, "DBUS_SESSION_BUS_ADDRESS": bus.address,
                "RELAY_CLI": Programs.cli, "STATE_DIRECTORY": places, "HOME": folder.path,
            ]
            if hasDisplay { more["DISPLAY"] = ":9" }
            let (program, environment) = (NotifierTests.folder + "/notifier", Programs.environment(more))
            guard let output else { return try RunningProgram(program, arguments, environment: environment) }
            return try RunningProgram(
                "/bin/sh", ["-c", "exec \"$0\" \"$@\" >\(output)", program] + arguments, environment: environment)
        }
        /// Starts it again after a kill: the relay-cli that has lost its reader holds the place a little longer.
        func restart() async throws -> RunningProgram {
            while true {
                let program = try start()
                // It says that it watches, or why not.
                try await program.line(containing: "relay-cli: ")
                let isRefused = program.errors.contains { $0.contains("is in use") }
                if !isRefused { return program }
                #expect(await program.outcome().code == 75)
            }
        }
        /// `notify-send` as it stands still, after its notifier has been killed.
        func killNotifySend() throws {
            let process = try #require(Int32(text(file("pid")).split(separator: "\n").first ?? ""))
            kill(process, SIGKILL)
        }
        func stop() async throws { try await service.stop() }
    }

    @Test("titles of any kind arrive as they are, run nothing, and each makes one notification")
    func hostileTitles() async throws {
        let site = try await Site()
        let notifier = try site.start()
        let mark = site.folder.path + "/ran"
        let titles = [
            "Kitchen", "$(touch \(mark))", "`touch \(mark)`", "'; touch \(mark); '", "\"; touch \(mark); \"", "--help",
            "-u critical", "a\nb", "a\tb", "a\u{1f}b", "\u{1b}]0;x\u{7}", "\\n \\033[2J \\",
            "<b>bold</b> & <a href='x'>", " spaces ", "", "*", "~", "%s%n", "\u{202e}txt", "Küche – 厨房",
        ]
        for (number, title) in titles.enumerated() { try await site.order(Int64(number), title) }
        #expect(await eventually { site.bodies.count == titles.count })
        #expect(
            site.bodies == [
                "Kitchen", "$(touch \(mark))", "`touch \(mark)`", "'; touch \(mark); '", "\"; touch \(mark); \"",
                "--help", "-u critical", "a\\\\u000ab", "a\\\\u0009b", "a\\\\u001fb", "\\\\u001b]0;x\\\\u0007",
                "\\\\n \\\\033[2J \\\\", "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;a href='x'&gt;", " spaces ", "", "*", "~",
                "%s%n", "\\\\u202etxt", "Küche – 厨房",
            ])
        #expect(Array(site.log.prefix(3)) == ["<--app-name=notifier>", "<-->", "<Box 0 for 20 items>"])
        #expect(access(mark, F_OK) != 0)
        #expect(await notifier.terminate().code == 0)
        try await site.stop()
    }
    @Test("only what the expression admits is notified of; without a display, and where it fails, it is printed")
    func filterAndFallback() async throws {
        let site = try await Site()
        let printing = try site.start("--where", "capacity < 10", "--name", "small", hasDisplay: false)
        try site.set("fails")
        let failing = try site.start("--name", "large")
        try await site.order(1, "$(date)", capacity: 20)
        try await site.order(2, "Spoons", capacity: 5)
        #expect(await eventually { printing.output == ["Box 2 for 5 items: Spoons"] })
        #expect(await eventually { failing.output == ["Box 1 for 20 items: $(date)"] })
        #expect(await printing.terminate().output.count == 1)
        #expect(await failing.terminate().output.count == 1)
        try await site.stop()
    }
    @Test("what it could not print is not noted as notified: it ends with exit code 74, and the event comes again")
    func fullOutput() async throws {
        let site = try await Site()
        let full = try site.start("--to", "stdout", output: "/dev/full")
        try await site.order(1, "one")
        let notified = site.places + "/notifier.notified"
        #expect(await eventually { full.exit != nil || site.text(notified).contains(".1\n") })
        try #require(full.exit != nil, "it is noted")
        #expect(full.exit == .code(74) && !site.text(notified).contains(".1\n"))
        // The relay-cli that has lost its reader holds the place a little longer.
        var lines: [String] = []
        while lines.isEmpty {
            let again = try site.start("--to", "stdout")
            #expect(await eventually { !again.output.isEmpty || again.exit != nil })
            lines = await again.terminate().output
        }
        #expect(lines == ["Box 1 for 20 items: one"])
        try await site.stop()
    }
    @Test("killed while it waits, and killed within a notification, it goes on with each event once")
    func killed() async throws {
        let site = try await Site()
        let first = try site.start()
        try await site.order(1, "one")
        // Noted down: from then on it may not come again.
        let notified = site.places + "/notifier.notified"
        #expect(await eventually { site.text(notified).contains(".1\n") })
        first.signal(SIGKILL)
        _ = await first.outcome()
        for number in Int64(2)...3 { try await site.order(number, "\(number)") }

        try site.set("wait")
        site.unset("pid")
        let second = try await site.restart()
        // Within the notification of the second one, before anybody has seen it; the third is in the pipe, unread.
        #expect(await eventually { site.text(site.file("pid")).hasSuffix("\n") })
        second.signal(SIGKILL)
        try site.killNotifySend()
        _ = await second.outcome()
        site.unset("wait")

        let third = try await site.restart()
        try await site.order(4, "four")
        #expect(await eventually { site.bodies.count >= 4 })
        #expect(site.bodies == ["one", "2", "3", "four"])
        #expect(await third.terminate().code == 0)
        try await site.stop()
    }
    @Test("asked to end within a notification it finishes that one, and does not repeat it")
    func asked() async throws {
        let site = try await Site()
        try site.set("wait")
        let first = try site.start()
        try await site.order(1, "one")
        try await site.order(2, "two")
        #expect(await eventually { access(site.file("pid"), F_OK) == 0 })
        first.signal(SIGTERM)
        site.unset("wait")
        #expect(await first.outcome().code == 0)
        #expect(site.bodies == ["one"])
        let second = try await site.restart()
        #expect(await eventually { site.bodies == ["one", "two"] })
        #expect(await second.terminate().code == 0)
        try await site.stop()
    }
    @Test("a second notifier of a name is refused; wrong options are 64, which systemd does not try again")
    func refused() async throws {
        let site = try await Site()
        let first = try site.start()
        try await site.order(1, "one")
        #expect(await eventually { site.bodies == ["one"] })
        #expect(try await site.start().outcome().code == 75)
        for arguments in [["--to", "mail"], ["--name", "a/b"], ["--name", ""], ["--where"], ["now", "then"]] {
            let outcome = try await RunningProgram.run(
                Self.folder + "/notifier", arguments, environment: Programs.environment(["HOME": site.folder.path]))
            #expect(outcome.code == 64 && outcome.errors.count == 1, "\(arguments): \(outcome)")
        }
        let wrong = try await site.start("--name", "b", "--where", "capacity >").outcome()
        #expect(wrong.code == 64, "\(wrong)")
        #expect(await first.terminate().code == 0)
        try await site.stop()
    }
    @Test("the unit is one that systemd understands, and is not without protection")
    func unit() async throws {
        let folder = try TestFolder()
        // The program is where the test can have it.
        let text = try Programs.text("Examples/notifier/notifier.service")
        let unit = folder.path + "/notifier.service"
        try folder.write(
            text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                guard line.hasPrefix("ExecStart=") else { return String(line) }
                return "ExecStart=\(Self.folder)/notifier" + String(line.drop { $0 != " " })
            }.joined(separator: "\n"), to: "notifier.service")
        let environment = Programs.environment(["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path])
        let verified = try await RunningProgram.run(
            "systemd-analyze", ["verify", "--user", "--man=no", unit], environment: environment)
        #expect(
            verified.code == 0 && !verified.errors.contains { $0.contains("notifier.service") }, "\(verified)")
        // A person's own systemd has few protections to give: what a system's unit has beyond is not counted on.
        let security = try await RunningProgram.run(
            "systemd-analyze", ["security", "--offline=true", "--threshold=65", unit], environment: environment)
        #expect(security.code == 0, "\(security.output.suffix(2)) \(security.errors)")
    }
}
