import RelayBridge
import RelayCore
import RelayDaemon
import RelayMirrors
import RelayTool
import RelayWire

/// What the command line and the settings ask for.
struct BridgeOptions: Sendable {
    enum Carrier: Hashable, Sendable {
        case folder(String)
        case nats(NatsSettings)
    }
    let bus: Bus
    /// This machine's name for those who mirror its services.
    let host: String
    let exports: [String]
    let mirrors: [MirrorName]
    /// Empty: all that are durable.
    let interfaces: [String]
    let carrier: Carrier
    /// Whether exports go to streams for other consumers of NATS, too.
    let makesCloudEvents: Bool
    /// Who may follow the mirrors; nil: whom the origin's contract admits.
    let admitted: PeerRequirement?
    /// nil: what the environment says.
    let stateDirectory: String?
    let logLevel: Log.Level
    /// The policy of a bus for a bridge that runs as this user, with mirrors for this group.
    struct Policy: Hashable, Sendable {
        let user: String
        let group: String?
    }
    /// Is to be printed, and nothing else done.
    let policy: Policy?
}

extension BridgeOptions {
    /// What `--check-config` reads by default.
    static let standardSettings = "relay-bridge.conf"

    static let program = ProgramDeclaration(
        CommandDeclaration(
            "relay-bridge", summary: "exports services to other hosts, and mirrors theirs",
            options: [
                exports, mirrors, carrier, host, interfaces, admit, credentials, authorities, certificate, key, streams,
                cloudEvents,
                replicas, keepBytes, keepDays, session, system, address, stateDirectory, logLevel, config, checkConfig,
                policy, manual,
            ],
            exclusive: [buses],
            details: [
                .paragraph(
                    """
                    Appends the events of services of this host's bus to a carrier (--export), and serves what services
                    of other hosts have published under the name \(MirrorName.prefix).HOST.SERVICE on this host's bus
                    (--mirror), with the same events, gaps and documents. Runs until SIGTERM, and waits for what is
                    away. docs/SCALE_OUT.md says how to use it, docs/internals/MIRRORS.md how it works.
                    """),
                """
                The carrier is a folder that both hosts have, or NATS with JetStream: the URLs of servers of one
                cluster, with commas between. Each durable interface of a service has a channel of its own: a file, or a
                stream, which is made unless --make-streams is no. --replicas, --keep-bytes and --keep-days are of
                streams that are made. What they remove before a mirror has it, is a gap there.
                """,
                """
                With --cloud-events yes, each exported event also goes to a stream for consumers that know nothing of Relay:
                a message an event, in JSON, with the headers of CloudEvents.
                """,
                """
                What a service published before it was exported is exported, too, as far as its journal has it. The
                position is in the channel, so that nothing is lost or doubled by a kill.
                """,
                """
                On a system bus all users can read the signals of what has no policy: --bus-policy prints one, for the mirrors
                that are named with it, by --mirror or by the settings. Put it into /etc/dbus-1/system.d.
                """,
                """
                A mirror refuses commands. Its events go to those whom the origin's contract admits, by the users and
                groups of this host, or to whom --admit says. Each mirror has a replica in a folder of DIR, or of
                relay-bridge in $STATE_DIRECTORY or $XDG_STATE_HOME. A replica that is removed is built again from the
                carrier.
                """,
                .paragraph(
                    DaemonOptions.details(
                        keys, standard: standardSettings, reload: "Changes count with the next start.")),
            ],
            examples: [
                Example(
                    "--export", "org.example.Printer", "--carrier", "nats://hub:4222",
                    summary: "one service of this host"),
                Example(
                    "--mirror", "kitchen/org.example.Printer", "--carrier", "nats://hub:4222",
                    summary: "the same on another host"),
                Example(
                    "--bus-policy", "relay-bridge:eventrelay-users", "--mirror", "kitchen/org.example.Printer",
                    summary: "who may own a mirror's name on a system bus, and use it"),
            ],
            exitCodes: [
                ExitMeaning(.ok, "ended as asked"), ExitMeaning(.usage, "wrong usage"),
                ExitMeaning(.badValue, "a replica is damaged, or is no replica"),
                ExitMeaning(.unavailable, "a replica has failed: start again"),
                ExitMeaning(.software, "a fault of the program's"),
                ExitMeaning(.cannotCreate, "the state directory cannot be made or opened"),
                ExitMeaning(.timedOut, "somebody else exports or mirrors the same"),
                ExitMeaning(.notPermitted, "the bus does not permit the name"),
                ExitMeaning(.wrongSettings, "the settings are wrong: the message names file and line"),
            ]))
    /// What a configuration may set. The bus is that of the unit.
    static let keys = ConfigurationKeys(
        section: "Bridge",
        [
            exports, mirrors, carrier, host, interfaces, admit, credentials, authorities, certificate, key, streams,
            cloudEvents,
            replicas, keepBytes, keepDays, stateDirectory, logLevel,
        ])

