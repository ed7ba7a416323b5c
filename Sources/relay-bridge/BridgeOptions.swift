import RelayCore
import RelayDaemon
import RelayMirrors
import RelayTool

/// What the command line asks for.
struct BridgeOptions: Sendable {
    enum Task: Sendable {
        case export
        /// nil: what the environment says.
        case mirror(stateDirectory: String?)
    }
    enum Action: Sendable {
        case run(BridgeOptions)
        /// A text that was asked for.
        case print(String)
    }
    let task: Task
    let bus: Bus
    let host: String
    let services: [String]
    let interfaces: [String]
    /// Of the carrier.
    let carrier: String
    let logLevel: Log.Level
}

extension BridgeOptions {
    static let program = ProgramDeclaration(
        CommandDeclaration(
            "relay-bridge", summary: "exports services to other hosts, and mirrors theirs",
            details: [
                .paragraph(
                    """
                    relay-bridge export appends the events of services of this host's bus to a carrier. relay-bridge
                    mirror follows a carrier, and serves what another host's service has published under the name
                    \(MirrorName.prefix).HOST.SERVICE on this host's bus, with the same events, gaps and documents. Both
                    run until SIGTERM, and wait for what is away. docs/internals/MIRRORS.md says how.
                    """)
            ],
            examples: [
                Example("export", "--carrier", "/srv/carrier", "org.example.Printer", summary: "one service"),
                Example(
                    "mirror", "--host", "kitchen", "--carrier", "/srv/carrier", "org.example.Printer",
                    summary: "the same on another host"),
                Example("policy", summary: "who may own the names of mirrors on a system bus"),
            ],
            exitCodes: exitCodes),
        verbs: [export, mirror, policy])

    private static let exitCodes = [
        ExitMeaning(.ok, "ended as asked"), ExitMeaning(.usage, "wrong usage"),
        ExitMeaning(.badValue, "a replica is damaged, or is no replica"),
        ExitMeaning(.unavailable, "a replica has failed: start again"),
        ExitMeaning(.software, "a fault of the program's"),
        ExitMeaning(.cannotCreate, "the state directory cannot be made or opened"),
        ExitMeaning(.timedOut, "somebody else exports or mirrors the same"),
        ExitMeaning(.notPermitted, "the bus does not permit the name"),
    ]
    static let export = CommandDeclaration(
        "export", summary: "appends the events of this host's services to a carrier", operands: [services],
        options: [session, system, address, host, carrier, interfaces, logLevel], exclusive: [buses],
        details: [
            """
            Each durable interface has a channel of its own. What was published before is exported, too, as far as the
            service's journal has it. The position is in the channel, so that nothing is lost or doubled by a kill.
            """
        ], examples: [Example("export", "--carrier", "/srv/carrier", "org.example.Printer", summary: "one service")],
        exitCodes: exitCodes)
    static let mirror = CommandDeclaration(
        "mirror", summary: "serves another host's services on this host's bus", operands: [services],
        options: [session, system, address, host, carrier, interfaces, stateDirectory, logLevel], exclusive: [buses],
        details: [
            """
            Each service has a replica in a folder of DIR, or of relay-bridge in $STATE_DIRECTORY or
            $XDG_STATE_HOME. A replica that is removed is built again from the carrier.
            """
        ],
        examples: [
            Example(
                "mirror", "--host", "kitchen", "--carrier", "/srv/carrier", "org.example.Printer",
                summary: "what the host kitchen exports")
        ], exitCodes: exitCodes)
    static let policy = CommandDeclaration(
        "policy", summary: "prints the policy of a system bus for mirrors", operands: [], options: [user],
        examples: [Example("policy", "--user", "relay-mirror", summary: "for /etc/dbus-1/system.d")],
        exitCodes: [ExitMeaning(.ok, "printed"), ExitMeaning(.usage, "wrong usage")])

    private static let services = Operand(
        some: ValueKind<String>.serviceName("SERVICE", example: "org.example.Printer"), "a service of the origin's host"
    )
    private static let session = Option(switch: "session", "the session bus (the default)")
    private static let system = Option(switch: "system", "the system bus")
    private static let address = Option<String?>("bus", .busAddress, "the bus at this D-Bus address")
    private static let buses = ExclusiveOptions(session, system, address, fault: "two buses are named")
    private static let host = Option<String?>(
        "host",
        ValueKind("HOST") { text throws(Unfit) in
            guard MirrorName.isHost(text) else {
                throw Unfit(
                    "is no host's name for mirrors; give at most 63 lower-case letters, digits, '_' and '-' that do not "
                        + "begin with a digit or '-'")
            }
            return text
        }, "the origin's host (default of export: this machine's name)")
    private static let carrier = Option<String?>("carrier", .directory, "the carrier's folder")
    private static let interfaces = Option<[String]?>(
        "interface",
        .list(
            of: ValueKind("INTERFACE") { text throws(Unfit) in
                do throws(RelayError) { try BusNames.check(text, as: .interface) } catch {
                    throw Unfit("is no interface's name, such as org.example.Printing1")
                }
                return text
            }), "these interfaces alone, with commas between (default: all that are durable)")
    private static let stateDirectory = Option<String?>("state-directory", .directory, "where the replicas are")
    private static let logLevel = Option<Log.Level>(
        "log-level", .word("LEVEL", Log.Level.allCases) { $0.name }, "the least that is logged", standard: "info")
    private static let user = Option<String>(
        "user",
        ValueKind("USER") { text throws(Unfit) in
            if text.isEmpty || text.contains(where: { "<>&\"'".contains($0) || $0.isWhitespace }) {
                throw Unfit("is no user's name")
            }
            return text
        }, "the user that mirrors run as", standard: "relay-mirror")

    /// - Parameter machine: the machine's name.
    static func parse(_ arguments: [String], machine: String) throws(UsageError) -> Action {
        switch try program.parse(arguments) {
        case .help(let verb): return .print(HelpPage.text(of: verb, in: program))
        case .version: return .print(HelpPage.version(of: program))
        case .run(let verb, let line):
            if verb?.name == policy.name { return .print(MirrorName.policy(for: line[user])) }
            return .run(try BridgeOptions(line, isExport: verb?.name == export.name, machine))
        }
    }
    private init(_ line: ParsedLine, isExport: Bool, _ machine: String) throws(UsageError) {
        guard let carrier = line[Self.carrier] else { throw UsageError("there is no carrier; give --carrier DIR") }
        guard let host = line[Self.host] ?? (isExport ? MirrorName.host(ofMachine: machine) : nil) else {
            throw UsageError(
                isExport
                    ? "this machine's name '\(machine)' is no host's name for mirrors; give one with --host HOST"
                    : "there is no host; give the origin's with --host HOST")
        }
        task = isExport ? .export : .mirror(stateDirectory: line[Self.stateDirectory])
        bus = line[Self.address].map { .address($0) } ?? (line[Self.system] ? .system : .session)
        (self.host, self.carrier, services) = (host, carrier, line[Self.services])
        (interfaces, logLevel) = (line[Self.interfaces] ?? [], line[Self.logLevel])
        for service in services {
            do throws(RelayError) { _ = try MirrorName(of: service, at: host) } catch {
                throw UsageError(error.message)
            }
        }
    }
}
