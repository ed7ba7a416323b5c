import RelayTool

/// Every option of every command.
enum OptionKey: Int32, OptionName {
    case session = 256
    case system, bus, service, json, noColor, timeout, version, help
    case count, duration, noWait
    case all

    static let helpOption = Self.help

    var name: String {
        switch self {
        case .session: "session"
        case .system: "system"
        case .bus: "bus"
        case .service: "service"
        case .json: "json"
        case .noColor: "no-color"
        case .timeout: "timeout"
        case .version: "version"
        case .help: "help"
        case .count: "count"
        case .duration: "for"
        case .noWait: "no-wait"
        case .all: "all"
        }
    }

    var placeholder: String? {
        switch self {
        case .bus: "ADDRESS"
        case .service: "NAME"
        case .timeout, .duration: "SECONDS"
        case .count: "N"
        default: nil
        }
    }

    /// The one command that has the option; nil when all have it.
    var command: CommandName? {
        switch self {
        case .count, .duration, .noWait: .watch
        case .all: .list
        default: nil
        }
    }

    var help: String {
        switch self {
        case .session: "the session bus"
        case .system: "the system bus"
        case .bus: "the bus at this D-Bus address"
        case .service: "the service's bus name (\(GlobalOptions.standardService))"
        case .json: "JSON, one object a line"
        case .noColor: "no colours on a terminal (so does NO_COLOR in the environment)"
        case .timeout: "how long to wait for a reply (25)"
        case .version: "the version"
        case .help: "this text, or a command's"
        case .count: "end after N events"
        case .duration: "end after this time"
        case .noWait: "end with exit code 69 if the service is not there"
        case .all: "also Stream1 and D-Bus's own interfaces, and objects of other makes"
        }
    }
}
