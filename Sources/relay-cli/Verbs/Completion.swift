import RelayTool
/// `completion`: what a shell needs to complete command lines, and the names that it then asks for.
struct Completion: Verb {
    /// What a service is asked for.
    enum Names: String, CaseIterable, Sendable { case events, commands, documents, fields }
    enum Wanted: Equatable, Sendable {
        case script(CompletionScript.Shell)
        /// `command`: the command or document whose fields are wanted.
        case names(Names, command: String?)
    }
    var wanted: Wanted

    /// For all of it, while somebody waits with a finger on the tab key; and how much of it may be spent on finding the
    /// service, where none is named.
    static let limit = Duration.milliseconds(100)
    static let searchLimit = Duration.milliseconds(40)

    static let declaration = CommandDeclaration(
        "completion",
        summary: "a script by which a shell completes command lines",
        operands: [word],
        options: [names],
        details: [
            """
            Prints the script for a shell: bash, zsh or fish. Events, commands, documents and their fields are those of
            the service that runs when the tab key is pressed. It is asked for 100 ms at most, and never started.
            """,
            .terms([
                "bash": "source <(relay-cli completion bash), in ~/.bashrc",
                "zsh": "source <(relay-cli completion zsh), in ~/.zshrc behind compinit",
                "fish": "relay-cli completion fish | source, in config.fish",
            ]),
        ],
        examples: [
            Example("completion", "bash", redirection: "> relay-cli", summary: "for a folder of completions"),
            Example("completion", "--names", "fields", "OrderBox", summary: "what a script asks for"),
        ],
        exitCodes: Program.exitCodes())

    private static let word = Operand(
        optional: ValueKind<String>("SHELL", words: CompletionScript.Shell.allCases.map(\.rawValue)) {
            text throws(Unfit) in text
        }, "a shell; with --names fields, a command's or a document's name")
    private static let names = Option<Names?>(
        "names", .word("KIND", Names.allCases) { $0.rawValue }, "the service's names instead of a script")

    static let asked = [
        CompletionScript.Names(argument: "EVENT", command: ["completion", "--names", "events"]),
        CompletionScript.Names(argument: "COMMAND", command: ["completion", "--names", "commands"]),
        CompletionScript.Names(argument: "DOCUMENT", command: ["completion", "--names", "documents"]),
        CompletionScript.Names(
            argument: "key=value", command: ["completion", "--names", "fields"], takesFirst: true),
    ]

    var patience: Duration? { Self.searchLimit }
    var asksService: Bool { if case .names = wanted { true } else { false } }

    func run(in context: VerbContext) throws(CLIFailure) {
        switch wanted {
        case .script(let shell):
            try context.tool.write(
                CompletionScript.text(for: shell, of: Program.declaration, names: Self.asked))
        case .names(let names, let command):
            let followed = try context.follow(on: try context.locateBus(), startsService: false) { _ in }
            followed.activate()
            defer { followed.invalidate() }
            let isNamed = try context.tool.namedService(context.options) != nil
            let rest = isNamed ? Self.limit : Self.limit - Self.searchLimit
            let service = context.options.service
            let lines = try Waiting.result {
                try await Self.lines(names, of: command, at: service, asking: followed, within: rest)
            }
            try context.tool.write(lines.map { $0 + "\n" }.joined())
        }
    }

    /// Throws `ServiceAbsent` or `CLIFailure`.
    static func lines(
        _ names: Names, of command: String?, at service: String = ServiceFinder.standard,
        asking caller: any ServiceCaller, within patience: Duration = limit
    ) async throws -> [String] {
        let catalogue = try await within(patience, service) {
            try await Discovery(caller: caller, timeout: patience, service: service).catalogue()
        }
        switch names {
        case .events: return unique(catalogue.offered.flatMap { $0.interface.events.map(\.name) })
        case .commands: return unique(catalogue.offered.flatMap { $0.interface.commands.map(\.name) })
        case .documents:
            return unique(
                catalogue.offered.flatMap { entry in
                    entry.interface.events.map(\.name).filter { entry.interface.isDocument($0) }
                })
        case .fields:
            guard let command else { return [] }
            // A document is set by its fields, as a command is called by its arguments.
            if let document = try? catalogue.document(command) { return document.event.fields.map { $0.name + "=" } }
            return try catalogue.command(command).command.arguments.map { $0.name + "=" }
        }
    }
    /// All of it in so long, however many answers that takes. Throws `.timedOut` else.
    private static func within<Value: Sendable>(
        _ patience: Duration, _ service: String, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else {
                throw CLIFailure(
                    .timedOut,
                    "'\(service)' did not say within \(limit) what it offers; try again, or see whether its process is "
                        + "stopped or busy ('doctor')")
            }
            return value
        }
    }
    private static func unique(_ names: [String]) -> [String] { Set(names).sorted() }
}

extension Completion {
    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) {
        let word = line[Self.word]
        if let names = line[Self.names] {
            if names == .fields && word == nil {
                throw UsageError("'--names fields' needs the name of a command or a document")
            }
            wanted = .names(names, command: word)
            return
        }
        let shells = CompletionScript.Shell.allCases.map(\.rawValue)
        guard let word else { throw UsageError("'completion' needs a shell; there are \(Words.list(shells))") }
        guard let shell = CompletionScript.Shell(rawValue: word) else {
            let hint = NearMiss.hint(for: word, among: shells)
            throw UsageError("no shell '\(word)'" + (hint.isEmpty ? "; there are \(Words.list(shells))" : hint))
        }
        wanted = .script(shell)
    }
}
