import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayTool

/// The scripts of completion, in the shells that they are for.
@Suite("Completion, in each shell", .heavy, .tags(.g8)) struct CompletionShellTests {
    private static let program = ProgramDeclaration(
        CommandDeclaration(
            "some-tool", summary: "shows things",
            options: [
                Option<String?>("service", letter: "s", ValueKind<String>("NAME") { $0 }, "whose things"),
                Option<String?>("state", ValueKind<String>("FILE") { $0 }, "where it is kept"),
            ], exitCodes: [ExitMeaning(.ok, "success")]),
        verbs: [
            CommandDeclaration(
                "show", summary: "prints a thing",
                operands: [
                    Operand(ValueKind<String>("THING") { $0 }, "a thing's name"),
                    Operand(any: ValueKind<String>("key=value") { $0 }, "a part"),
                ],
                options: [Option(switch: "plain", letter: "p", "as text")],
                exitCodes: [ExitMeaning(.ok, "success")]),
            CommandDeclaration("shut", summary: "closes", exitCodes: [ExitMeaning(.ok, "success")]),
        ])
    private static let names = [
        CompletionScript.Names(argument: "THING", command: ["names", "things"]),
        CompletionScript.Names(argument: "key=value", command: ["names", "parts"], takesFirst: true),
    ]
    /// Lines, each with a word that has one completion.
    private static let lines = [
        ("some-tool sho", "show"), ("some-tool shu", "shut"), ("some-tool show --pl", "--plain"),
        ("some-tool show lam", "lamp"), ("some-tool show lamp col", "colour="),
        ("some-tool --service org.a show wi", "window"), ("some-tool -s org.a show wi", "window"),
        ("some-tool show -s org.a window wid", "width="), ("some-tool --state ./som", "./some-tool"),
    ]

    /// A folder with the scripts, and with what the shells find as the program. It knows a thing more of one service.
    private func folder() throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(
            """
            #!/bin/sh
            service=
            while [ $# -gt 0 ]; do case $1 in --service | -s) service=$2; shift 2 ;; *) break ;; esac; done
            case "$1 $2 $3 $service" in
                "names things "*) echo lamp; [ "$service" != org.a ] || echo window ;;
                "names parts lamp "*) echo colour= ;;
                "names parts window org.a") echo width= ;;
            esac
            """, to: "some-tool")
        chmod(folder.path + "/some-tool", 0o755)
        for shell in CompletionScript.Shell.allCases {
            // In a folder of completions the name is what zsh goes by.
            try folder.write(
                CompletionScript.text(for: shell, of: Self.program, names: Self.names),
                to: shell == .zsh ? "_some-tool" : shell.rawValue)
        }
        return folder
    }
    /// What a shell prints, which complains about nothing.
    private func output(of program: String, _ arguments: [String]) async throws -> [String] {
        let folder = try folder()
        let path = try #require(Programs.environment()["PATH"])
        let outcome = try await RunningProgram.run(
            "env", ["-C", folder.path, program] + arguments,
            environment: Programs.environment([
                "HOME": folder.path, "PATH": "\(folder.path):\(path)", "TERM": "dumb", "XDG_CONFIG_HOME": folder.path,
                "XDG_DATA_HOME": folder.path,
            ]))
        #expect(outcome.code == 0 && outcome.errors == [], "\(outcome)")
        return outcome.output
    }

    @Test("bash", arguments: lines) func bash(line: String, completion: String) async throws {
        let script = """
            . ./bash; COMP_WORDS=(\(line)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _some_tool; echo "${COMPREPLY[*]}"
            """
        try await #expect(output(of: "bash", ["--norc", "-c", script]) == [completion])
    }
    @Test("fish", arguments: lines) func fish(line: String, completion: String) async throws {
        let lines = try await output(of: "fish", ["--no-config", "-c", "source ./fish; complete -C '\(line)'"])
        #expect(lines.map { String($0.prefix { $0 != "\t" }) } == [completion])
    }
    @Test("zsh, by the file and from a folder of completions", arguments: lines)
    func zsh(line: String, completion: String) async throws {
        // Completion is for those who type: so a terminal, and a shell behind it.
        let script = #"""
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell "PS1=; cd $PWD; autoload -U compinit; $1; print -r -- REA''DY"
            zpty -r -m shell seen '*READY*'
            zpty -w -n shell "$2"$'\t'
            # What the line has become, as a word of another one.
            zpty -w -n shell $'\C-a'"print -r -- 'LINE<"$'\C-e'">DO''NE'"$'\n'
            zpty -r -m shell seen '*DONE*'
            print -r -- "$seen"
            """#
        let expected = line.split(separator: " ").dropLast().joined(separator: " ") + " " + completion
        for setup in ["compinit -u -D; source ./_some-tool", "fpath=($PWD $fpath); compinit -u -D"] {
            let lines = try await output(of: "zsh", ["-f", "-c", script, "zsh", setup, line])
            let last = try #require(lines.last { $0.hasPrefix("LINE<") }, "\(lines)")
            let typed = last.dropFirst(5).prefix { $0 != ">" }
            #expect(typed.split(separator: " ").joined(separator: " ") == expected, "\(setup): \(lines)")
        }
    }
}
