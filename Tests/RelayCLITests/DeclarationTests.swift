import Foundation
import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("What the program declares, and what comes of it", .tags(.g8))
struct DeclarationTests {
    private static let verbs = Program.declaration.verbs
    /// What a verb cannot do without.
    private static let operands = [
        "call": ["Do", "a=1"], "completion": ["bash"], "get": ["Inventory"], "set": ["Settings", "a=1"],
        "contract": ["old.contract"], "new-service": ["org.example.Printer", "printer"],
    ]

    private func page(_ verb: CommandDeclaration?) -> String { HelpPage.text(of: verb, in: Program.declaration) }

    @Test("each verb of the list is declared, once, and help names it with what it does")
    func verbs() {
        let names = Self.verbs.map(\.name)
        #expect(
            names
                == [
                    "watch", "tail", "top", "metrics", "history", "export", "call", "get", "set", "list", "contract",
                    "status", "doctor", "monitor", "new-service", "completion", "help",
                ])
        for verb in Self.verbs {
            #expect(page(nil).contains("\n  \(verb.name) "), "\(verb.name)")
            #expect(page(nil).contains(verb.summary), "\(verb.name)")
        }
    }

    @Test("a verb's page has its usage, each of its options with what it takes, and those of every verb")
    func options() {
        for verb in Self.verbs {
            let text = page(verb)
            #expect(text.hasPrefix("Usage: relay-cli \(verb.name)"))
            for option in verb.options + Program.declaration.options {
                #expect(text.contains("  \(option.form) ") || text.contains(", \(option.form) "), "\(option.form)")
                for word in option.argument?.words ?? [] { #expect(text.contains(word), "\(option.form): \(word)") }
                if let standard = option.argument?.standard { #expect(text.contains(standard), "\(option.form)") }
            }
            for operand in verb.operands { #expect(text.contains("\n  \(operand.name) "), "\(operand.name)") }
            for exit in verb.exitCodes { #expect(text.contains("\n  \(exit.code.rawValue) "), "\(exit.code)") }
        }
    }

    @Test("a page does not show the options of other verbs")
    func otherOptions() {
        for verb in Self.verbs {
            let own = Set((verb.options + Program.declaration.options).map(\.form))
            for other in Self.verbs.flatMap(\.options).map(\.form) where !own.contains(other) {
                #expect(!page(verb).contains("\n  \(other) "), "\(verb.name): \(other)")
            }
        }
    }

    @Test("no line of help is wider than 92 columns, none ends with a blank, and each page ends with a line's end")
    func layout() {
        for verb in [nil] + Self.verbs.map(Optional.init) {
            let text = page(verb)
            #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
            for line in text.split(separator: "\n") {
                #expect(line.count <= 92, "\(line)")
                #expect(line.last != " ", "\(line)")
            }
        }
    }

    @Test("within a narrow terminal no line is wider than it, and no word is lost", arguments: [60, 80])
    func narrow(_ width: Int) {
        func words(_ text: String) -> [Substring] {
            // Where a command line goes on below.
            text.split(whereSeparator: \.isWhitespace).filter { $0 != "\\" }
        }
        for verb in [nil] + Self.verbs.map(Optional.init) {
            let text = HelpPage.text(of: verb, in: Program.declaration, width: width)
            for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
            #expect(words(text) == words(page(verb)))
        }
    }

    @Test("every example is a command line that the program takes, of the verb that it stands with")
    func examples() throws {
        for verb in Self.verbs {
            #expect(!verb.examples.isEmpty, "\(verb.name)")
            for example in verb.examples {
                let request = try Line.read(example.arguments)
                #expect(type(of: request.verb).declaration.name == verb.name, "\(example.arguments)")
                #expect(page(verb).contains("\n  " + example.line(of: "relay-cli") + "\n"))
                #expect(page(verb).contains(example.summary))
            }
        }
        for example in Program.declaration.command.examples {
            #expect(Line.refusal(example.arguments) == nil, "\(example.arguments)")
        }
    }

    @Test("every relay-cli line in the documentation is one that the program takes", arguments: documented)
    func documentation(_ line: String) throws {
        let words = try #require(Self.words(line), "a quote that does not end")
        #expect(words.first == "relay-cli")
        #expect(Line.refusal(Array(words.dropFirst())) == nil)
    }
    private static let documented: [String] = ["README.md", "docs/TOUR.md", "docs/OPERATING.md"].flatMap { page in
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = (try? String(contentsOfFile: "/\(root)/\(page)", encoding: .utf8)) ?? ""
        let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
        return lines.filter { $0.hasPrefix("relay-cli ") }.map(String.init)
    }
    /// As a shell splits them, up to a comment, a pipe or a redirection; nil where a quote does not end.
    private static func words(_ line: String) -> [String]? {
        var (words, word, isQuoted) = ([String](), String?.none, false)
        for character in line {
            switch character {
            case "'":
                isQuoted.toggle()
                word = word ?? ""
            case _ where isQuoted: word = (word ?? "") + String(character)
            case "#", ">", "|":
                return words + (word.map { [$0] } ?? [])
            case " ":
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        return isQuoted ? nil : words + (word.map { [$0] } ?? [])
    }
    @Test("the documentation shows most verbs")
    func documentedVerbs() {
        let shown = Set(
            Self.documented.compactMap { Self.words($0)?.first { word in Self.verbs.contains { $0.name == word } } })
        #expect(shown.isSuperset(of: ["watch", "history", "call", "top", "export", "list", "status"]), "\(shown)")
    }

    @Test("the options of every verb are taken before and behind each verb, and mean the same")
    func globalOptions() throws {
        let given = ["--system", "--service", "a.b", "--json", "--no-color", "--timeout", "7", "--host", "kitchen"]
        var expected = GlobalOptions(
            bus: .system, service: "a.b", json: true, allowsColor: false, timeout: .seconds(7))
        expected.host = .one("kitchen")
        let declared = Set(Program.declaration.command.options.map { "--" + $0.name })
        #expect(Set(given.filter { $0.hasPrefix("--") }).union(["--session", "--bus"]) == declared)
        // That one prints a text of its own.
        for verb in Self.verbs where verb.name != "metrics" {
            let line = [verb.name] + (Self.operands[verb.name] ?? [])
            #expect(try Line.read(given + line).options == expected, "\(verb.name)")
            #expect(try Line.read(line + given).options == expected, "\(verb.name)")
            #expect(try Line.read(given.prefix(3) + line + given.dropFirst(3)).options == expected, "\(verb.name)")
        }
    }

    @Test("an option that takes a value refuses a wrong one with code 64, its name, the value and what it takes")
    func wrongValues() throws {
        for verb in Self.verbs {
            for option in verb.options + Program.declaration.options {
                guard let argument = option.argument else { continue }
                let line = [verb.name] + (Self.operands[verb.name] ?? [])
                let lacking = try #require(Line.refusal(line + ["--" + option.name]))
                #expect(lacking == CLIFailure(.usage, "option '--\(option.name)' needs an argument: \(option.form)"))
                // A folder may have any name but none; of all others, this one has the form of nothing.
                let wrong = argument.name == "DIR" ? "" : "?!"
                let failure = try #require(Line.refusal(line + ["--\(option.name)=\(wrong)"]), "\(option.form)")
                #expect(failure.code == .usage)
                let start = "option '--\(option.name)': '\(wrong)' is no "
                #expect(failure.message.hasPrefix(start), "\(failure.message)")
                // Behind the noun: what is taken instead, as a range, a list, or something that can be copied.
                let advice = failure.message.dropFirst(start.count)
                #expect(advice.contains { ";:".contains($0) || $0.isNumber }, "\(failure.message)")
            }
        }
    }

    @Test("options of one name are alike in all verbs, and none has the name of one that every verb has")
    func names() {
        var forms: [String: String] = [:]
        let common = Set(Program.declaration.options.map(\.name))
        for verb in Self.verbs {
            #expect(Set(verb.options.map(\.name)).count == verb.options.count, "\(verb.name)")
            for option in verb.options {
                #expect(!common.contains(option.name), "\(verb.name) --\(option.name)")
                #expect(forms[option.name] ?? option.form == option.form, "\(verb.name) --\(option.name)")
                forms[option.name] = option.form
            }
            for operand in verb.operands.dropLast() { #expect(operand.count.upperBound == 1, "\(operand.name)") }
        }
    }

    @Test("exit codes stand in their order, each once, and the program's page has all of them")
    func exitCodes() {
        let all = Program.declaration.command.exitCodes.map(\.code)
        for verb in Self.verbs {
            let codes = verb.exitCodes.map(\.code.rawValue)
            #expect(codes == Set(codes).sorted(), "\(verb.name)")
            #expect(Set(verb.exitCodes.map(\.code)).isSubset(of: all), "\(verb.name)")
        }
    }

    @Test("a page as a whole")
    func whole() {
        #expect(
            page(List.declaration) == """
                Usage: relay-cli list [--all | --contract]

                Prints the service's interfaces with their events, commands and properties, and the names
                and types of their fields. A field with a '?' may be missing.

                With --contract, prints what programs of another release rely on, in the form of a contract
                file, which 'contract' compares.

                Options:
                  --all               also Stream1 and D-Bus's own interfaces, and objects of other makes
                  --contract          the contracts of the interfaces, as files have them

                Options of every command, before or after its name:
                  --session           the session bus
                  --system            the system bus
                  --bus ADDRESS       the bus at this D-Bus address
                  -s, --service NAME  the service's bus name; without it RELAY_SERVICE in the environment,
                                      else the only service of Relay on the bus that is not secondary
                  --host HOST         the service of another host, by its mirror on this bus; '*': all
                                      mirrors, with the host before each line
                  --json              JSON, one object a line; errors on stderr, too
                  --no-color          no colours on a terminal (so does NO_COLOR in the environment)
                  --timeout SECONDS   how long to wait for a reply (default: 25)
                  --version           the version
                  -h, --help          this text, or a command's

                Examples:
                  relay-cli list
                      what can be watched and called
                  relay-cli list --contract > release-1.contract
                      for a later comparison
                  relay-cli list --all --json
                      everything that is exported, for a program

                Exit codes:
                  0   success
                  64  wrong usage, or a name that the service does not know
                  69  no bus, or no service of Relay on it
                  70  the service failed, or answered what cannot be understood
                  74  the output could not be written
                  75  no reply in time
                  77  the bus or the service does not permit it

                """)
    }
}
