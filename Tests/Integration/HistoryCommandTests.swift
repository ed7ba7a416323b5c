import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// `relay-cli history`, `export`, `status` and `watch` from a place, against a live service with a journal.
@Suite("relay-cli history, export and status, and watch from a position", .heavy) struct HistoryCommandTests {
    private func withoutStream(_ lines: [String]) -> [String] {
        lines.map { $0.replacing(/"transport":"(signal|ring|journal)"/, with: "") }
    }
    /// What a watch printed when it had shown all that was kept, and was asked to end.
    private func untilCaughtUp(_ watcher: RunningProgram) async throws -> RunningProgram.Outcome {
        try await watcher.line(containing: "up to date")
        return await watcher.terminate()
    }
    /// `n` of each JSON line.
    private func sequences(_ lines: [String]) -> [Int] {
        lines.compactMap { line in
            line.firstRange(of: #""sequence":"#).flatMap { Int(line[$0.upperBound...].prefix { $0.isNumber }) }
        }
    }

    @Test("history is what a watch saw, over runs of the service")
    func whatWatchSaw() async throws {
        let service = try await LiveService.start()
        let watcher = try service.cli("--json", "watch", "--count", "4")
        try await watcher.line(containing: "watching")
        for label in ["Kitchen", "Hall"] { #expect(try await service.orderBox(label).code == 0) }
        try await watcher.line(containing: "Hall")
        #expect(await service.program.terminate().code == 0)
        try await service.restart()
        try await watcher.line(containing: "is back")
        for label in ["Attic", "Küche"] { #expect(try await service.orderBox(label).code == 0) }
        let seen = await watcher.outcome()
        #expect(seen.code == 0 && sequences(seen.output) == [1, 2, 3, 4], "\(seen)")
        let history = try await service.runCLI("--json", "history")
        #expect(history.code == 0 && history.errors.isEmpty, "\(history)")
        #expect(withoutStream(history.output) == withoutStream(seen.output))
        let export = try await service.runCLI("export", "--format", "csv", "BoxProvisioned")
        #expect(export.code == 0 && export.output.count == 5, "\(export)")
        #expect(export.output[0].hasPrefix("sequence,epoch,previous,publishedAt,boxID,capacity,title"), "\(export)")
        #expect(export.output[4].contains(",4,10,\"Küche\""), "\(export)")
    }

    @Test("--since begins at a sequence, a time, a while ago and the start, and goes on live")
    func since() async throws {
        let service = try await LiveService.start()
        for label in ["A", "B", "C"] { #expect(try await service.orderBox(label).code == 0) }
        let second = try await service.runCLI("--json", "history", "--since", "2", "--limit", "1")
        let line = try #require(second.output.first, "\(second)")
        let start = try #require(line.firstRange(of: #""publishedAt":""#)?.upperBound)
        let time = String(line[start...].prefix { $0 != "\"" })
        for (option, expected) in [
            ("2", [2, 3, 4]), (time, [2, 3, 4]), ("1h", [1, 2, 3, 4]), ("start", [1, 2, 3, 4]),
        ] {
            let history = try await service.runCLI("--json", "history", "--since", option, "--until", "3")
            #expect(sequences(history.output) == expected.filter { $0 < 4 }, "\(option): \(history)")
            let watcher = try service.cli("--json", "watch", "--since", option)
            try await watcher.line(containing: "up to date")
            // Behind what it had to catch up with.
            if option == "2" { #expect(try await service.orderBox("D").code == 0) }
            let isShown = await eventually { sequences(watcher.output) == expected }
            #expect(isShown, "\(option): \(watcher.output)")
            #expect(await watcher.terminate().code == 0)
        }
        let later = try await untilCaughtUp(try service.cli("watch", "--since", "99"))
        #expect(later.code == 0 && later.output.isEmpty, "\(later)")
        let text = try await service.runCLI("history", "--limit", "1")
        #expect(text.output.first?.hasSuffix(#"#1 BoxProvisioned boxID=1 capacity=10 title="A""#) == true, "\(text)")
    }

    @Test("a watch resumes by its name over runs: nothing is missing, and nothing comes twice after a good end")
    func resume() async throws {
        let service = try await LiveService.start()
        let folder = try TestFolder()
        func begin(_ more: String...) throws -> RunningProgram {
            try RunningProgram(
                Programs.cli,
                ["--bus", service.address, "--json", "watch", "--resume", "ledger", "--cursors", folder.path] + more,
                environment: Programs.environment())
        }
        for label in ["A", "B", "C"] { #expect(try await service.orderBox(label).code == 0) }
        let first = try await begin("--count", "2").outcome()
        #expect(first.code == 0 && sequences(first.output) == [1, 2], "\(first)")
        let cursors = "relay-cli/\(LiveService.name)"
        #expect(folder.names(in: cursors) == ["ledger.cursor", "ledger.lock", "ledger.synced"])
        #expect(await service.program.terminate().code == 0)
        try await service.restart()
        #expect(try await service.orderBox("D").code == 0)
        let second = try await begin("--count", "2").outcome()
        #expect(second.code == 0 && sequences(second.output) == [3, 4], "\(second)")
        let third = try await untilCaughtUp(try begin())
        #expect(third.code == 0 && third.output.isEmpty, "\(third)")
        let other = try await begin("ItemProvisioned", "--count", "1").outcome()
        #expect(
            other.code == 65 && other.errors.last?.contains("cursor 'ledger' is for all events") == true, "\(other)")
    }

    @Test("a watch that is killed shows its last events again, and misses none")
    func killed() async throws {
        let service = try await LiveService.start()
        let folder = try TestFolder()
        let arguments = ["--bus", service.address, "--json", "watch", "--resume", "k", "--cursors", folder.path]
        var seen: [Int] = []
        for number in 1...6 {
            #expect(try await service.orderBox("Box \(number)").code == 0)
            let watcher = try RunningProgram(Programs.cli, arguments, environment: Programs.environment())
            try await watcher.line(containing: "Box \(number)")
            watcher.signal(SIGKILL)
            seen += sequences(await watcher.outcome().output)
        }
        #expect(Set(seen) == Set(1...6))
        // In order, but for going back.
        for (earlier, later) in zip(seen, seen.dropFirst()) { #expect(later <= earlier + 1) }
    }

    @Test("a second watch of a name is refused with 75; a bad cursor and a bad folder say what to do")
    func refusedCursors() async throws {
        let service = try await LiveService.start()
        let folder = try TestFolder()
        let first = try service.cli("watch", "--resume", "mine", "--cursors", folder.path)
        try await first.line(containing: "up to date")
        let cursors = folder.path + "/relay-cli/org.eventrelay.Service1"
        let second = try await service.runCLI("watch", "--resume", "mine", "--cursors", folder.path)
        #expect(second.code == 75 && second.output.isEmpty, "\(second)")
        #expect(
            second.errors == [
                "relay-cli: cursor 'mine' is in use by another process or relay, which holds \(cursors)/mine.lock; "
                    + "end that one, or use another name"
            ])
        #expect(await first.terminate().code == 0)
        let third = try await untilCaughtUp(try service.cli("watch", "--resume", "mine", "--cursors", folder.path))
        #expect(third.code == 0, "\(third)")
        try folder.write("nonsense", to: "relay-cli/org.eventrelay.Service1/bad.cursor")
        let garbage = try await service.runCLI("watch", "--resume", "bad", "--cursors", folder.path)
        #expect(garbage.code == 65, "\(garbage)")
        #expect(
            garbage.errors == [
                "relay-cli: cursor 'bad': \(cursors)/bad.cursor is not as this program writes it, and there is no "
                    + "\(cursors)/bad.synced: remove it to start with the oldest event"
            ])
        let folderless = try await service.runCLI("watch", "--resume", "a", "--cursors", "/proc/none")
        #expect(folderless.code == 73 && folderless.errors.last?.contains("/proc/none") == true, "\(folderless)")
        let name = try await service.runCLI("watch", "--resume", "a/b")
        #expect(name.code == 64, "\(name)")
    }

    @Test("cursors are kept in XDG_STATE_HOME, else in HOME")
    func standardFolder() async throws {
        let service = try await LiveService.start()
        for (variable, path) in [("XDG_STATE_HOME", "/relay/cursors"), ("HOME", "/.local/state/relay/cursors")] {
            let folder = try TestFolder()
            var environment = Programs.environment()
            environment["HOME"] = nil
            environment[variable] = folder.path
            let outcome = try await untilCaughtUp(
                try RunningProgram(
                    Programs.cli, ["--bus", service.address, "watch", "--resume", "a"], environment: environment))
            #expect(
                outcome.code == 0
                    && access(folder.path + path + "/relay-cli/org.eventrelay.Service1/a.lock", F_OK) == 0, "\(outcome)"
            )
        }
    }

    @Test("status tells what is kept, and list what there is")
    func status() async throws {
        let service = try await LiveService.start()
        for label in ["A", "B"] { #expect(try await service.orderBox(label).code == 0) }
        let status = try await service.runCLI("status")
        #expect(status.code == 0, "\(status)")
        // What changes from one run to the next.
        let page = status.output.joined(separator: "\n").replacing(/(\d+ s|less than a second) ago/, with: "T ago")
            .replacing(/[0-9.]+ [KMGT]iB/, with: "N").replacing(/run  .*/, with: "run  R")
        #expect(
            page == """
                org.eventrelay.Service1, built with Relay \(RelayVersion.current)
                Nobody is subscribed.

                org.eventrelay.Relocation1, durable
                  last event    #2, T ago
                  kept          2 events, 96 bytes; the oldest is #1 of T ago
                  journal file  N, of which N are its log; checked in full
                  disk          N free
                  ring          N; nobody has asked for it
                  signals       sent
                  run  R
                  subscribers   none
                """)
    }

    @Test("busctl shows the events of Read with their types")
    func busctlRead() async throws {
        let service = try await LiveService.start()
        #expect(try await service.orderBox("Küche").code == 0)
        let outcome = try await service.run(
            "busctl",
            [
                "--address=\(service.address)", "call", LiveService.name, LiveService.object, "org.eventrelay.Stream1",
                "Read", "astu", "1", "*", "0", "0",
            ])
        #expect(outcome.code == 0, "\(outcome)")
        let text = outcome.output.joined(separator: "\n")
        #expect(text.hasPrefix("ta(suv)a(tt)ttt ") && text.contains(#""BoxProvisioned" "#), "\(text)")
        #expect(text.contains(#"(xisttt) 1 10 "Küche" 1 0 "#) || text.contains(#"1 10 "K\303\274che" 1 0 "#), "\(text)")
    }

    @Test("a reader that leaves ends an export quietly")
    func head() async throws {
        let service = try await LiveService.start()
        for number in 1...40 { #expect(try await service.orderBox("Box \(number)").code == 0) }
        let outcome = try await RunningProgram.run(
            "/bin/sh",
            ["-c", "{ \"$0\" --bus \"$1\" export; echo code $? >&2; } | head -n 1", Programs.cli, service.address],
            environment: Programs.environment())
        #expect(outcome.output.count == 1 && outcome.errors == ["code 0"], "\(outcome)")
    }
}
