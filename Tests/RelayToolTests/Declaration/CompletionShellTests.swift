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
        ("some-tool show -s org.a window wid", "width="),
        ("some-tool --service=org.a show wi", "window"), ("some-tool -sorg.a show wi", "window"),
        ("some-tool show --service=org.a window wid", "width="), ("some-tool show -sorg.a wi", "window"),
        ("some-tool --state ./som", "./some-tool"),
    ]

    /// A folder with the scripts, and with what the shells find as the program. It knows a thing more of one service.
    ///
    /// - Parameter hostile: what it prints among the things.
    private func folder(hostile: [String] = []) throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(
            """
            #!/bin/sh
            service=
            while [ $# -gt 0 ]; do case $1 in
                --service | -s) service=$2; shift 2 ;; --service=*) service=${1#*=}; shift ;;
                -s?*) service=${1#-s}; shift ;; *) break ;; esac; done
            case "$1 $2 $3 $service" in
                "names things "*) echo lamp; [ "$service" != org.a ] || echo window; cat hostile ;;
                "names parts lamp "*) echo colour= ;;
                "names parts window org.a") echo width= ;;
            esac
            """, to: "some-tool")
        chmod(folder.path + "/some-tool", 0o755)
        try folder.write(hostile.map { $0 + "\n" }.joined(), to: "hostile")
        for shell in CompletionScript.Shell.allCases {
            // In a folder of completions the name is what zsh goes by.
            try folder.write(
                CompletionScript.text(for: shell, of: Self.program, names: Self.names),
                to: shell == .zsh ? "_some-tool" : shell.rawValue)
        }
        return folder
    }
    /// What a shell prints, which complains about nothing.
    private func output(
        of program: String, _ arguments: [String], in made: TestFolder? = nil
    ) async throws -> [String] {
        let folder = try made ?? folder()
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

    // MARK: Names and words of others

    /// Each with what a shell shows of it as one word; nil: it is not offered.
    private static let hostile: [(name: String, word: String?)] = [
        ("big lamp", "big lamp"), ("$(touch ran)", "$(touch ran)"), ("`touch ran`", "`touch ran`"), ("it's", "it's"),
        ("say \"x\"", "say \"x\""), ("a;touch ran", "a;touch ran"), ("$HOME", "$HOME"), ("*", "*"), ("~root", "~root"),
        (#"b\c"#, #"b\c"#), ("{x,y}", "{x,y}"), ("!!", "!!"), ("-rf", nil), ("x\u{202E}y", nil), ("z\u{85}w", nil),
        ("d\u{7F}e", nil), ("f\u{1B}[31mg", nil), (" lead", nil),
    ]
    private static var offered: [String] { hostile.compactMap(\.word) + ["lamp"] }
    private func check(_ lines: [String], _ folder: TestFolder) {
        #expect(!folder.names.contains("ran"), "\(lines)")
        for line in lines {
            #expect(!line.unicodeScalars.contains { "\u{202E}\u{85}\u{7F}".unicodeScalars.contains($0) }, "\(lines)")
        }
    }

    @Test("bash offers the names of others as quoted words, and runs nothing")
    func hostileBash() async throws {
        let folder = try folder(hostile: Self.hostile.map(\.name))
        // What is inserted is one word of the shell again, and means itself.
        let script = #"""
            . ./bash; COMP_WORDS=(some-tool show ''); COMP_CWORD=2; _some_tool
            for word in "${COMPREPLY[@]}"; do eval "printf '<%s>\n' $word"; done
            for typed in 'big\ l' '"big' '$(t' '"$(t' '\$\(t'; do
                COMP_WORDS=(some-tool show "$typed"); _some_tool; printf '%s: %s\n' "$typed" "${COMPREPLY[*]}"
            done
            """#
        let lines = try await output(of: "bash", ["--norc", "-c", script], in: folder)
        check(lines, folder)
        let rest = [
            #"big\ l: big\ lamp"#, #""big: big lamp"#, #"$(t: \$\(touch\ ran\)"#, #""$(t: "#,
            #"\$\(t: \$\(touch\ ran\)"#,
        ]
        #expect(lines.sorted() == (Self.offered.map { "<\($0)>" } + rest).sorted())
    }
    /// A shell behind a terminal, at which `line`, TAB and `rest` are typed, and then what makes a command of it that prints
    /// its words.
    private func typed(
        _ shell: String, setup: String, line: String, rest: String = "", _ folder: TestFolder
    ) async throws -> [String] {
        let script = #"""
            zmodload zsh/zpty
            zpty shell $1
            zpty -w shell "PS1=; cd $PWD; $2; echo REA''DY"
            zpty -r -m shell seen '*READY*'
            zpty -w -n shell "$3"$'\t'"$4"
            # Time for nothing: the shell reads on when it has completed the line.
            zpty -w -n shell $'\C-a'"printf '<%s>' "$'\C-e'"; echo DO''NE"$'\n'
            zpty -r -m shell seen '*DONE*'
            print -r -- "$seen"
            """#
        return try await output(of: "zsh", ["-f", "-c", script, "zsh", shell, setup, line, rest], in: folder)
    }
    @Test(
        "behind the = of a field its value is typed, and behind another name the next word", arguments: ["bash", "zsh"])
    func value(shell: String) async throws {
        let (program, setup) = Self.interactive(shell)
        for (line, words) in [
            ("some-tool show lamp col", "<some-tool><show><lamp><colour=red>"),
            ("some-tool show lam", "<some-tool><show><lamp><red>"),
        ] {
            let lines = try await typed(program, setup: setup, line: line, rest: "red", try folder())
            #expect(lines.contains { $0.contains(words) }, "\(lines)")
        }
    }
    /// How it begins at a terminal, and reads the completions.
    private static func interactive(_ shell: String) -> (program: String, setup: String) {
        shell == "bash"
            ? ("bash --norc --noprofile -i", "bind 'set enable-bracketed-paste off'; . ./bash")
            : ("zsh -f -i", "autoload -U compinit; compinit -u -D; source ./_some-tool")
    }
    @Test(
        "bash's words that it splits at : and = are one for the completion, too",
        arguments: [
            (
                "some-tool --service org:path=a/x,guid=1 show la",
                "<some-tool><--service><org:path=a/x,guid=1><show><lamp>"
            ),
            ("some-tool --service org: show la", "<some-tool><--service><org:><show><lamp>"),
            ("some-tool --service=org.a show wi", "<some-tool><--service=org.a><show><window>"),
            ("some-tool -s a=b show a:b=c", "<some-tool><-s><a=b><show><a:b=cd>"),
            ("some-tool show a:", "<some-tool><show><a:b=cd>"),
            ("some-tool --state=1 show lam", "<--state=1><show><lamp>"),
            ("some-tool --state ./some-to", "<--state><./some-tool>"),
        ])
    func split(line: String, words: String) async throws {
        let folder = try folder(hostile: ["a:b=cd"])
        let setup = "bind 'set enable-bracketed-paste off'; . ./bash"
        let lines = try await typed("bash --norc --noprofile -i", setup: setup, line: line, folder)
        #expect(lines.contains { $0.contains(words) }, "\(lines)")
    }
    @Test("at a terminal, TAB inserts words that mean themselves", arguments: ["bash", "zsh"])
    func hostileTyped(shell: String) async throws {
        let start = Self.interactive(shell)
        for (typed, words) in [
            ("some-tool show bi", "<some-tool><show><big lamp>"),
            (#"some-tool show \$\("#, "<some-tool><show><$(touch ran)>"),
            (#"some-tool show \`"#, "<some-tool><show><`touch ran`>"), ("some-tool show la", "<some-tool><show><lamp>"),
        ] {
            let folder = try folder(hostile: Self.hostile.map(\.name))
            let lines = try await self.typed(start.0, setup: start.1, line: typed, folder)
            check(lines, folder)
            #expect(lines.contains { $0.contains(words) }, "\(lines)")
        }
        // All at once, as a list.
        let folder = try folder(hostile: Self.hostile.map(\.name))
        let setup = start.1 + (shell == "bash" ? "; bind 'set show-all-if-ambiguous on'" : "")
        let lines = try await typed(start.0, setup: setup, line: "some-tool show ", folder)
        check(lines, folder)
        #expect(lines.contains { $0.contains("lamp") }, "\(lines)")
    }
    @Test("fish offers the names of others as data, and runs nothing")
    func hostileFish() async throws {
        let folder = try folder(hostile: Self.hostile.map(\.name))
        let lines = try await output(
            of: "fish", ["--no-config", "-c", "source ./fish; complete -C 'some-tool show '"], in: folder)
        check(lines, folder)
        #expect(lines.sorted() == Self.offered.sorted())
    }

    @Test("whatever a declaration says, its words and sentences run nothing, and are shown beside each other")
    func hostileDeclaration() async throws {
        let evil = #"$(touch ran) `touch ran` "x" it's [a]: (touch ran) b\"#
        let program = ProgramDeclaration(
            CommandDeclaration("some-tool", summary: evil, exitCodes: [ExitMeaning(.ok, evil)]),
            verbs: [
                CommandDeclaration(
                    "show", summary: evil,
                    operands: [
                        Operand(ValueKind<String>("FORM", words: ["$(touch ran)", "it's", "two words"]) { $0 }, evil)
                    ],
                    options: [Option(switch: "plain", letter: "p", evil)], exitCodes: [ExitMeaning(.ok, evil)])
            ])
        let folder = try folder()
        for shell in CompletionScript.Shell.allCases {
            try folder.write(
                CompletionScript.text(for: shell, of: program), to: shell == .zsh ? "_some-tool" : shell.rawValue)
        }
        let bash = #"""
            . ./bash; for word in '' -; do COMP_WORDS=(some-tool show "$word"); COMP_CWORD=2; _some_tool
            printf '%s\n' "${COMPREPLY[@]}"; done
            """#
        let offered = try await output(of: "bash", ["--norc", "-c", bash], in: folder)
        #expect(offered == [#"\$\(touch\ ran\)"#, #"it\'s"#, #"two\ words"#, "--version", "--help", "--plain"])
        check(offered, folder)
        let fish = try await output(
            of: "fish",
            [
                "--no-config", "-c",
                "source ./fish; complete -C 'some-tool sh'; complete -C 'some-tool show '; complete -C 'some-tool show --pl'",
            ],
            in: folder)
        check(fish, folder)
        #expect(fish == ["show\t" + evil, "$(touch ran)", "it's", "two words", "--plain\t" + evil])
        let setup = "autoload -U compinit; compinit -u -D; source ./_some-tool"
        for line in ["some-tool show ", "some-tool show tw", "some-tool show -", "some-tool "] {
            let lines = try await typed("zsh -f -i", setup: setup, line: line, folder)
            check(lines, folder)
            if line.hasSuffix("tw") {
                #expect(lines.contains { $0.contains("<some-tool><show><two words>") }, "\(lines)")
            }
            if line.hasSuffix("-") {
                #expect(lines.contains { $0.contains("-- $(touch ran) `touch ran`") }, "\(lines)")
            }
        }
    }
}
