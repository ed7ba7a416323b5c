import RelayTool

/// A verb of the program: one file that declares it, and a value that is what a command line asks of it.
protocol Verb: Equatable, Sendable {
    static var declaration: CommandDeclaration { get }

    /// `time` is what times of the day and durations are reckoned from. Throws what only this verb can see to be wrong.
    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError)

    func run(in context: VerbContext) throws(CLIFailure)

    /// Whether it needs to know which service is meant before it runs.
    var asksService: Bool { get }
    /// How long it looks for services, where none is named; nil: long enough to ask those again that were late.
    var patience: Duration? { get }
    /// Whether it goes on until it is told to end.
    var goesOn: Bool { get }
}

extension Verb {
    var asksService: Bool { true }
    var patience: Duration? { nil }
    var goesOn: Bool { false }
}

/// The command line of relay-cli: its verbs, and what is the same in each of them.
enum Program {
    /// In the order in which help shows them.
    static let verbs: [any Verb.Type] = [
        Watch.self, Tail.self, Top.self, Metrics.self, History.self, Export.self, Call.self, Get.self, SetFields.self,
        List.self, CompareContracts.self, Status.self, Doctor.self, Monitor.self, NewService.self, Completion.self,
        Help.self,
    ]

    static let declaration = ProgramDeclaration(
        CommandDeclaration(
            "relay-cli",
            summary: "shows and commands services that publish typed events on D-Bus",
            options: GlobalOptions.declared,
            exclusive: [GlobalOptions.buses],
            details: [
                """
                Shows and commands a service that publishes typed events on D-Bus, from what the service tells about
                itself: any service built with RelayCore will do.
                """
            ],
            examples: [
                Example("list", summary: "what the service offers"),
                Example("watch", summary: "its events, as they happen"),
                Example("call", "OrderBox", "label=Kitchen", "capacity=10", summary: "one of its commands"),
            ],
            exitCodes: [
                ExitMeaning(.ok, "success"),
                ExitMeaning(
                    .refused, "the service refused, in a way that the command declares; a check of doctor failed"),
                ExitMeaning(.usage, "wrong usage, or an unknown name"),
                ExitMeaning(.badValue, "a bad value, or events that are not kept"),
                ExitMeaning(.unavailable, "no bus, or no service of Relay on it"),
                ExitMeaning(.software, "the service failed"),
                ExitMeaning(.cannotCreate, "no folder for the places of --resume"),
                ExitMeaning(.outputFailed, "the output could not be written, or the service's disk is full"),
                ExitMeaning(.timedOut, "no reply in time, or another watch resumes by that name"),
                ExitMeaning(.notPermitted, "the bus or the service does not permit it"),
            ]),
        verbs: verbs.map { $0.declaration })

    /// The exit codes of a verb that asks a service: those that all of these have, with what is the verb's own.
    static func exitCodes(_ own: ExitMeaning...) -> [ExitMeaning] {
        let common = [
            ExitMeaning(.ok, "success"),
            ExitMeaning(.usage, "wrong usage, or a name that the service does not know"),
            ExitMeaning(.unavailable, "no bus, or no service of Relay on it"),
            ExitMeaning(.software, "the service failed, or answered what cannot be understood"),
            ExitMeaning(.outputFailed, "the output could not be written"),
            ExitMeaning(.timedOut, "no reply in time"),
            ExitMeaning(.notPermitted, "the bus or the service does not permit it"),
        ]
        let all = own + common.filter { entry in !own.contains { $0.code == entry.code } }
        return all.sorted { $0.code.rawValue < $1.code.rawValue }
    }

    /// What a command line asks for.
    enum Request {
        /// nil: for the program as a whole.
        case help(CommandDeclaration?)
        case version
        case run(any Verb, GlobalOptions)
    }

    /// Reads the arguments that follow the program's name. Throws `.usage` with the word that is wrong, and what to do.
    static func parse(_ arguments: [String], at time: LocalTime) throws(CLIFailure) -> Request {
        do throws(UsageError) {
            switch try declaration.parse(arguments) {
            // As `help help` does.
            case .help(let verb): return .help(verb?.name == Help.declaration.name ? nil : verb)
            case .version: return .version
            case .run(let verb, let line):
                guard let type = verbs.first(where: { $0.declaration.name == verb?.name }) else {
                    preconditionFailure("the parser returns no verb that is not in the list")
                }
                let options = try GlobalOptions(line)
                return .run(try type.init(line, at: time), options)
            }
        } catch {
            throw CLIFailure(.usage, error.message, excerpt: error.excerpt)
        }
    }
}
