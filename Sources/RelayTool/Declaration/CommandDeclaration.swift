/// All that people and programs can know about a command line: help is made of it, and its arguments are read by it.
package struct CommandDeclaration: Sendable {
    /// As it is typed.
    package let name: String
    /// What it does, in lower case and without a full stop.
    package let summary: String
    /// In their order; only the last may come more than once.
    package let operands: [any DeclaredOperand]
    package let options: [any DeclaredOption]
    package let exclusive: [ExclusiveOptions]
    package let details: [Prose]
    package let examples: [Example]
    package let exitCodes: [ExitMeaning]
    /// Whether `--help` behind an operand is about that operand: then the verb runs, and answers it.
    package let explainsOperands: Bool

    package init(
        _ name: String, summary: String, operands: [any DeclaredOperand] = [], options: [any DeclaredOption] = [],
        exclusive: [ExclusiveOptions] = [], details: [Prose] = [], examples: [Example] = [], exitCodes: [ExitMeaning],
        explainsOperands: Bool = false
    ) {
        self.explainsOperands = explainsOperands
        (self.name, self.summary, self.operands, self.options) = (name, summary, operands, options)
        (self.exclusive, self.details, self.examples, self.exitCodes) = (exclusive, details, examples, exitCodes)
    }
}

/// A program: its verbs, and the options that all of them have. Without verbs, a command line that takes options only.
package struct ProgramDeclaration: Sendable {
    /// `options` are those of every verb.
    package let command: CommandDeclaration
    package let verbs: [CommandDeclaration]
    package let help: Option<Bool>
    package let version = Option(switch: "version", "the version")

    package init(_ command: CommandDeclaration, verbs: [CommandDeclaration] = []) {
        (self.command, self.verbs) = (command, verbs)
        help = Option(switch: "help", letter: "h", verbs.isEmpty ? "this text" : "this text, or a command's")
    }

    package var name: String { command.name }
    /// The options of the program, and those that every program has.
    package var options: [any DeclaredOption] { command.options + [version, help] }

    package func verb(_ name: String) throws(UsageError) -> CommandDeclaration {
        if let verb = verbs.first(where: { $0.name == name }) { return verb }
        let hint = NearMiss.hint(for: name, among: verbs.map(\.name))
        throw UsageError("no command '\(name)'" + (hint.isEmpty ? "; \(verbList)" : hint))
    }
    package var verbList: String { "there are \(Words.list(verbs.map(\.name)))" }
}

/// A part of a longer text, free of how wide it is shown, and of how emphasis is written.
package enum Prose: Sendable, ExpressibleByStringLiteral {
    /// Filled to the width; the ends of lines in it are blanks.
    case paragraph(String)
    /// Names, each with what it means.
    case terms(KeyValuePairs<String, String>)
    /// Lines that stay as they are.
    case lines(String)

    package init(stringLiteral text: String) { self = .paragraph(text) }
}

/// A command line that can be typed as it stands.
package struct Example: Sendable {
    /// Without the program's name.
    package let arguments: [String]
    /// What the shell does with the output: `| tail -n 20`.
    package let redirection: String
    /// What it is an example of.
    package let summary: String

    package init(_ arguments: String..., redirection: String = "", summary: String) {
        (self.arguments, self.redirection, self.summary) = (arguments, redirection, summary)
    }

    /// As a shell takes it.
    package func line(of program: String) -> String {
        ([program] + arguments.map(Words.quoted) + (redirection.isEmpty ? [] : [redirection])).joined(separator: " ")
    }
}

/// What an exit code means where it is returned.
package struct ExitMeaning: Equatable, Sendable {
    package let code: ExitCode
    package let meaning: String

    package init(_ code: ExitCode, _ meaning: String) { (self.code, self.meaning) = (code, meaning) }
}

/// Words for sentences and shells.
package enum Words {
    /// `watch, history and help`
    package static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }
    /// One word for a POSIX shell.
    package static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "A"..."Z", "a"..."z", "0"..."9", "_", "-", ".", "/", ":", ",", "=", "@", "+", "%": true
            default: false
            }
        }
        return isPlain && !word.isEmpty ? word : "'" + replacing(["'": #"'\''"#], in: word) + "'"
    }
    /// The text with others for some of its scalars. A shell reads those: for Swift, `'` and an accent behind it are one
    /// character, which is not `'`.
    package static func replacing(_ values: [Unicode.Scalar: String], in text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let value = values[scalar] { result += value.unicodeScalars } else { result.append(scalar) }
        }
        return String(result)
    }
}
