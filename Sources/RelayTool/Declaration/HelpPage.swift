/// Help as a terminal shows it, made from a declaration.
package struct HelpPage {
    /// In columns, at most: longer lines are hard to read.
    private static let widest = 92
    /// No page is narrower: some words are as long.
    private static let narrowest = 40

    private let program: ProgramDeclaration
    private let width: Int
    private var text = ""
    /// Where the second column of a table begins at most: a longer name stands in a line of its own.
    private var widestColumn: Int { min(32, width * 2 / 5) }

    /// - Parameters:
    ///   - verb: nil: the program as a whole.
    ///   - width: of the terminal, in columns; nil: it goes to none.
    package static func text(
        of verb: CommandDeclaration?, in program: ProgramDeclaration, width: Int? = nil
    ) -> String {
        var page = HelpPage(program: program, width: max(narrowest, min(widest, width ?? widest)))
        if let verb { page.appendVerb(verb) } else { page.appendProgram() }
        return page.text
    }
    package static func version(of program: ProgramDeclaration) -> String { "\(program.name) \(Version.text)\n" }

    private init(program: ProgramDeclaration, width: Int) { (self.program, self.width) = (program, width) }

    // MARK: Pages

    private mutating func appendProgram() {
        let command = program.command
        if program.verbs.isEmpty {
            appendUsage(program.name, command)
        } else {
            text += "Usage: \(program.name) [OPTION…] COMMAND [ARGUMENT…]\n"
        }
        append(command.details)
        if !program.verbs.isEmpty {
            begin("Commands")
            append(
                program.verbs.map { (([$0.name] + $0.operands.map(\.form)).joined(separator: " "), $0.summary) })
        }
        append(Self.ofEveryVerb(program), program.options.map(Self.row))
        appendEnd(of: command)
    }

    private mutating func appendVerb(_ verb: CommandDeclaration) {
        appendUsage("\(program.name) \(verb.name)", verb)
        append(verb.details)
        let rows = [
            ("Arguments", verb.operands.map { ($0.name, $0.summary) }), ("Options", verb.options.map(Self.row)),
            (Self.ofEveryVerb(program), program.options.map(Self.row)),
        ]
        // Of the page's tables, the second columns stand below one another.
        let column = column(rows.flatMap(\.1))
        for (title, rows) in rows where !rows.isEmpty { append(title, rows, column) }
        appendEnd(of: verb)
    }
    private static func ofEveryVerb(_ program: ProgramDeclaration) -> String {
        program.verbs.isEmpty ? "Options" : "Options of every command, before or after its name"
    }

    private mutating func appendEnd(of command: CommandDeclaration) {
        if !command.examples.isEmpty {
            begin("Examples")
            for example in command.examples {
                appendLine(example.line(of: program.name), indent: 2, goesOn: " \\")
                fill(example.summary, indent: 6)
            }
        }
        append("Exit codes", command.exitCodes.map { ("\($0.code.rawValue)", $0.meaning) })
    }

    // MARK: Parts

    private mutating func appendUsage(_ name: String, _ command: CommandDeclaration) {
        let parts = Self.forms(of: command)
        let start = "Usage: \(name)" + (parts.isEmpty ? "" : " ")
        text += start
        // Beside a long name there would be room for a few letters only.
        let indent = start.count * 2 > width ? 4 : start.count
        // What is too long for a line is parted at its blanks.
        let words = parts.flatMap { indent + $0.count > width ? Self.words($0) : [$0] }
        fill(words, indent: indent, from: start.count)
    }
    /// A line as it stands; one that is too long goes on below, after `goesOn`.
    private mutating func appendLine(_ line: String, indent: Int, goesOn: String = "") {
        if indent + line.count <= width {
            text += blanks(indent) + line + "\n"
            return
        }
        var start = blanks(indent)
        var rest = line[...]
        while start.count + rest.count > width {
            let room = width - start.count - goesOn.count
            let head = rest.prefix(max(1, room + 1))
            guard let blank = head.lastIndex(of: " "), blank > rest.startIndex else { break }
            text += start + rest[..<blank] + goesOn + "\n"
            (rest, start) = (rest[rest.index(after: blank)...], blanks(indent + 4))
        }
        text += start + rest + "\n"
    }

    /// Operands and options as a usage line has them: `[EVENT…]`, `[--since TIME]`.
    static func forms(of command: CommandDeclaration) -> [String] {
        var parts = command.operands.map(\.form)
        var shown: Set<String> = []
        for option in command.options where !shown.contains(option.name) {
            let group = command.exclusive.first { $0.options.contains { $0.name == option.name } }?.options ?? [option]
            shown.formUnion(group.map(\.name))
            parts.append("[\(group.map(\.form).joined(separator: " | "))]")
        }
        return parts
    }

    private mutating func append(_ details: [Prose]) {
        for part in details {
            text += "\n"
            switch part {
            case .paragraph(let paragraph): fill(paragraph, indent: 0)
            case .terms(let terms): append(terms.map { ($0.key, $0.value) })
            case .lines(let lines):
                for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
                    appendLine(String(line), indent: 4)
                }
            }
        }
    }

    static func row(_ option: any DeclaredOption) -> (name: String, meaning: String) {
        ((option.letter.map { "-\($0), " } ?? "") + option.form, option.summary + values(of: option))
    }
    /// `: json (the default) or csv`, ` (default: 25)`
    private static func values(of option: any DeclaredOption) -> String {
        guard let argument = option.argument else { return "" }
        guard let last = argument.words.last else { return argument.standard.map { " (default: \($0))" } ?? "" }
        func marked(_ word: String) -> String { word == argument.standard ? word + " (the default)" : word }
        return ": " + argument.words.dropLast().map(marked).joined(separator: ", ") + " or " + marked(last)
    }

    private mutating func begin(_ title: String) { text += "\n\(title):\n" }

    private mutating func append(_ title: String, _ rows: [(name: String, meaning: String)], _ column: Int? = nil) {
        begin(title)
        append(rows, column)
    }
    /// Names and what they mean, side by side where the name leaves room.
    private mutating func append(_ rows: [(name: String, meaning: String)], _ column: Int? = nil) {
        let column = column ?? self.column(rows)
        for row in rows {
            let start = "  \(row.name)"
            text += start.count + 2 > column ? start + "\n" + blanks(column) : start + blanks(column - start.count)
            fill(Self.words(row.meaning), indent: column)
        }
    }
    private func column(_ rows: [(name: String, meaning: String)]) -> Int {
        rows.map { $0.name.count + 4 }.filter { $0 <= widestColumn }.max() ?? 4
    }
    private mutating func fill(_ paragraph: String, indent: Int) {
        text += blanks(indent)
        fill(Self.words(paragraph), indent: indent)
    }
    /// Goes on in a line that has reached `indent`, as do those that follow it.
    private mutating func fill(_ words: [String], indent: Int, from start: Int? = nil) {
        var column = start ?? indent
        for (index, word) in words.enumerated() {
            if index > 0 && column + 1 + word.count > width {
                text += "\n" + blanks(indent)
                column = indent
            } else if index > 0 {
                text += " "
                column += 1
            }
            text += word
            column += word.count
        }
        text += "\n"
    }
    private func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }
    private static func words(_ text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).map(String.init)
    }
}
