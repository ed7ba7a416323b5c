import RelayTool

/// Every option of every command.
enum OptionKey: Int32, OptionName {
    case session = 256
    case system, bus, service, json, noColor, timeout, version, help
    case since, resume, cursors, until, limit, format
    case count, duration, noWait, sample
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
        case .since: "since"
        case .resume: "resume"
        case .cursors: "cursors"
        case .until: "until"
        case .limit: "limit"
        case .format: "format"
        case .count: "count"
        case .duration: "for"
        case .noWait: "no-wait"
        case .sample: "sample"
        case .all: "all"
        }
    }

    var placeholder: String? {
        switch self {
        case .bus: "ADDRESS"
        case .service: "NAME"
        case .timeout, .duration: "SECONDS"
        case .since, .until: "WHEN"
        case .resume: "NAME"
        case .cursors: "DIR"
        case .format: "FORMAT"
        case .count, .limit, .sample: "N"
        default: nil
        }
    }

    /// The commands that have the option; nil when all have it.
    var commands: [CommandName]? {
        switch self {
        case .since: [.watch, .history, .export]
        case .until, .limit: [.history, .export]
        case .format: [.export]
        case .resume, .cursors, .count, .sample: [.watch]
        case .duration, .noWait: [.watch, .top]
        case .all: [.list]
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
        case .since: "begin with WHEN: 17, 2026-11-20T13:00:00, 13:00, 15m, start"
        case .resume: "go on where the watch of this name stopped"
        case .cursors: "the folder where --resume keeps its places"
        case .until: "end with WHEN: 17, 2026-11-20T13:00:00, 13:00, 15m"
        case .limit: "end after the first N events"
        case .format: "json (the standard) or csv"
        case .count: "end after N events"
        case .duration: "end after this time; for a table of top, measure so long"
        case .noWait: "end with exit code 69 if the service is not there"
        case .sample: "about N lines a second (40 on a terminal); 0 shows every event"
        case .all: "also Stream1 and D-Bus's own interfaces, and objects of other makes"
        }
    }
}
