import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayTool

@Suite("Files made of a declaration: manual pages, completion", .tags(.g8))
struct GeneratedFilesTests {
    private static let program = ProgramDeclaration(
        CommandDeclaration(
            "some-tool", summary: "shows things",
            options: [
                Option<String?>("bus", .directory, "which bus"), Option(switch: "plain", letter: "p", "as text"),
            ],
            details: ["Shows things - well."],
            examples: [Example("show", "it's", summary: "one thing")],
            exitCodes: [ExitMeaning(.ok, "success")]),
        verbs: [
            CommandDeclaration(
                "show", summary: "prints a thing",
                operands: [
                    Operand(ValueKind<String>("THING") { $0 }, "a thing's name"),
                    Operand(any: ValueKind<String>("key=value") { $0 }, "a part"),
                ],
                options: [Option<[Form]>("form", .list(of: .word("FORM")), "how", standard: "flat")],
                details: [.terms(["a": "one"]), .lines(".as it\n  stands")], exitCodes: [ExitMeaning(.ok, "success")]),
            CommandDeclaration("shut", summary: "closes", exitCodes: [ExitMeaning(.ok, "success")]),
        ])
    private enum Form: String, CaseIterable { case flat, round }
    private static let names = [
        CompletionScript.Names(argument: "THING", command: ["names", "things"]),
        CompletionScript.Names(argument: "key=value", command: ["names", "parts"], takesFirst: true),
    ]

    @Test("a manual page says what help says, in roff")
    func manual() throws {
        #expect(
            ManualPage.text(of: Self.program.verbs[0], in: Self.program, section: 1) == #"""
                .TH "SOME\-TOOL\-SHOW" 1 "" "Relay \#(Version.current)"
                .SH NAME
                some\-tool\-show \- prints a thing
                .SH SYNOPSIS
                .B some\-tool show
                THING
                [key=value\&...]
                [\-\-form FORM]
                .SH DESCRIPTION
                .TP
                .B a
                one
                .PP
                .nf
                .RS 4
                \&.as it
                  stands
                .RE
                .fi
                .SH ARGUMENTS
                .TP
                .B THING
                a thing\(aqs name
                .TP
                .B key=value
                a part
                .SH OPTIONS
                .TP
                .B \-\-form FORM
                how: flat (the default) or round
                .SS Options of every command, before or after its name
                .TP
                .B \-\-bus DIR
                which bus
                .TP
                .B \-p, \-\-plain
                as text
                .TP
                .B \-\-version
                the version
                .TP
                .B \-h, \-\-help
                this text, or a command\(aqs
                .SH EXIT STATUS
                .TP
                .B 0
                success
                .SH SEE ALSO
                .BR some\-tool (1),
                .BR some\-tool\-shut (1)

                """#)
        #expect(ManualPage.fileName(of: nil, in: Self.program, section: 8) == "some-tool.8")
        #expect(ManualPage.fileName(of: Self.program.verbs[1], in: Self.program, section: 1) == "some-tool-shut.1")
    }

    @Test("man's formatter takes the pages of both programs' kinds without a warning")
    func formatted() throws {
        let folder = try TestFolder()
        for verb in [nil] + Self.program.verbs.map(Optional.some) {
            try folder.write(ManualPage.text(of: verb, in: Self.program, section: 1), to: "page.1")
            let text = try output(of: "LC_ALL=C.UTF-8 man -E UTF-8 --warnings -l '\(folder.path)/page.1' 2>&1")
            #expect(!text.lowercased().contains("warning"), "\(text)")
            #expect(text.contains("EXIT STATUS"), "\(text)")
        }
    }

    @Test(
        "bash completes verbs, options, words and the names that the program knows",
        arguments: [
            (["sh"], "show shut"), (["--p"], "--plain"), (["--plain", "shu"], "shut"), (["show", "--fo"], "--form"),
            (["show", "--form", "r"], "round"), (["show", "o"], "one"), (["--bus", "x", "show", ""], "one two x"),
            (["show", "--form", "flat", "t"], "two"), (["show", "one", "p"], "part-of-one="),
            (["show", "one", "more=1", "part"], "part-of-one="),
            (["show", "-"], "--bus --plain --version --help --form"),
            (["shut", ""], "--bus --plain --version --help"), (["show", "--bus", "none\u{2f}"], ""),
        ])
    func bash(words: [String], completions: String) throws {
        let folder = try TestFolder()
        // In place of the program: what it would print.
        try folder.write(
            """
            bus=
            while [ $# -gt 0 ]; do case $1 in --bus) bus=$2; shift 2 ;; *) break ;; esac; done
            case "$1 $2" in "names things") echo one; echo two; echo $bus ;; "names parts") echo "part-of-$3=" ;; esac
            """, to: "some-tool")
        try folder.write(CompletionScript.text(for: .bash, of: Self.program, names: Self.names), to: "completion")
        let line = words.map(Words.quoted).joined(separator: " ")
        let text = try output(
            of: """
                cd '\(folder.path)' && bash -c 'some-tool() { bash ./some-tool "$@"; }; . ./completion; \
                COMP_WORDS=(some-tool "$@"); COMP_CWORD=$#; _some_tool; echo "${COMPREPLY[*]}"' bash \(line) 2>&1
                """)
        #expect(text == completions + "\n")
    }

    @Test("the scripts of all shells name every verb and option", arguments: CompletionScript.Shell.allCases)
    func complete(shell: CompletionScript.Shell) {
        let text = CompletionScript.text(for: shell, of: Self.program, names: Self.names)
        for name in ["show", "shut", "bus", "plain", "form", "flat", "round", "names things", "names parts"] {
            #expect(text.contains(name), "\(name)")
        }
    }

    private func output(of command: String) throws -> String {
        let stream = try #require(popen(command, "r"))
        defer { pclose(stream) }
        var text = ""
        var line: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { free(line) }
        while getline(&line, &size, stream) > 0 { text += line.map { String(cString: $0) } ?? "" }
        return text
    }
}
