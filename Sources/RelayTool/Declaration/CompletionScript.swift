/// Completion for a shell, made from a declaration: verbs, options, words that an argument can be, and names that the
/// program itself is asked for.
///
/// A shell is given data, never a text to expand: what the program prints may come from anybody. The scripts compare it with the
/// line, and insert it quoted. They offer printable ASCII only: a completion must not act on the terminal.
package struct CompletionScript {
    package enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

    /// An argument of which the program knows the values: `EVENT` asks `relay-cli completion --names events`.
    package struct Names: Sendable {
        /// What an operand or an option's argument is called in the declaration.
        package let argument: String
        /// What the program prints the names with, one a line.
        package let command: [String]
        /// Whether the verb's first operand follows: the fields of a command are asked by its name.
        package let takesFirst: Bool

        package init(argument: String, command: [String], takesFirst: Bool = false) {
            (self.argument, self.command, self.takesFirst) = (argument, command, takesFirst)
        }
    }

    let program: ProgramDeclaration
    let names: [Names]

    package static func text(for shell: Shell, of program: ProgramDeclaration, names: [Names] = []) -> String {
        let script = CompletionScript(program: program, names: names)
        return switch shell {
        case .bash: script.bash
        case .zsh: script.zsh
        case .fish: script.fish
        }
    }

    // MARK: What can stand where

    /// What can be typed for an argument.
    enum Values {
        case words([String])
        case command([String], takesFirst: Bool)
        case folders, files
    }
    private func values(_ name: String, _ words: [String]) -> Values? {
        if !words.isEmpty { return .words(words) }
        if let names = names.first(where: { $0.argument == name }) {
            // The bus and the service that the line names are those that are asked.
            return .command(names.command, takesFirst: names.takesFirst)
        }
        return switch name {
        case "DIR": .folders
        case "FILE": .files
        default: nil
        }
    }
    func values(of option: any DeclaredOption) -> Values? {
        option.argument.flatMap { values($0.name, $0.words) }
    }
    func values(of operand: any DeclaredOperand) -> Values? {
        operand.name == "COMMAND" && operand.words.isEmpty && operand.count == 0...1 && !program.verbs.isEmpty
            ? .words(program.verbs.map(\.name)) : values(operand.name, operand.words)
    }
    func options(of verb: CommandDeclaration?) -> [any DeclaredOption] {
        program.options + (verb?.options ?? [])
    }
    /// `relay_cli`
    var identifier: String { program.name.split(separator: "-").joined(separator: "_") }
    func spellings(_ option: any DeclaredOption) -> [String] {
        ["--" + option.name] + (option.letter.map { ["-\($0)"] } ?? [])
    }
    /// Options with an argument, whose next word is no operand: of bash and zsh.
    var skips: String {
        let all = optionsWithArguments.filter { $0.name != "bus" && $0.name != "service" }
        return all.isEmpty
            ? "" : "            \(all.flatMap(spellings).joined(separator: " | "))) ((index++)) ;;\n"
    }
    /// Of the program and of all verbs, each once.
    var optionsWithArguments: [any DeclaredOption] {
        var seen: Set<String> = []
        return (options(of: nil) + program.verbs.flatMap(\.options)).filter {
            $0.argument != nil && seen.insert($0.name).inserted
        }
    }
    /// Words for a POSIX shell.
    static func list(_ words: [String]) -> String { words.map(Words.quoted).joined(separator: " ") }
}
