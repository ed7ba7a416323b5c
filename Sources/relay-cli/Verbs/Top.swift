import Glibc
import RelayCore
import RelayTool

/// `top`: rates, latencies and subscribers, live.
struct Top: Verb {
    /// Plain or qualified by an interface; empty: all events.
    var events: [String] = []
    var duration: Duration?
    var waitsForService = true
    /// nil: streams first, and where a table is printed both.
    var page: TopPage?
    var sorting: TopSorting?

    static let declaration = CommandDeclaration(
        "top",
        summary: "rates, latencies and subscribers, live",
        operands: [EventOptions.events],
        options: [page, order, isReversed, duration, EventOptions.noWait],
        details: [
            "Shows for each interface and event, updated each second:",
            .terms([
                "RATE/S": "events that came in the last second",
                "P50, P99": """
                from the publishing to the arrival here, of the last five seconds: half, and 99 of 100, took no longer
                """,
                "LAG": "events of the interface by which the service was ahead",
                "LOST": "events that did not come, and cannot be had",
            ]),
            """
            A graph shows the course of the rate, bars how the latencies of the selected row are spread. Below stands who is
            subscribed: by which transport it gets the events (BY), and how many it has yet to see (LAG). A narrow
            terminal has fewer columns, and no part of one.
            """,
            """
            Keys: '?' shows all of them. tab goes to the subscribers and back, the arrows select a row, enter shows it by
            itself and esc the list again; 's' sorts by the next column, 'r' reverses the order. 'q' and ctrl-C end it;
            ctrl-Z gives the terminal back until 'fg'.
            """,
            """
            A service that the bus can start is started, and does not exit as idle while it is shown.
            """,
            """
            Streams are sorted by name, rate, p50, p99, lag or lost, subscribers by lag, name, transport or interface.
            """,
            """
            Where the output is no terminal, or a dumb one, and with --json (times in microseconds), it measures for a
            second, or --for SECONDS, prints a table, and ends.
            """,
        ],
        examples: [
            Example("top", summary: "all events, on the whole terminal"),
            Example("top", "--view", "subscribers", summary: "who is subscribed, those who lag the most first"),
            Example("top", "CPUSampled", "--for", "10", "--json", summary: "ten seconds' figures, for a program"),
        ],
        exitCodes: Program.exitCodes())

    private static let duration = Option<Duration?>(
        "for", .seconds, "end after this time; where a table is printed, measure so long")

    private static let page = Option<TopPage?>("view", .word("VIEW"), "begin with this page; print this table alone")
    private static let order = Option<TopOrder?>("sort", .word("COLUMN"), "sort the rows by this column")
    private static let isReversed = Option(switch: "reverse", "from Z to A, and the smallest figures first")

    /// For what can be done without.
    private static let patience = Duration.seconds(2)

