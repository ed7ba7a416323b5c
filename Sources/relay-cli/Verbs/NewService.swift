import RelayCore
import RelayTool

/// `new-service`: the package of a service of one's own.
struct NewService: Verb {
    var name: ServiceName
    var folder: String
    /// Where Relay's sources are.
    var relay: String

    static let declaration = CommandDeclaration(
        "new-service",
        summary: "writes the package of a service of your own",
        operands: [service, directory],
        options: [relay],
        details: [
            """
            Writes a Swift package into DIRECTORY: a contract, a service that keeps its events, a front end, a test,
            a hardened unit, bus activation and policy for the system bus, and a Debian package. It builds as it is.
            NAME is the service's name on the bus. DIRECTORY must be new or empty.
            """,
            "The package depends on Relay by path. A path that is not absolute begins at DIRECTORY.",
        ],
        examples: [
            Example("new-service", "org.example.Printer", "printer", summary: "with the sources of librelay-dev"),
            Example(
                "new-service", "--relay", "../relay", "org.example.Printer", "printer",
                summary: "with a clone of Relay beside it"),
        ],
        exitCodes: [
            ExitMeaning(.ok, "success"),
            ExitMeaning(
                .usage, "wrong usage, a name that no service can have, a folder that is not empty, or no Relay"),
            ExitMeaning(.cannotCreate, "the folder or a file cannot be made"),
            ExitMeaning(.outputFailed, "the output could not be written"),
        ])

    private static let service = Operand(
        ValueKind<ServiceName>("NAME") { text throws(Unfit) in
            switch ServiceName.read(text) {
            case .success(let name): return name
            case .failure(let refusal): throw Unfit(refusal.reason)
            }
        }, "the service's name on the bus, such as org.example.Printer")
    private static let directory = Operand(path("DIRECTORY"), "the folder of the package")
    private static let relay = Option(
        "relay", path("DIR"), "where Relay's sources are", standard: "/usr/share/relay")
    private static func path(_ name: String) -> ValueKind<String> {
        ValueKind<String>(name) { text throws(Unfit) in
            // A manifest cannot have it, and no message shows it.
            guard !text.isEmpty, text.unicodeScalars.allSatisfy(\.isPlainlyVisible) else {
                throw Unfit("is no folder; give the path of one")
            }
            return text
        }
    }

    /// The author of a first service may have no bus yet.
    var asksService: Bool { false }

    func run(in context: VerbContext) throws(CLIFailure) {
        try RelaySources.check(relay, from: folder)
        let template = ServiceTemplate(name: name, relay: relay)
        try PackageWriter.write(template.files, into: folder)
        let lines = template.files.map { "\(folder)/\($0.path)\n" }.joined()
        try context.tool.write(lines)
        context.tool.note("next: cd \(Words.quoted(folder)); swift build; README.md says how to go on")
    }
}

extension NewService {
    init(_ line: ParsedLine, at time: LocalTime) {
        (name, folder, relay) = (line[Self.service], line[Self.directory], line[Self.relay])
    }
}