    private static let exports = Option<[String]?>(
        "export", .list(of: .serviceName("SERVICE", example: "org.example.Printer")),
        "services of this host to export, with commas between")
    private static let mirrors = Option<[MirrorName]?>(
        "mirror",
        .list(
            of: ValueKind("HOST/SERVICE") { text throws(Unfit) in
                let parts = text.split(separator: "/", omittingEmptySubsequences: false)
                guard parts.count == 2 else {
                    throw Unfit("is no service of a host, such as kitchen/org.example.Printer")
                }
                do throws(RelayError) { return try MirrorName(of: String(parts[1]), at: String(parts[0])) } catch {
                    throw Unfit("is no service of a host: \(error.message)")
                }
            }), "services of other hosts to mirror, with commas between")
    private static let carrier = Option<[String]?>(
        "carrier",
        .list(
            of: ValueKind("CARRIER") { text throws(Unfit) in
                if NatsSettings.isServers(text) || text.hasPrefix("/") { return text }
                throw Unfit("is no carrier; give a folder by its whole path, or nats://HOST:PORT or tls://HOST:PORT")
            }), "a folder, or the URLs of NATS servers")
    private static let host = Option<String?>(
        "host",
        ValueKind("HOST") { text throws(Unfit) in
            guard MirrorName.isHost(text) else {
                throw Unfit(
                    "is no host's name for mirrors; give at most 63 lower-case letters, digits, '_' and '-' that do not "
                        + "begin with a digit or '-'")
            }
            return text
        }, "this machine's name for mirrors (default: the machine's)")
    private static let interfaces = Option<[String]?>(
        "interface",
        .list(
            of: ValueKind("INTERFACE") { text throws(Unfit) in
                do throws(RelayError) { try BusNames.check(text, as: .interface) } catch {
                    throw Unfit("is no interface's name, such as org.example.Printing1")
                }
                return text
            }), "these interfaces alone, with commas between (default: all that are durable)")
    private static let admit = Option<PeerRequirement?>(
        "admit", DaemonOptions.who,
        "who may follow the mirrors: user, group:NAME or anyone (default: as the origin's contract says)")
    private static let credentials = Option<String?>("credentials", .file, "NATS: a credentials file")
    private static let authorities = Option<String?>(
        "tls-authorities", .file, "NATS: who signs the servers' certificates, in PEM (default: the system's)")
    private static let certificate = Option<String?>(
        "tls-certificate", .file, "NATS: this host's certificate, in PEM; with --tls-key")
    private static let key = Option<String?>("tls-key", .file, "NATS: the certificate's key, in PEM")
    private enum Answer: String, CaseIterable { case yes, no }
    private static let streams = Option<Answer>(
        "make-streams", .word("ANSWER"), "NATS: whether to make a stream that is not there", standard: "yes")
    private static let cloudEvents = Option<Answer>(
        "cloud-events", .word("ANSWER"),
        "NATS: whether to append each exported event to a stream for other consumers, too, as a CloudEvent",
        standard: "no")
    private static let replicas = Option<UInt64?>(
        "replicas", .count(of: "replicas", 1...5), "NATS: of a stream that is made, 1 to 5 (default: 1)")
    private static let keepBytes = Option<UInt64?>(
        "keep-bytes", .count(of: "bytes", 1_000_000...UInt64(Int64.max)),
        "NATS: what a stream that is made keeps at most (default: all)")
    private static let keepDays = Option<UInt64?>(
        "keep-days", .count(of: "days", 1...36_500), "NATS: how long a stream that is made keeps it (default: for ever)"
    )
    private static let (session, system, address) = (
        DaemonOptions.session, DaemonOptions.system, DaemonOptions.address
    )
    private static let buses = ExclusiveOptions(session, system, address, fault: "two buses are named")
    private static let stateDirectory = Option<String?>("state-directory", .directory, "where the replicas are")
    private static let (config, manual, logLevel) = (
        DaemonOptions.config, DaemonOptions.manual, DaemonOptions.logLevel
    )
    private static let checkConfig = DaemonOptions.checkConfig(standardSettings)
    private static let policy = Option<Policy?>(
        "bus-policy",
        ValueKind("USER[:GROUP]") { text throws(Unfit) in
            let names = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            let isName = { (name: String) in
                !name.isEmpty && !name.contains { "<>&\"'".contains($0) || $0.isWhitespace }
            }
            guard names.count <= 2, names.allSatisfy(isName) else { throw Unfit("is no user's name, with a group's") }
            return Policy(user: names[0], group: names.count == 2 ? names[1] : nil)
        }, "print the policy of a system bus for a bridge that runs as this user, and for who uses the mirrors, and end"
    )

