import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// The commands of docs/OPERATING.md, as they stand there.
@Suite("The commands of OPERATING.md", .heavy, .tags(.g2, .g6)) struct OperatingTests {
    private static let journal = ".local/state/relay/journal.sqlite"
    private static let lastSequence = "SELECT sequence FROM relay_interfaces"

    /// What is to be true after each block. Before it there are the boxes Kitchen, Hall and Attic, with an item in the first.
    private static let checks: [String: @Sendable (Operator, [String]) async throws -> Void] = [
        "kept": { (_: Operator, shown: [String]) async throws in
            #expect(shown.contains { $0.contains("│ org.eventrelay.Relocation1 │ 4 ") }, "\(shown)")
        },
        "last": { (_: Operator, shown: [String]) async throws in
            #expect(shown.contains { $0.contains("│ 4        │") && $0.contains("ItemProvisioned") }, "\(shown)")
            #expect(shown.count { $0.contains("BoxProvisioned") } == 3, "\(shown)")
        },
        "names": { (_: Operator, shown: [String]) async throws in
            let rows = shown.map { $0.split(separator: " ").filter { $0 != "│" } }
            #expect(rows.contains { $0 == ["BoxProvisioned", "3", "0", "3"] }, "\(shown)")
            #expect(rows.contains { $0 == ["ItemProvisioned", "4", "0", "1"] }, "\(shown)")
        },
        "state": { (_: Operator, shown: [String]) async throws in
            #expect(shown.first?.hasSuffix(" from #1") ?? false, "\(shown)")
            #expect(shown.dropFirst() == ["box 1: Kitchen, 1 of 10", "box 2: Hall, 0 of 10", "box 3: Attic, 0 of 10"])
        },
        "contents": { (_: Operator, shown: [String]) async throws in
            let boxes = #"{"boxID":2,"capacity":10,"title":"Hall"},{"boxID":3,"capacity":10,"title":"Attic"}],"#
            let rest = boxes + #""items":[{"itemID":1,"boxID":1,"title":"Kettle"}],"next":null}"#
            #expect(shown.count == 2 && shown.allSatisfy { $0.hasSuffix(rest) }, "\(shown)")
            #expect(shown.map { $0.contains("Kitchen") } == [true, false], "\(shown)")
        },
        "backup": { (someone: Operator, _: [String]) async throws in
            let name = try await someone.succeed("ls ~/backup").joined()
            #expect(try await someone.query("backup/\(name)", "PRAGMA integrity_check") == ["ok"])
            #expect(try await someone.query("backup/\(name)", lastSequence) == ["4"])
        },
        "vacuum-into": { (someone: Operator, _: [String]) async throws in
            #expect(try await someone.query("backup/relay.sqlite", "PRAGMA integrity_check") == ["ok"])
            #expect(try await someone.query("backup/relay.sqlite", lastSequence) == ["4"])
        },
        "restore": { (someone: Operator, _: [String]) async throws in
            // The backup was made before the box "Later".
            #expect(try await someone.boxes() == ["Kitchen", "Hall", "Attic"])
            #expect(try await someone.order("Garage") == ["boxID=4"])
            #expect(try await someone.query(journal, lastSequence) == ["5"])
            #expect(try await someone.succeed("stat -c %a ~/\(journal)") == ["600"])
        },
        "move": { (someone: Operator, _: [String]) async throws in
            #expect(try await someone.boxes() == ["Kitchen", "Hall", "Attic"])
            #expect(try await someone.order("Garage") == ["boxID=4"])
            #expect(try await someone.query("relay-state/journal.sqlite", lastSequence) == ["5"])
            #expect(try await someone.succeed("ls ~/.local/state/relay | grep sqlite || true").isEmpty)
        },
        "empty-events": { (someone: Operator, _: [String]) async throws in
            #expect(try await someone.boxes() == ["Kitchen", "Hall", "Attic"])
            #expect(try await someone.order("Garage") == ["boxID=4"])
            #expect(try await someone.query(journal, "SELECT sequence FROM relay_events") == ["5"])
            #expect(
                try await someone.query(
                    journal, "SELECT name, last, pruned FROM relay_names WHERE last > 0 ORDER BY last") == [
                        "ItemProvisioned|4|4", "BoxProvisioned|5|3",
                    ])
        },
        "empty-all": { (someone: Operator, _: [String]) async throws in
            #expect(try await someone.boxes().isEmpty)
            #expect(try await someone.order("Garage") == ["boxID=1"])
            #expect(try await someone.query(journal, lastSequence) == ["1"])
        },
        "size": { (_: Operator, shown: [String]) async throws in
            #expect(shown.first?.hasSuffix("total") ?? false, "\(shown)")
            #expect(shown.count == 3, "\(shown)")
        },
        "check": { (_: Operator, shown: [String]) async throws in
            #expect(
                shown.count == 1 && shown[0].contains("journal.sqlite is sound: 4 events of 1 interface, "), "\(shown)")
        },
        "cursor": { (someone: Operator, _: [String]) async throws in
            #expect(
                try await someone.succeed("ls ~/.local/state/relay/cursors/relay-cli/org.eventrelay.Service1").isEmpty)
        },
    ]

    @Test("each block does what the page says of it", arguments: checks.keys.sorted())
    func block(_ name: String) async throws {
        let someone = try await Operator()
        for label in ["Kitchen", "Hall", "Attic"] { _ = try await someone.order(label) }
        try await someone.succeed("relay-cli call DistributeItem title=Kettle")
        switch name {
        case "restore":
            try await someone.follow("vacuum-into")
            _ = try await someone.order("Later")
        case "cursor":
            try await someone.succeed(
                "d=~/.local/state/relay/cursors/relay-cli/org.eventrelay.Service1; mkdir -p $d && cd $d && touch ledger.cursor ledger.synced"
            )
        default: break
        }
        let shown = try await someone.follow(name)
        let check = try #require(Self.checks[name])
        try await check(someone, shown)
        try await someone.end()
    }

    @Test(
        "a subscriber sees of each block what the page says: nothing, or a gap and then the new events",
        arguments: [("restore", 5, [(6, 4)]), ("move", 5, []), ("empty-events", 5, []), ("empty-all", 1, [(5, 0)])]
            as [(String, Int, [(first: Int, common: Int)])])
    func subscriber(_ name: String, next: Int, gaps: [(first: Int, common: Int)]) async throws {
        let someone = try await Operator()
        for label in ["Kitchen", "Hall", "Attic", "Cellar"] { _ = try await someone.order(label) }
        try await someone.follow("vacuum-into")
        let watcher = try RunningProgram(
            Programs.cli, ["--bus", someone.bus.address, "--json", "watch"], environment: Programs.environment())
        try await watcher.line(containing: "watching")
        if name == "restore" {
            _ = try await someone.order("Later")
            try await watcher.line(containing: "Later")
        }
        try await someone.follow(name)
        try await watcher.line(containing: "is back")
        _ = try await someone.order("Garage")
        let line = try await watcher.line(containing: "Garage")
        #expect(line.contains("\"sequence\":\(next),"), "\(line)")
        watcher.signal(SIGINT)
        let seen = await watcher.outcome()
        // Open at its end: how far the lost history went is not known here.
        let told = seen.output.filter { $0.hasPrefix("{\"gap\"") }
        #expect(told.count == gaps.count, "\(seen)")
        for (line, gap) in zip(told, gaps) {
            #expect(line.contains("\"first\":\(gap.first),\"last\":null"), "\(line)")
            #expect(line.contains("\"reason\":\"historyReplaced\",\"commonThrough\":\(gap.common)}"), "\(line)")
        }
        try await someone.end()
    }

    @Test("every block of the page is tested")
    func complete() throws {
        let page = try OperatingPage()
        #expect(page.commands.map(\.name).sorted() == Self.checks.keys.sorted())
        #expect(
            page.files.map(\.name) == [
                ".config/systemd/user/relay-service.service",
                ".local/share/dbus-1/services/org.eventrelay.Service1.service",
            ])
    }

    @Test("systemd takes the unit")
    func unit() async throws {
        let folder = try TestFolder()
        let text = try #require(try OperatingPage().files.first).text
        let parts = text.split(separator: "/usr/bin/relay-service")
        try folder.write(parts.joined(separator: Programs.service), to: "relay-service.service")
        let outcome = try await RunningProgram.run(
            "systemd-analyze", ["verify", "--user", "--man=no", folder.path + "/relay-service.service"],
            environment: Programs.environment(["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]))
        #expect(outcome.code == 0, "\(outcome)")
        #expect(!outcome.errors.contains { $0.contains("relay-service.service") }, "\(outcome)")
    }

    @Test("the page's exit codes are those of --help, and the supervisor does not repeat what only a person can mend")
    func exitCodes() async throws {
        let page = try Programs.text("docs/OPERATING.md")
        let help = try await RunningProgram.run(Programs.service, ["--help"], environment: Programs.environment())
        let rows = page.split(separator: "\n").compactMap { line -> Int? in
            let cells = line.split(separator: "|")
            return cells.count == 3 ? Int(cells[0].filter { $0 != " " }) : nil
        }
        let told = help.output.joined(separator: " ").split(separator: "Exit codes:").last?
            .split { !$0.isNumber }.compactMap { Int($0) }
        #expect(rows == told)
        let unit = try #require(try OperatingPage().files.first).text.split(separator: "\n")
        let sections = unit.split { $0.hasPrefix("[") }
        // A full disk (74), a bus that is away (69) and a directory that is still in use (75) are tried for ever.
        #expect(
            sections[1].contains("RestartPreventExitStatus=64 65 73 77 78")
                && sections[1].contains("Restart=on-failure"))
        // Neither may systemd give up, nor end a start that takes long.
        #expect(sections[0].contains("StartLimitIntervalSec=0") && sections[1].contains("TimeoutStartSec=infinity"))
    }

    @Test("with the page's policy the service's user may ask what a bus holds that tells nobody else")
    func figures() async throws {
        let page = try OperatingPage()
        let block = try #require(page.policies.first { $0.name == "figures" })
        let lines = block.text.split(separator: "\n")
        try #require(lines.first == "<busconfig>" && lines.last == "</busconfig>")
        let user = String(cString: getpwuid(getuid()).pointee.pw_name)
        let policy = lines.dropFirst().dropLast().joined(separator: "\n")
            .split(separator: "\"relay\"", omittingEmptySubsequences: false).joined(separator: "\"\(user)\"")
        // As the system bus has it.
        let refusal = """
            <policy context="default">
              <deny send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Debug.Stats"/>
            </policy>
            """
        for (policies, isTold) in [(refusal, false), (refusal + policy, true)] {
            let bus = try PrivateBus(limits: .builtIn, policy: policies)
            let stats = "org.freedesktop.DBus.Debug.Stats"
            let outcome = try await RunningProgram.run(
                "busctl",
                ["--address=\(bus.address)", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", stats]
                    + ["GetConnectionStats", "s", ":1.0"], environment: Programs.environment())
            #expect((outcome.code == 0) == isTold, "\(outcome)")
            #expect(outcome.output.joined().contains("IncomingBytes") == isTold, "\(outcome)")
        }
    }
}
