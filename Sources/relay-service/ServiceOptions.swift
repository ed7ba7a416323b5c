import RelayCore
import RelayTool
import TelemetryDomain

/// What the command line asks for.
struct ServiceOptions: Equatable {
    enum BusChoice: Equatable {
        case session, system, own
        case address(String)
    }
    enum Domain: String, CaseIterable { case relocation, inventory, telemetry }
    enum Action: Equatable {
        case serve(ServiceOptions)
        case help, version
    }
    /// What a power loss may take.
    enum Synchronous: String, CaseIterable { case full, normal }
    /// nil: the session bus, if the environment names one.
    var bus: BusChoice?
    /// nil: what the environment says.
    var stateDirectory: String?
    var synchronous = Synchronous.full
    var domains: Set<Domain> = [.relocation]
    /// Telemetry samples a second.
    var rate = 10.0
    var logLevel = Log.Level.info
    /// Seconds without a use, after which the service ends; nil: it does not.
    var idleExit: Double?
}

extension ServiceOptions {
    static let program = ProgramDeclaration(
        CommandDeclaration(
            "relay-service",
            summary: "serves boxes and items, or this host's figures, on D-Bus",
            options: [
                session, system, address, ownBus, stateDirectory, synchronous, domain, rate, idleExit, logLevel,
            ],
            exclusive: [buses],
            details: [
                .paragraph(
                    """
                    Serves \(ServiceRunner.name) on D-Bus. Logs to stderr. Ends on SIGTERM, SIGINT and SIGHUP (but under
                    nohup), after what runs has finished. Under systemd, SIGHUP reloads instead.
                    """),
                """
                --domain relocation serves boxes and the items in them, with an event for every change. Both are kept in
                a journal, over restarts and crashes. --domain telemetry publishes this host's own figures, from /proc:
                processors, memory, load and network interfaces in turn, --rate events a second together, each from a
                reading of its time. It keeps nothing, and needs no journal. --domain relocation,telemetry serves both,
                as does --domain twice. --domain inventory is relocation, with the boxes and their loads as a document.
                """,
                """
                The journal is in DIR, or else in $STATE_DIRECTORY (the first, if it is a list), or in
                $XDG_STATE_HOME/relay, or in $HOME/.local/state/relay. One service has it at a time.
                """,
                """
                --idle-exit is for a service that the bus starts on demand. It ends when for so long nobody was
                subscribed, no call ran and nothing was written; with 0 at once, but ten seconds after a start that
                nobody has used. No call is lost: the bus starts it again.
                """,
                """
                --synchronous normal is faster on a slow disk, and gives up that a commit survives a power loss or a
                crash of the system: the last transactions may then be undone, though subscribers have seen their
                events. A crash or kill of the service loses nothing.
                """,
                "docs/OPERATING.md says what to do about each exit code.",
            ],
            examples: [
                Example("--own-bus", summary: "on a machine without a session bus"),
                Example("--domain", "telemetry", "--rate", "100", summary: "this host's figures, a hundred a second"),
            ],
            exitCodes: [
                ExitMeaning(.ok, "ended as asked"),
                ExitMeaning(.usage, "wrong usage, or no folder for the journal"),
                ExitMeaning(.badValue, "the journal is damaged, of a newer version, or not a journal"),
                ExitMeaning(.unavailable, "no bus, or it went away"),
                ExitMeaning(.software, "a fault of the service's"),
                ExitMeaning(.cannotCreate, "the state directory or the journal cannot be made or opened"),
                ExitMeaning(.outputFailed, "the disk is full or has failed: start again"),
                ExitMeaning(.timedOut, "another service has the directory or the name"),
                ExitMeaning(
                    .notPermitted,
                    "the bus does not permit the name"),
            ]))

    private static let session = Option(
        switch: "session", "the session bus (the default, if DBUS_SESSION_BUS_ADDRESS is set)")
    private static let system = Option(switch: "system", "the system bus")
    private static let address = Option<String?>("bus", .busAddress, "the bus at this D-Bus address")
    private static let ownBus = Option(
        switch: "own-bus", "a private bus that ends with the service, for machines without one")
    private static let stateDirectory = Option<String?>(
        "state-directory", .directory, "where the journal is")
    private static let synchronous = Option<Synchronous>(
        "synchronous", .word("MODE"), "how commits are written", standard: "full")
    private static let domain = Option<[Domain]>(
        "domain", .list(of: .word("DOMAIN")), "what to serve, with commas between", standard: "relocation")
    private static let rate = Option<Double?>(
        "rate", .decimal("N", of: "samples a second", TelemetrySampler.rates),
        "telemetry samples a second, from 0.1 to 10000 (default: 10)")
    private static let idleExit = Option<Double?>(
        "idle-exit", .decimal("SECONDS", of: "seconds", 0...86_400),
        "end when nobody has used the service for so long (default: never)")
    private static let logLevel = Option<Log.Level>(
        "log-level", .word("LEVEL", Log.Level.allCases) { $0.name }, "the least that is logged",
        standard: "info")
    private static let buses = ExclusiveOptions(
        session, system, address, ownBus, fault: "two buses are named")

    /// Throws what is wrong, with the offending word and what to do.
    static func parse(_ arguments: [String]) throws(UsageError) -> Action {
        switch try program.parse(arguments) {
        case .help: return .help
        case .version: return .version
        case .run(_, let line): return .serve(try ServiceOptions(line))
        }
    }

    private init(_ line: ParsedLine) throws(UsageError) {
        let addresses = line.all(Self.address)
        if Set(addresses).count > 1 { throw Self.buses.refusal }
        bus =
            if line[Self.session] {
                .session
            } else if line[Self.system] {
                .system
            } else if line[Self.ownBus] {
                .own
            } else {
                line[Self.address].map { .address($0) }
            }
        (stateDirectory, synchronous, logLevel) = (
            line[Self.stateDirectory], line[Self.synchronous], line[Self.logLevel]
        )
        let asked = line.all(Self.domain)
        domains = Set((asked.isEmpty ? [line[Self.domain]] : asked).joined())
        if domains.contains(.inventory) { domains.insert(.relocation) }
        idleExit = line[Self.idleExit]
        guard let rate = line[Self.rate] else { return }
        guard domains.contains(.telemetry) else {
            throw UsageError("option '--rate' is for telemetry; give --domain telemetry, too")
        }
        self.rate = rate
    }
}
