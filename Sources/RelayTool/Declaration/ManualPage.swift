/// A manual page in roff (man(7)), made from a declaration: what `--help` says, for `man`.
package struct ManualPage {
    private let program: ProgramDeclaration
    private var text = ""

    /// - Parameters:
    ///   - verb: nil: the program as a whole.
    ///   - section: of the manual: 1 for everybody's commands, 8 for an administrator's.
    package static func text(of verb: CommandDeclaration?, in program: ProgramDeclaration, section: Int) -> String {
        var page = ManualPage(program: program)
        page.append(verb ?? program.command, isVerb: verb != nil, section)
        return page.text
    }
    /// `relay-cli-watch.1`
    package static func fileName(
        of verb: CommandDeclaration?, in program: ProgramDeclaration, section: Int
    ) -> String {
        title(of: verb, in: program) + ".\(section)"
    }
    private static func title(of verb: CommandDeclaration?, in program: ProgramDeclaration) -> String {
        verb.map { "\(program.name)-\($0.name)" } ?? program.name
    }

    private init(program: ProgramDeclaration) { self.program = program }

    private mutating func append(_ command: CommandDeclaration, isVerb: Bool, _ section: Int) {
        let title = Self.title(of: isVerb ? command : nil, in: program)
        line(".TH \(Self.quoted(title.uppercased())) \(section) \"\" \(Self.quoted("Relay \(Version.current)"))")
        line(".SH NAME")
        line(Self.escaped("\(title) - \(command.summary)"))
        line(".SH SYNOPSIS")
        // One paragraph that is filled, with the arguments' form as help has it.
        line(".B " + Self.escaped(isVerb ? "\(program.name) \(command.name)" : program.name))
        if isVerb || program.verbs.isEmpty {
            for form in HelpPage.forms(of: command) { line(Self.escaped(form)) }
        } else {
            line("[OPTION\\&...] COMMAND [ARGUMENT\\&...]")
        }
        if !command.details.isEmpty { line(".SH DESCRIPTION") }
        for (index, part) in command.details.enumerated() { append(part, isFirst: index == 0) }
        if !isVerb && !program.verbs.isEmpty {
            line(".SH COMMANDS")
            for verb in program.verbs {
                item(([verb.name] + verb.operands.map(\.form)).joined(separator: " "), verb.summary)
            }
        }
        if !command.operands.isEmpty {
            line(".SH ARGUMENTS")
            for operand in command.operands { item(operand.name, operand.summary) }
        }
        let own = isVerb ? command.options : program.options
        if !own.isEmpty {
            line(".SH OPTIONS")
            for option in own { item(HelpPage.row(option)) }
        }
        if isVerb {
            line(".SS Options of every command, before or after its name")
            for option in program.options { item(HelpPage.row(option)) }
        }
        if !command.examples.isEmpty {
            line(".SH EXAMPLES")
            for example in command.examples { item(example.line(of: program.name), example.summary) }
        }
        line(".SH EXIT STATUS")
        for exit in command.exitCodes { item("\(exit.code.rawValue)", exit.meaning) }
        appendRelated(command, isVerb: isVerb, section)
    }

    private mutating func appendRelated(_ command: CommandDeclaration, isVerb: Bool, _ section: Int) {
        let pages =
            (isVerb ? [program.name] : [])
            + program.verbs.filter { !isVerb || $0.name != command.name }.map { "\(program.name)-\($0.name)" }
        guard !pages.isEmpty else { return }
        line(".SH SEE ALSO")
        for (index, page) in pages.enumerated() {
            line(".BR \(Self.escaped(page)) (\(section))" + (index == pages.count - 1 ? "" : ","))
        }
    }

    private mutating func append(_ part: Prose, isFirst: Bool) {
        switch part {
        case .paragraph(let paragraph):
            if !isFirst { line(".PP") }
            line(Self.escaped(Self.joined(paragraph)))
        case .terms(let terms): for term in terms { item(term.key, term.value) }
        case .lines(let lines):
            line(".PP")
            line(".nf")
            line(".RS 4")
            for text in lines.split(separator: "\n", omittingEmptySubsequences: false) { line(Self.escaped(text)) }
            line(".RE")
            line(".fi")
        }
    }
    private mutating func item(_ row: (name: String, meaning: String)) { item(row.name, row.meaning) }
    private mutating func item(_ name: String, _ meaning: String) {
        line(".TP")
        line(".B " + Self.escaped(name))
        line(Self.escaped(Self.joined(meaning)))
    }
    private mutating func line(_ line: String) { text += line + "\n" }

    private static func joined(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
    /// Text that roff takes for text: a backslash is one, a hyphen can be copied, and no line begins with a request.
    private static func escaped(_ text: some StringProtocol) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "…": escaped += "\\&..."
            case "'": escaped += "\\(aq"
            default: escaped.append(character)
            }
        }
        return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
    }
    private static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }
}
