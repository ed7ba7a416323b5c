/// What the command line asks for.
struct Invocation: Equatable, Sendable {
    enum Action: Equatable, Sendable {
        case help(CommandName?)
        case version
        case watch(WatchOptions)
        case top(TopOptions)
        case history(HistoryOptions)
        case export(HistoryOptions, ExportFormat)
        case call(CallOptions)
        case list(ListOptions)
        case status
    }
    var options = GlobalOptions()
    var action: Action
}

/// Which bus was asked for.
enum BusChoice: Hashable, Sendable {
    case session, system
    case address(String)
}

/// Options that every command takes.
struct GlobalOptions: Equatable, Sendable {
    static let standardService = "org.eventrelay.Service1"
    /// nil: the session bus, or else the private bus of `relay-service --own-bus`.
    var bus: BusChoice?
    var service = standardService
    var json = false
    var allowsColor = true
    /// How long a call may wait for its reply.
    var timeout: Duration = .seconds(25)
}

/// `watch [EVENT…] [--since WHEN | --resume NAME [--cursors DIR]] [--count N] [--for SECONDS] [--no-wait] [--sample N]`
struct WatchOptions: Equatable, Sendable {
    /// Plain or qualified by an interface; empty: all events.
    var events: [String] = []
    var start = WatchStart.now
    var count: UInt64?
    var duration: Duration?
    var waitsForService = true
    /// Lines a second; 0: every event. nil: what suits the output.
    var sample: UInt64?

    /// What a terminal is given.
    static let terminalSample: UInt64 = 40
    /// Lines a second, where not every event is to be shown. Who asks for what was kept wants all of it.
    func linesPerSecond(isTerminal: Bool) -> UInt64? {
        let lines = sample ?? (isTerminal && start == .now ? Self.terminalSample : 0)
        return lines == 0 ? nil : lines
    }
}

/// `top [EVENT…] [--for SECONDS] [--no-wait]`
struct TopOptions: Equatable, Sendable {
    /// Plain or qualified by an interface; empty: all events.
    var events: [String] = []
    var duration: Duration?
    var waitsForService = true
}

/// Where `watch` begins.
enum WatchStart: Equatable, Sendable {
    case now
    case since(StreamPoint)
    /// Where the subscriber of this name stopped. nil: its place is kept in the standard folder.
    case resuming(name: String, folder: String?)
}

/// `history [EVENT…] [--since WHEN] [--until WHEN] [--limit N]`
struct HistoryOptions: Equatable, Sendable {
    /// Plain or qualified by an interface; empty: all events.
    var events: [String] = []
    var since = StreamPoint.oldest
    /// nil: what is the newest event when the command begins.
    var until: StreamPoint?
    var limit: UInt64?
}

/// What `export` writes.
enum ExportFormat: String, CaseIterable, Sendable {
    case json, csv
}

/// `call COMMAND [key=value…]`
struct CallOptions: Equatable, Sendable {
    struct Argument: Equatable, Sendable {
        let key: String
        let value: String
    }
    /// Plain or qualified by an interface.
    var command: String
    /// In the order given.
    var arguments: [Argument] = []
}

/// `list [--all]`
struct ListOptions: Equatable, Sendable {
    var all = false
}
