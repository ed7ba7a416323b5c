import RelayCore
import RelayDaemon
import RelayTool
import TelemetryDomain
/// What the command line and the settings ask for.
struct ServiceOptions: Equatable {
    enum BusChoice: Equatable {
        case session, system, own
        case address(String)
    }
    enum Domain: String, CaseIterable { case relocation, inventory, telemetry }
    typealias Action = DaemonRequest<ServiceOptions>
    /// What a power loss can undo.
    enum Synchronous: String, CaseIterable { case full, normal }
    static let standardName = "org.eventrelay.Service1"
    /// What `--check-config` reads by default.
    static let standardSettings = "relay-service.conf"

    /// The name on the bus.
    var name = Self.standardName
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
    /// Who may call and subscribe; nil: as `requirement` says.
    var admitted: PeerRequirement?
}

extension ServiceOptions {
    /// Who may call and subscribe, of those whom the bus admits. The system's bus has a policy for that; any other may be
    /// one that somebody else reaches, too.
    var requirement: PeerRequirement { admitted ?? (bus == .system ? .anyone : .sameUser) }

    static let program = ProgramDeclaration(
        CommandDeclaration(
            "relay-service",
            summary: "serves boxes and items, or this host's figures, on D-Bus",
            options: [
                session, system, address, ownBus, busName, admit, stateDirectory, synchronous, domain, rate, idleExit,
                logLevel, config, checkConfig, manual,
            ],
            exclusive: [buses],
            details: [
                .paragraph(
                    """
                    Serves \(standardName) on D-Bus. Logs to stderr. Ends on SIGTERM, SIGINT and SIGHUP (but under
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
                --admit says who may call the service and receive its events, of those whom the bus admits: user, the
                service's own user; group:NAME, that user and the members of a group; anyone. Without it, user; on the
                system bus anyone, since the policy files of that bus say who that is. On any other bus, user limits the
                calls alone: whoever that bus admits can read the events.
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
                .paragraph(
                    DaemonOptions.details(
                        keys, standard: standardSettings,
                        reload: """
                            Under systemd, SIGHUP reads them again: LogLevel and Rate change at once, the others with \
                            the next start.
                            """)),
                """
                relay-service check [FILE] and relay-service backup FILE check and copy a journal, also while a service uses
                it: each has a --help of its own.
                """,
                "docs/OPERATING.md says what to do about each exit code.",
            ],
            examples: [
                Example("--own-bus", summary: "on a machine without a session bus"),
                Example("--domain", "telemetry", "--rate", "100", summary: "this host's figures, a hundred a second"),
                Example("--config", standardSettings, "--check-config", summary: "what the installed settings say"),
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
                ExitMeaning(.wrongSettings, "the settings are wrong: the message names file and line"),
            ]))
    /// What a configuration may set. The bus is that of the unit, or of the D-Bus service file.
    static let keys = ConfigurationKeys(
        section: "Service", [busName, admit, stateDirectory, synchronous, domain, rate, idleExit, logLevel])

    private static let (session, system, address) = (
        DaemonOptions.session, DaemonOptions.system, DaemonOptions.address
    )
    private static let (config, manual, logLevel) = (
        DaemonOptions.config, DaemonOptions.manual, DaemonOptions.logLevel
    )
    private static let checkConfig = DaemonOptions.checkConfig(standardSettings)
    private static let ownBus = Option(
        switch: "own-bus", "a private bus that ends with the service, for machines without one")
    private static let busName = Option<String>(
        "name", .serviceName("NAME", example: standardName), "the service's name on the bus", standard: standardName)
    private static let admit = Option<PeerRequirement?>(
        "admit", DaemonOptions.who,
        "who may call and subscribe: user, group:NAME or anyone (default: user; with --system, anyone)")
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
    private static let buses = ExclusiveOptions(
        session, system, address, ownBus, fault: "two buses are named")

    /// Reads the arguments, and the settings that they name.
    ///
    /// Throws what is wrong: with the offending word, or with file and line, and what to do.
    /// - Parameter folders: where settings are looked for.
    static func parse(
        _ arguments: [String], folders: [String] = ConfigurationSearch.standardFolders
    ) throws(ServiceFailure) -> Action {
        try Action(arguments, of: program, keys, standard: standardSettings, folders: folders) {
            (line) throws(UsageError) in try ServiceOptions(line)
        }
    }

    /// The keys whose values differ from those of a service that runs, and that count only when it starts.
    func changesAtNextStart(from running: ServiceOptions) -> [String] {
        func changed<Value: Equatable>(_ value: KeyPath<Self, Value>, _ option: any DeclaredOption) -> String? {
            self[keyPath: value] == running[keyPath: value] ? nil : ConfigurationKeys.key(of: option)
        }
        return [
            changed(\.name, Self.busName), changed(\.admitted, Self.admit),
            changed(\.stateDirectory, Self.stateDirectory),
            changed(\.synchronous, Self.synchronous), changed(\.domains, Self.domain),
            changed(\.idleExit, Self.idleExit),
        ].compactMap { $0 }
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
        (name, stateDirectory, synchronous, logLevel) = (
            line[Self.busName], line[Self.stateDirectory], line[Self.synchronous], line[Self.logLevel]
        )
        let asked = line.all(Self.domain)
        domains = Set((asked.isEmpty ? [line[Self.domain]] : asked).joined())
        if domains.contains(.inventory) { domains.insert(.relocation) }
        (idleExit, admitted) = (line[Self.idleExit], line[Self.admit])
        guard let rate = line[Self.rate] else { return }
        guard domains.contains(.telemetry) else {
            throw UsageError("option '--rate' is for telemetry; give --domain telemetry, too")
        }
        self.rate = rate
    }
}