    /// Reads the arguments, and the settings that they name.
    ///
    /// Throws what is wrong: with the offending word, or with file and line, and what to do.
    /// - Parameters:
    ///   - machine: the machine's name.
    ///   - folders: where settings are looked for.
    static func parse(
        _ arguments: [String], machine: String, folders: [String] = ConfigurationSearch.standardFolders
    ) throws(ServiceFailure) -> DaemonRequest<BridgeOptions> {
        try DaemonRequest(arguments, of: program, keys, standard: standardSettings, folders: folders) {
            (line) throws(UsageError) in try BridgeOptions(line, machine)
        }
    }
    private init(_ line: ParsedLine, _ machine: String) throws(UsageError) {
        policy = line[Self.policy]
        (exports, mirrors) = (line[Self.exports] ?? [], line[Self.mirrors] ?? [])
        carrier = policy == nil ? try Self.carrier(line) : .folder("")
        if policy == nil, exports.isEmpty, mirrors.isEmpty {
            throw UsageError("there is nothing to do; give --export SERVICE, --mirror HOST/SERVICE, or both")
        }
        guard let host = line[Self.host] ?? MirrorName.host(ofMachine: machine) ?? (exports.isEmpty ? "" : nil) else {
            throw UsageError(
                "this machine's name '\(machine)' is no host's name for mirrors; give one with --host HOST")
        }
        for service in exports {
            do throws(RelayError) { _ = try MirrorName(of: service, at: host) } catch {
                throw UsageError(error.message)
            }
        }
        for mirror in mirrors where mirror.host == host && exports.contains(mirror.service) {
            throw UsageError("\(mirror.service) is exported as \(host), and is to be mirrored from there")
        }
        self.host = host
        bus = line[Self.address].map { .address($0) } ?? (line[Self.system] ? .system : .session)
        makesCloudEvents = line[Self.cloudEvents] == .yes
        (interfaces, admitted) = (line[Self.interfaces] ?? [], line[Self.admit])
        (stateDirectory, logLevel) = (line[Self.stateDirectory], line[Self.logLevel])
    }
    private static func carrier(_ line: ParsedLine) throws(UsageError) -> Carrier {
        guard let words = line[carrier] else {
            throw UsageError("there is no carrier; give a folder or NATS servers with --carrier")
        }
        let ofNats: [any DeclaredOption] = [
            credentials, authorities, certificate, key, replicas, keepBytes, keepDays, cloudEvents,
        ]
        if words.allSatisfy({ !NatsSettings.isServers($0) }) {
            if let option = ofNats.first(where: { line.given.contains($0.name) }) {
                throw UsageError("option '--\(option.name)' is for NATS; the carrier \(words[0]) is a folder")
            }
            guard words.count == 1 else { throw UsageError("there are \(words.count) carriers; give one folder") }
            return .folder(words[0])
        }
        guard words.allSatisfy({ NatsSettings.isServers($0) }) else {
            throw UsageError("a carrier is a folder or NATS servers, and not both")
        }
        var settings = NatsSettings(servers: words)
        settings.credentials = line[credentials]
        if [authorities.name, certificate.name, key.name].contains(where: { line.given.contains($0) }) {
            guard (line[certificate] == nil) == (line[key] == nil) else {
                throw UsageError("a certificate goes with its key; give --tls-certificate and --tls-key")
            }
            var tls = NatsSettings.TLS()
            (tls.authorities, tls.certificate, tls.key) = (line[authorities], line[certificate], line[key])
            settings.tls = tls
        }
        settings.makesStreams = line[streams] == .yes
        if let replicas = line[replicas] { settings.replicas = Int(replicas) }
        settings.limits.bytes = line[keepBytes]
        settings.limits.age = line[keepDays].map { .seconds(Int64($0) * 86_400) }
        return .nats(settings)
    }
}
