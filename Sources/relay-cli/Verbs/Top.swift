import Glibc
import RelayCore
import RelayTool

/// `top`: rates, latencies and subscribers, live.
struct Top: Verb {
    /// Plain or qualified by an interface; empty: all events.
    var events: [String] = []
    var duration: Duration?
    var waitsForService = true

    static let declaration = CommandDeclaration(
        "top",
        summary: "rates, latencies and subscribers, live",
        operands: [EventOptions.events],
        options: [duration, EventOptions.noWait],
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
            A graph shows the course of the rate. Below stands for each subscriber of the service by which transport it
            gets the events, and how many it has yet to see.
            """,
            "'q' and ctrl-C end it; ctrl-Z gives the terminal back until 'fg'.",
            """
            Where the output is no terminal, or a dumb one, and with --json (times in microseconds), it measures for a
            second, or --for SECONDS, prints a table, and ends.
            """,
        ],
        examples: [
            Example("top", summary: "all events, on the whole terminal"),
            Example("top", "CPUSampled", "--for", "10", "--json", summary: "ten seconds' figures, for a program"),
        ],
        exitCodes: Program.exitCodes())

    private static let duration = Option<Duration?>(
        "for", .seconds, "end after this time; where a table is printed, measure so long")

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
        let (counters, inbox) = (TopCounters(), TopInbox(wakeup: try Wakeup()))
        let followed = try context.follow(on: bus) { input in
            switch input {
            case .event(let event): counters.add(event, now: Timestamp.now.microseconds)
            case .gap(let interface, let gap): counters.add(gap, of: interface)
            case .state(let state): inbox.post(.state(state))
            }
        }
        let discovery = Discovery(caller: followed, timeout: timeout)
        let reader = JournalReader(caller: followed, timeout: timeout)
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
            }
        }
        let failure: CLIFailure?
        switch place {
        case .screen(let terminal, let hasColor, let isUTF8):
            var loop = TopLoop(
                TopMachine(events: events, service: service, waits: waitsForService),
                TopScreen(terminal, hasColor: hasColor), terminal: terminal, counters: counters, inbox: inbox,
                signals: signals, duration: duration, isUTF8: isUTF8, perform: perform, askStatus: askStatus)
            failure = loop.run()
        case .table(let isJSON, let isUTF8):
            var table = TopTable(
                TopMachine(events: events, service: service, waits: false), counters: counters, inbox: inbox,
                signals: signals, duration: duration ?? .seconds(1), perform: perform, askStatus: askStatus)
            failure = table.measure()
            if failure == nil, let model = table.result {
                var channel = OutputChannel(descriptor: context.tool.output)
                if isJSON {
                    TopJSON.append(model, to: &channel.pending)
                } else {
                    for line in TopView(isUTF8: isUTF8).lines(model) { channel.pending.append(line.text + "\n") }
                }
                _ = try channel.drain()
            }
        }
        if let failure { throw failure }
    }
}

extension Top {
    init(_ line: ParsedLine, at time: LocalTime) {
        (events, duration) = (line[EventOptions.events], line[Self.duration])
        waitsForService = !line[EventOptions.noWait]
    }
}

extension JournalReader {
    /// Throws `ServiceAbsent` or `CLIFailure`.
    fileprivate func topStatus(of interface: String) async throws -> TopStatus {
        try await ask("Status", of: interface, TopStatus.signature) { try TopStatus.read(&$0) }
    }
}