    /// Where it is shown.
    private enum Place {
        /// Full screen, until it is ended.
        case screen(Terminal, hasColor: Bool, isUTF8: Bool)
        /// A table of one second's figures, or of `duration`'s.
        case table(isJSON: Bool, isUTF8: Bool)
    }
    /// Those that would leave a terminal as it must not be left, and those that change it.
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]

    func run(in context: VerbContext) throws(CLIFailure) {
        let bus = try context.locateBus()
        let (tool, isJSON) = (context.tool, context.options.json)
        let isUTF8 = OutputStyle.isUTF8(tool.environment)
        let isDrawn = tool.isTerminal && !isJSON && !["", "dumb"].contains(tool.environment["TERM"] ?? "")
        // Before any other thread.
        let signals = try isDrawn ? SignalDescriptor(Self.signals) : SignalDescriptor()
        let place =
            isDrawn
            ? Place.screen(
                Terminal(output: tool.output, input: tool.input), hasColor: context.style.hasColor, isUTF8: isUTF8)
            : .table(isJSON: isJSON, isUTF8: isUTF8)
        try show(at: place, on: bus, signals, context)
    }

    /// Joins the bus, the machine and the terminal. Returns when it is over, waiting on this thread until then.
    private func show(
        at place: Place, on bus: BusChoice, _ signals: SignalDescriptor, _ context: VerbContext
    ) throws(CLIFailure) {
        let (service, timeout) = (context.options.service, context.options.timeout)
        // For the names of subscribers' programs; without it they have none.
        let programs = TopPrograms(
            context.options.json ? nil : try? context.tool.openPeer(bus, min(timeout, Self.patience)))
        let (counters, inbox) = (TopCounters(), TopInbox(wakeup: try Wakeup()))
        let followed = try context.follow(on: bus, startsService: true) { input in
            switch input {
            case .event(let event): counters.add(event, now: Timestamp.now.microseconds)
            case .gap(let interface, let gap): counters.add(gap, of: interface)
            case .state(let state): inbox.post(.state(state))
            case .outage(let message): inbox.post(.outage(message))
            }
        }
        let discovery = Discovery(caller: followed, timeout: timeout, service: service)
        let reader = JournalReader(caller: followed, service: service, timeout: timeout)
        followed.activate()
        defer { followed.invalidate() }
        let perform = { (action: TopMachine.Action) in
            switch action {
            case .discover: Task { inbox.post(.discovered(await discovery.outcome())) }
            case .follow(let selection):
                Task {
                    await followed.follow(selection)
                    inbox.post(.following)
                }
            case .end: break  // The loop's own.
            }
        }
        let askStatus = { (interfaces: [String]) in
            _ = Task {
                var all: [(String, TopStatus?)] = []
                for interface in interfaces { all.append((interface, try? await reader.topStatus(of: interface))) }
                inbox.post(.status(all))
                let peers = Set(all.flatMap { $0.1?.subscribers?.listed.map(\.peer) ?? [] })
                inbox.post(.programs(programs.programs(of: peers)))
            }
        }
        let failure: CLIFailure?
        switch place {
        case .screen(let terminal, let hasColor, let isUTF8):
            var loop = TopLoop(
                TopMachine(events: events, service: service, on: Bus(bus), waits: waitsForService),
                TopScreen(terminal, hasColor: hasColor), TopBrowser(page: page ?? .streams, sorting: sorting),
                terminal: terminal, counters: counters, inbox: inbox,
                signals: signals, duration: duration, isUTF8: isUTF8, perform: perform, askStatus: askStatus)
            failure = loop.run()
        case .table(let isJSON, let isUTF8):
            var table = TopTable(
                TopMachine(events: events, service: service, on: Bus(bus), waits: false), counters: counters,
                inbox: inbox,
                signals: signals, duration: duration ?? .seconds(1), perform: perform, askStatus: askStatus)
            failure = table.measure()
            if failure == nil, let model = table.result {
                var channel = context.tool.channel
                if isJSON {
                    TopJSON.append(model, to: &channel.pending)
                } else {
                    let lines = TopView(isUTF8: isUTF8).table(model, page: page, sorting: sorting)
                    for line in lines { channel.pending.append(line.text + "\n") }
                }
                _ = try channel.drain()
            }
        }
        if let failure { throw failure }
    }
}

extension Top {
    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) {
        (events, duration) = (line[EventOptions.events], line[Self.duration])
        waitsForService = !line[EventOptions.noWait]
        page = line[Self.page]
        let isReversed = line[Self.isReversed]
        guard let order = line[Self.order] else {
            if isReversed { sorting = TopSorting(order: .standard(on: page ?? .streams), isReversed: true) }
            return
        }
        let orders = TopOrder.all(on: page ?? .streams)
        if !orders.contains(order) {
            let shown = page ?? .streams
            throw UsageError(
                "option '--sort': \(shown.rawValue) are not sorted by '\(order.rawValue)', but by "
                    + "\(Words.list(orders.map(\.rawValue))); give --view \(shown.other.rawValue) for that column")
        }
        sorting = TopSorting(order: order, isReversed: isReversed)
    }
}

extension JournalReader {
    /// Throws `ServiceAbsent` or `CLIFailure`.
    fileprivate func topStatus(of interface: String) async throws -> TopStatus {
        try await ask("Status", of: interface, StatusReply.signature) { try TopStatus.read(&$0) }
    }
}
