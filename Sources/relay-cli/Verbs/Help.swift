import RelayTool

/// `help`: a page of what is declared.
struct Help: Verb {
    /// A verb's name; nil: the program as a whole.
    var topic: String?
    /// Whether the page is one for man(1).
    var isManual = false

    static let declaration = CommandDeclaration(
        "help",
        summary: "this text, or a command's",
        operands: [command],
        options: [manual],
        details: [
            "Prints what COMMAND does, its options, examples and exit codes; without one, what commands there are."
        ],
        examples: [Example("help", "watch", summary: "all about 'watch'; 'watch --help' prints the same")],
        exitCodes: [
            ExitMeaning(.ok, "success"), ExitMeaning(.usage, "no such command"),
            ExitMeaning(.outputFailed, "the output could not be written"),
        ])

    private static let command = Operand(
        optional: ValueKind<String>("COMMAND") { text throws(Unfit) in text }, "a command's name")

    private static let manual = Option(switch: "manual", "a manual page in roff, for man(1)")

    var asksService: Bool { false }

    func run(in context: VerbContext) throws(CLIFailure) {
        let verb = Program.declaration.verbs.first { $0.name == topic }
        try context.tool.write(
            isManual
                ? ManualPage.text(of: verb, in: Program.declaration, section: 1)
                : HelpPage.text(of: verb, in: Program.declaration, width: context.tool.columns))
    }
}

extension Help {
    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) {
        isManual = line[Self.manual]
        guard let name = line[Self.command], name != Self.declaration.name || isManual else { return }
        topic = try Program.declaration.verb(name).name
    }
}
