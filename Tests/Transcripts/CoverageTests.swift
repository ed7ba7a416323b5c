import RelayDaemon
import RelayTool
import TestTraits
import Testing

@testable import relay_cli
@testable import relay_service

/// What the programs declare, beside what is recorded: nothing declared is without an example of what comes of it.
@Suite("What the programs declare is in a transcript") struct CoverageTests {
    /// What a transcript cannot bring about, and what tries it instead.
    private static let exceptions: [String: String] = [
        "relay-service: exit 70": "a fault of the program's own",
        "relay-service check: exit 70": "as the one before, or a signal at the right moment",
        "relay-service backup: exit 70": "as the one before, or a signal at the right moment",
        "completion: exit 75": "two words for it, by what is late; CompletionTests",
        "monitor: exit 70": "a bus that answers what is no answer; MonitorTests",
        "monitor: exit 75": "a bus that does not answer; MonitorTests",
    ]

    private static func commands(of program: String) throws -> [RecordedCommand] {
        try Recorded.all().flatMap(\.runs).flatMap { RecordedCommand.all(in: $0) }.filter { $0.program == program }
    }
    /// What a list of examples lacks of a declaration.
    private static func lacking(
        _ command: CommandDeclaration, common: [any DeclaredOption] = [],
        _ examples: [(line: ParsedLine?, code: Int32?)]
    ) -> [String] {
        let lines = examples.compactMap(\.line)
        var lacking: [String] = []
        for option in command.options + common {
            let values = lines.filter { $0.given.contains(option.name) }
            if values.isEmpty { lacking.append(option.form) }
        }
        for exit in command.exitCodes where !examples.contains(where: { $0.code == exit.code.rawValue }) {
            lacking.append("exit \(exit.code.rawValue)")
        }
        return lacking.map { "\(command.name): \($0)" }.filter { exceptions[$0] == nil }
    }
    /// Words of an option's or an operand's that no example has.
    private static func lackingWords(_ command: CommandDeclaration, _ arguments: [[String]]) -> [String] {
        let given = Set(arguments.joined().flatMap { $0.split(separator: "=").last?.split(separator: ",") ?? [] })
        let words = command.options.flatMap { $0.argument?.words ?? [] } + command.operands.flatMap(\.words)
        return words.filter { !given.contains($0[...]) }.map { "\(command.name): \($0)" }
    }

    @Test("each verb of relay-cli, with each of its options, words and exit codes")
    func verbs() throws {
        let program = Program.declaration
        let commands = try Self.commands(of: "relay-cli")
        var lacking: [String] = []
        for verb in program.verbs {
            // One that is refused has no line, and is its first word's.
            let own = commands.filter {
                $0.arguments.first { word in program.verbs.contains { $0.name == word } } == verb.name
            }
            let examples = own.map { command -> (line: ParsedLine?, code: Int32?) in
                guard case .run(_, let line)? = try? program.parse(command.arguments) else {
                    return (nil, command.code)
                }
                return (line, command.code)
            }
            lacking += Self.lacking(verb, examples) + Self.lackingWords(verb, own.map(\.arguments))
        }
        #expect(lacking == [], "they have no recorded example: Tests/Transcripts/README.md")
    }

    @Test("each option that every verb has, each exit code of the program, and its help and version")
    func program() throws {
        let program = Program.declaration
        let commands = try Self.commands(of: "relay-cli")
        let examples = commands.map { command -> (line: ParsedLine?, code: Int32?) in
            guard case .run(_, let line)? = try? program.parse(command.arguments) else { return (nil, command.code) }
            return (line, command.code)
        }
        #expect(Self.lacking(program.command, examples) == [])
        let typed = Set(commands.map(\.arguments))
        for whole in [["--help"], ["--version"], ["help", "--manual"]] { #expect(typed.contains(whole), "\(whole)") }
        for verb in program.verbs.map(\.name) {
            #expect(typed.contains(["help", verb]) || typed.contains([verb, "--help"]), "the help of \(verb)")
        }
        for group in program.verbs.flatMap(\.exclusive) + program.command.exclusive {
            let message = group.refusal.message
            #expect(try Self.errors().contains { $0.hasSuffix(message) }, "\(message)")
        }
    }

    @Test("relay-service, its check and its backup, with each option, word and exit code")
    func service() throws {
        let commands = try Self.commands(of: "relay-service")
        func examples(
            _ program: ProgramDeclaration, _ commands: [(arguments: [String], code: Int32?)]
        ) -> [(line: ParsedLine?, code: Int32?)] {
            commands.map { command in
                guard case .run(_, let line)? = try? program.parse(command.arguments) else {
                    return (nil, command.code)
                }
                return (line, command.code)
            }
        }
        var lacking: [String] = []
        let tools = [("check", JournalTool.check), ("backup", JournalTool.backup)]
        for (word, program) in tools {
            let own = commands.filter { $0.arguments.first == word }.map { (Array($0.arguments.dropFirst()), $0.code) }
            lacking += Self.lacking(program.command, examples(program, own))
        }
        let program = ServiceOptions.program
        let own = commands.filter { command in !tools.contains { $0.0 == command.arguments.first } }
            .map { ($0.arguments, $0.code) }
        lacking += Self.lacking(program.command, examples(program, own))
        lacking += Self.lackingWords(program.command, own.map(\.0))
        #expect(lacking == [], "they have no recorded example: Tests/Transcripts/README.md")
        let typed = Set(commands.map(\.arguments))
        for whole in [["--help"], ["--version"], ["--manual"], ["check", "--help"], ["backup", "--help"]] {
            #expect(typed.contains(whole), "\(whole)")
        }
    }

    private static func errors() throws -> [String] { try Recorded.all().flatMap(\.runs).flatMap(\.outcome.errors) }

    @Test("each recorded line has its exit code: none was forgotten")
    func complete() throws {
        for transcript in try Recorded.all() {
            for run in transcript.runs { #expect(run.outcome.code != nil, "\(transcript.name):\(run.number)") }
        }
    }
}
