import Foundation
import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// A service with what acts on terminals and shells in every text that it can supply, and every verb of `relay-cli`, on a
/// terminal and in a pipe.
@Suite("Hostile texts, at every verb", .heavy, .tags(.g8)) struct HostileTextTests {
    private static let name = "org.example.Hostile"
    /// None of it is what relay-cli does to its terminal.
    private static let evil =
        "\u{1B}]0;owned\u{7}\u{1B}[41m\u{1B}[3A\r\n$(touch ran)`touch ran`\u{202E}\u{85}\u{7F}\u{9B}31m\u{2028}\"'\\ -rf|="

    private final class Hostile {
        let bus: PrivateBus
        let program: RunningProgram
        let folder: TestFolder
        private init(_ bus: PrivateBus, _ program: RunningProgram, _ folder: TestFolder) {
            (self.bus, self.program, self.folder) = (bus, program, folder)
        }
        static func start() async throws -> Hostile {
            let bus = try PrivateBus()
            let program = try RunningProgram(
                "/usr/bin/python3", [Programs.sources + "/hostile_service.py", name, evil],
                environment: Programs.environment(["DBUS_SESSION_BUS_ADDRESS": bus.address]))
            try await program.line(containing: "ready")
            return Hostile(bus, program, try TestFolder())
        }
        var environment: [String: String] {
            [
                "DBUS_SESSION_BUS_ADDRESS": bus.address, "RELAY_SERVICE": name, "TERM": "xterm", "LC_ALL": "C.UTF-8",
                "HOME": folder.path, "XDG_STATE_HOME": folder.path,
            ]
        }
        func run(_ arguments: [String]) async throws -> RunningProgram.Outcome {
            try await RunningProgram.run(Programs.cli, arguments, environment: Programs.environment(environment))
        }
        /// All that a terminal gets.
        func type(_ arguments: [String], meanwhile: () async throws -> Void = {}) async throws -> String {
            let terminal = try ProgramOnTerminal(
                Programs.cli, arguments, columns: 100, rows: 30, environment: environment)
            try await meanwhile()
            // The terminal holds 4 KiB: it is read until the program has ended.
            let hasEnded = await eventually {
                _ = terminal.text
                return terminal.process.exit != nil
            }
            #expect(hasEnded, "\(arguments): \(terminal.text.debugDescription)")
            return terminal.text
        }
    }

    private static let lines: [[String]] = [
        ["list"], ["list", "--all"], ["list", "--json"], ["call", "Echo", "--help"],
        ["call", "Echo", "--help", "--json"],
        ["call", "Echo", "plain=x", "arg1=plain"], ["call", "Echo", "plain=x", "arg1=plain", "--json"],
        ["call", "Echo"], ["call", "Echo", evil + "=1"], ["call", "Echo", "plain=x", "arg1=" + evil],
        ["call", "Fail"], ["call", "Fail", "--json"], ["call", "Break"], ["call", evil], ["get", "Paper"],
        ["get", "Paper", "--json"], ["get", evil], ["set", "Paper", "text=" + evil], ["set", "Paper", evil + "=1"],
        ["status"], ["status", "--json"], ["doctor"], ["doctor", "--json"], ["metrics"], ["metrics", "--json"],
        ["history"], ["history", "--json"], ["history", evil], ["history", "--where", evil],
        ["history", "--fields", evil],
        ["history", "--where", "text ~ 'touch'", "--format", "{event} {text} {arg1}"],
        ["history", "--format", "{\(evil)}"],
        ["export"], ["export", "--format", "csv"], ["watch", "--since", "start", "--count", "2"],
        ["watch", "--since", "start", "--count", "2", "--json"], ["watch", "Paper", "--for", "0.3"],
        ["watch", "--format", "{text}", "--since", "start", "--count", "2"], ["tail", "--for", "0.3"],
        ["watch", evil, "--no-wait"], ["watch", "--resume", evil], ["top", "--for", "0.3"],
        ["top", "--json", "--for", "0.3"],
        ["top", "--view", "subscribers", "--for", "0.3"], ["metrics", "--textfile", "/nowhere/\(evil).prom"],
        ["completion", "--names", "events"], ["completion", "--names", "commands"],
        ["completion", "--names", "documents"],
        ["completion", "--names", "fields", "Echo"], ["completion", "--names", "fields", evil], ["completion", evil],
        ["help", evil], [evil], ["--" + evil, "list"], ["--service", evil, "list"], ["--bus", evil, "list"],
        ["--bus", "unix:path=/nowhere/" + evil, "list"], ["new-service", evil], ["monitor", "--for", "0.1"],
    ]
    /// What a relay-cli does to its terminal: all of it.
    private static let own = [
        "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J", "\u{18}\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l", "\u{1B}[2m",
        "\u{1B}[1m", "\u{1B}[36m", "\u{1B}[33m", "\u{1B}[31m", "\u{1B}[0m", "\u{1B}[7m", "\u{1B}[H", "\u{1B}[K",
        "\u{1B}[J",
    ]
    private static func invisible(_ text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter { !$0.isPlainlyVisible && $0 != "\n" }
    }

    @Test("in a pipe: nothing would act on the terminal behind it, and JSON has the texts exactly")
    func pipe() async throws {
        let service = try await Hostile.start()
        for arguments in Self.lines {
            let outcome = try await service.run(arguments)
            let isCSV = arguments.contains("csv")
            for line in outcome.output + outcome.errors {
                let found = Self.invisible(line).filter { !(isCSV && $0 == "\r") }
                #expect(found.isEmpty, "\(arguments): \(line.debugDescription)")
            }
            #expect(outcome.code != nil, "\(arguments): \(outcome)")
            if arguments.contains("--json") {
                for line in outcome.output + outcome.errors where line.hasPrefix("{") {
                    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
                }
            }
        }
        let history = try await service.run(["history", "--json"])
        #expect(history.output.count == 2)
        for line in history.output {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect((object?["fields"] as? [String: String])?["text"] == Self.evil)
        }
        // Data for programs, where others' own forms have no escapes.
        let csv = try await service.run(["export", "--format", "csv", "Happened"])
        #expect(csv.output.joined(separator: "\n").contains(Self.evil.replacing("\"", with: "\"\"")))
        #expect(!service.folder.names.contains("ran"))
    }

    @Test("on a terminal: nothing that others wrote acts on it")
    func terminal() async throws {
        let service = try await Hostile.start()
        for arguments in Self.lines + [
            ["export", "--format", "csv", "Happened"], ["export", "--format", "csv", "--raw"],
        ] {
            var text = try await service.type(arguments)
            for code in Self.own { text = text.replacing(code, with: "") }
            #expect(Self.invisible(text).isEmpty, "\(arguments): \(text.debugDescription)")
        }
        // What others exchange.
        var seen = try await service.type(["monitor", "--count", "4"]) {
            for _ in 0..<2 { _ = try await service.run(["call", "Echo", "plain=" + Self.evil, "arg1=plain"]) }
            for _ in 0..<4 { _ = try await service.run(["call", "Fail"]) }
        }
        for code in Self.own { seen = seen.replacing(code, with: "") }
        #expect(Self.invisible(seen).isEmpty, "\(seen.debugDescription)")
    }

    @Test("TAB in bash, which asks relay-cli, which asks the service: nothing runs")
    func completion() async throws {
        let service = try await Hostile.start()
        // On a busy machine an answer may come later than somebody with a finger on the tab key waits.
        let script = #"""
            cd "$2"; . <("$1" completion bash)
            relay-cli() { "$program" "$@"; }; program=$1
            for try in {1..200}; do
                COMP_WORDS=(relay-cli call Echo ''); COMP_CWORD=3; _relay_cli
                [[ ${COMPREPLY[*]} ]] && break
            done
            printf '%s\n' "${COMPREPLY[@]}"
            """#
        let outcome = try await RunningProgram.run(
            "bash", ["--norc", "-c", script, "bash", Programs.cli, service.folder.path],
            environment: Programs.environment(service.environment))
        #expect(outcome.output == ["plain=", "arg1="] && outcome.errors.isEmpty, "\(outcome)")
        #expect(!service.folder.names.contains("ran"))
    }
}
