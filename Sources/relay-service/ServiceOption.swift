import RelayTool

/// The daemon's options.
enum ServiceOption: Int32, OptionName {
    case session = 256
    case system, bus, ownBus, stateDirectory, synchronous, domain, rate, logLevel, version, help

    static let helpOption = Self.help

    var name: String {
        switch self {
        case .session: "session"
        case .system: "system"
        case .bus: "bus"
        case .ownBus: "own-bus"
        case .stateDirectory: "state-directory"
        case .synchronous: "synchronous"
        case .domain: "domain"
        case .rate: "rate"
        case .logLevel: "log-level"
        case .version: "version"
        case .help: "help"
        }
    }
    var placeholder: String? {
        switch self {
        case .bus: "ADDRESS"
        case .stateDirectory: "DIR"
        case .synchronous: "HOW"
        case .domain: "NAME"
        case .rate: "N"
        case .logLevel: "LEVEL"
        default: nil
        }
    }
    var help: String {
        switch self {
        case .session: "the session bus (the default, if DBUS_SESSION_BUS_ADDRESS is set)"
        case .system: "the system bus"
        case .bus: "the bus at this D-Bus address"
        case .ownBus: "a private bus that ends with the service, for machines without one"
        case .stateDirectory: "where the journal is; see below"
        case .synchronous: "full (the default) or normal; see below"
        case .domain: "what to serve: relocation (the default), telemetry, or both: see below"
        case .rate: "telemetry samples a second, from 0.1 to 10000 (10)"
        case .logLevel: "error, warning, info (the default) or debug"
        case .version: "the version"
        case .help: "this text"
        }
    }
}
