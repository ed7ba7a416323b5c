import RelayCore
import RelayTool
import TelemetryDomain

/// What the command line asks for.
struct ServiceOptions: Equatable {
    enum BusChoice: Equatable {
        case session, system, own
        case address(String)
    }
    enum Domain: String, CaseIterable { case relocation, telemetry }
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
    var rate = standardRate
    var logLevel = Log.Level.info

    private static let standardRate = 10.0
    static let version = "relay-service \(Version.current)\n"
    static var help: String {
        """
        Usage: relay-service [--session | --system | --bus ADDRESS | --own-bus] [OPTION…]

        Serves \(ServiceRunner.name) on D-Bus. Logs to stderr. Ends on SIGTERM, SIGINT and
        SIGHUP (but under nohup), after what runs has finished.

        Options:
        \(ServiceOption.lines(Array(ServiceOption.allCases), width: 24))
        --domain relocation serves boxes and the items in them, with an event for every change.
        Both are kept in a journal, over restarts and crashes. --domain telemetry publishes this
        host's own figures, from /proc: processors, memory, load and network interfaces in turn,
        --rate events a second together, each from a reading of its time. It keeps nothing, and
        needs no journal. --domain relocation,telemetry serves both, as does --domain twice.

        The journal is in DIR, or else in $STATE_DIRECTORY (the first, if it is a list), or in
        $XDG_STATE_HOME/relay, or in $HOME/.local/state/relay. One service has it at a time.

        --synchronous normal is faster on a slow disk, and gives up that a commit survives a
        power loss or a crash of the system: the last transactions may then be undone, though
        subscribers have seen their events. A crash or kill of the service loses nothing.

        Exit codes: 0 ended as asked, 64 wrong usage, 65 the journal is damaged, of a newer
        version, or not a journal, 69 no bus or it went away, 70 a fault of the service's,
        73 the state directory or the journal cannot be made or opened, 74 the disk is full or
        has failed: start again, 75 another service has the directory or the name, 77 the bus
        does not permit it. docs/OPERATING.md tells what to do about each.

        """
    }

    /// Throws `InvalidArgument` with the offending word and what to do.
    static func parse(_ arguments: [String]) throws(RelayError) -> Action {
        let scanned = try OptionScanner<ServiceOption>.scan(arguments)
        let keys = scanned.options.map(\.key)
        if keys.contains(.help) { return .help }
        if keys.contains(.version) { return .version }
        if let operand = scanned.operands.first {
            throw RelayError(
                .invalidArgument, "there is no argument '\(operand)': relay-service takes options only (--help)")
        }
        var options = ServiceOptions()
        var (domains, rate) = (Set<Domain>(), Double?.none)
        for option in scanned.options {
            let argument = option.argument ?? ""
            switch option.key {
            case .session: try options.choose(.session)
            case .system: try options.choose(.system)
            case .ownBus: try options.choose(.own)
            case .bus:
                if argument.isEmpty { throw RelayError(.invalidArgument, "--bus needs an address: unix:path=…") }
                try options.choose(.address(try BusAddress.check(argument)))
            case .stateDirectory:
                if argument.isEmpty { throw RelayError(.invalidArgument, "--state-directory needs a folder") }
                options.stateDirectory = argument
            case .synchronous:
                options.synchronous = try value(argument, of: "way of writing", Synchronous.allCases) { $0.rawValue }
            case .domain: domains.formUnion(try Self.domains(argument))
            case .rate: rate = try Self.rate(argument)
            case .logLevel: options.logLevel = try value(argument, of: "log level", Log.Level.allCases) { $0.name }
            case .help, .version: break
            }
        }
        if !domains.isEmpty { options.domains = domains }
        if let rate {
            if !options.domains.contains(.telemetry) {
                throw RelayError(.invalidArgument, "--rate is that of telemetry: give --domain telemetry, too")
            }
            options.rate = rate
        }
        return .serve(options)
    }
    private static func domains(_ list: String) throws(RelayError) -> [Domain] {
        try list.split(separator: ",", omittingEmptySubsequences: false).map { name throws(RelayError) in
            try value(String(name), of: "domain", Domain.allCases) { $0.rawValue }
        }
    }
    private static func rate(_ text: String) throws(RelayError) -> Double {
        let isPlain = text.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
        guard isPlain, let rate = Double(text), TelemetrySampler.rates.contains(rate) else {
            throw RelayError(
                .invalidArgument, "--rate '\(text)' is no number of samples a second between 0.1 and 10000")
        }
        return rate
    }
    private mutating func choose(_ choice: BusChoice) throws(RelayError) {
        if let bus, bus != choice {
            throw RelayError(
                .invalidArgument, "two buses are named: give one of --session, --system, --bus and --own-bus")
        }
        bus = choice
    }
    private static func value<Value>(_ text: String, of what: String, _ all: [Value], _ name: (Value) -> String)
        throws(RelayError) -> Value
    {
        if let found = all.first(where: { name($0) == text }) { return found }
        let names = all.map(name)
        let hint = NearMiss.hint(for: text, among: names)
        let advice = hint.isEmpty ? "; there is \(names.joined(separator: ", "))" : hint
        throw RelayError(.invalidArgument, "there is no \(what) '\(text)'\(advice)")
    }
}
