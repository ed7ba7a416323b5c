import RelayCore
import RelayTool
/// `watch`: a line for each event, as it happens.
struct Watch: Verb {
    /// Plain or qualified by an interface; empty: all events.
    var events: [String] = []
    var start = WatchStart.now
    var count: UInt64?
    var duration: Duration?
    var waitsForService = true
    /// Whether an event counts as seen when its line was confirmed, and not before.
    var confirms = false
    /// Lines a second; 0: every event. nil: what suits the output.
    var sample: UInt64?
    var view = EventView()
    /// Whether it was asked for as `tail`, which has no beginning to leave out.
    var isTail = false

    var goesOn: Bool { true }

    static let declaration = CommandDeclaration(
        "watch",
        summary: "a line for each event, as it happens",
        operands: [EventOptions.events],
        options: [EventOptions.since, resume, cursors, confirm, count, duration, EventOptions.noWait, sample]
            + EventView.options,
        exclusive: [beginnings],
        details: [
            """
            Prints a line for each event as it happens: local time (with the date, if it is not today's), sequence, name,
            fields.
            """,
            .lines(#"09:15:04.123 #17 BoxProvisioned boxID=3 capacity=10 title="Kitchen""#),
            """
            EVENT is a name (BoxProvisioned) or one with its interface (org.eventrelay.Relocation1.BoxProvisioned).
            """,
            """
            Events that were missed appear as a gap in their place. Waits for a service that is not there yet, and for
            one that went away. Ends with exit code 0 on SIGINT, on SIGTERM, and when --count or --for is met.
            """,
            """
            A service that the bus can start is started, and does not exit as idle while it is watched. One that went
            away is not started again. If a start fails, the reason is reported. Without --service and RELAY_SERVICE, on
            a bus without a service of Relay, the first one that comes is watched.
            """,
            "Of an array of more than 16 numbers the first 8 are shown; with --json it is whole.",
            """
            On a terminal, events that come faster than about 40 a second are sampled: each name has its share of the
            lines, and once a second a line says how many were skipped. Elsewhere every event is shown. --sample chooses
            either. What --since asks for of the past is shown whole, and so is everything with --resume.
            """,
            """
            With --since, the events that the service keeps from WHEN on come first. With --resume, so do those after
            the last one that a watch of this name has written out; the first time, all that are kept. NAME is up to 64
            letters, digits, '_' and '-', one for each set of events. Each event is shown at least once: after a kill,
            the last ones may come again. A second watch of the name at the same time is refused (75). The places are
            files in relay-cli/SERVICE of --cursors DIR, else of $XDG_STATE_HOME/relay/cursors, else of
            $HOME/.local/state/relay/cursors.
            """,
            """
            With --resume and --confirm, an event counts as seen when stdin has a line for it, whatever that line says. A
            line that comes before its event was written counts for none. So a pipeline loses nothing that its reader had
            not dealt with when it was killed. Ends when stdin does. Examples/notifier shows such a pipeline.
            """,
            """
            A document that EVENT names is shown first as it is now, with the time of this look, then each change of it: the
            fields that have changed; with --json the whole state, the first one with "transport":"state". The first is
            not counted by --count. With --since and --resume, changes only. If the journal was replaced, by a backup for
            example, the state that it has is shown.
            """,
            """
            A volatile interface keeps no events: they are shown from now on, and a note says so.
            """,
            """
            With --json an object a line; a gap is {"gap":{"interface":…,"first":5,"last":9,…}}, with its "count" and
            "reason", and null for what is not known. If the journal was replaced, the reason is "historyReplaced", and
            "commonThrough" is the sequence up to which its history is the same: what came above it is undone. What was
            skipped is {"skipped":{"interface":…,"events":9812}}. Integers are exact; NaN and infinities are "NaN", "Infinity" and
            "-Infinity".
            """,
        ] + EventView.details + EventOptions.when,
        examples: [
            Example("watch", summary: "all events, until ctrl-C"),
            Example(
                "watch", "BoxProvisioned", "--count", "3", "--json",
                summary: "the next three of one event, for a program"),
            Example(
                "watch", "--where", "capacity > 5 && title ~ \"Kit\"", "--format", "{sequence} {title}",
                summary: "some of them, in a form of one's own"),
            Example("watch", "--since", "15m", summary: "first those of the last quarter of an hour"),
            Example("watch", "--resume", "ledger", summary: "from where the watch of this name stopped"),
        ],
        exitCodes: Program.exitCodes(
            ExitMeaning(.ok, "ended by a signal, --count or --for"),
            ExitMeaning(.badValue, "--since or --resume, and none of these events is kept"),
            ExitMeaning(.cannotCreate, "no folder for the places of --resume"),
            ExitMeaning(.outputFailed, "the output, or the place of --resume, could not be written"),
            ExitMeaning(.timedOut, "no reply in time, or another watch resumes by that name")))

    static let duration = Option<Duration?>("for", .seconds, "end after this time")
    private static let resume = Option<String?>(
        "resume", .cursorName, "go on where the watch of this name stopped")
    private static let cursors = Option<String?>("cursors", .directory, "the folder where --resume keeps its places")
    private static let confirm = Option(
        switch: "confirm", "with --resume: an event counts as seen when stdin has a line for it")
    static let count = Option<UInt64?>("count", .events, "end after N events")
    static let sample = Option<UInt64?>(
        "sample", .count(of: "lines", 0...1_000_000),
        "about N lines a second (40 on a terminal); 0 shows every event")
    private static let beginnings = ExclusiveOptions(
        EventOptions.since, resume, fault: "two beginnings were asked for")

    func run(in context: VerbContext) throws(CLIFailure) {
        let bus = try context.locateBus()
        let (tool, given) = (context.tool, context.options)
        // Before any other thread, of which the connection is the first.
        let stop = try tool.stop()
        var context = context
        let end = duration.map { ContinuousClock.now + $0 }
        if given.isAssumed && waitsForService {
            tool.note("waiting for a service of Relay on \(Bus(bus))")
            let wait = ServiceWait(tool: tool, bus: bus, timeout: given.timeout, stop: stop.descriptor, end: end)
            guard let service = try wait.service() else { return }
            context.options.service = service
        }
        let options = context.options
        let wakeup = try Wakeup()
        let queue = WatchQueue(wakeup: wakeup)
        let cursors: String? = if case .resuming(_, let folder) = start { folder } else { nil }
        let followed = try context.follow(on: bus, startsService: true, cursors: cursors) { queue.append($0) }
        let discovery = Discovery(caller: followed, timeout: options.timeout, service: options.service)
        let beginning = WatchBeginning(
            start, isTail: isTail, service: options.service, followed: followed,
            reader: JournalReader(caller: followed, service: options.service, timeout: options.timeout),
            onNews: { wakeup.wake() })
        followed.activate()
        defer { followed.invalidate() }
        var style = context.style
        style.fields = view.fields
        var loop = WatchLoop(
            WatchMachine(
                self, service: options.service, on: Bus(bus),
                printer: EventPrinter(
                    style: style, clock: .local(dates: .ofOtherDays { Timestamp.now.microseconds }),
                    template: view.template),
                linesPerSecond: linesPerSecond(isTerminal: tool.isTerminal)),
            output: tool.channel, queue: queue, wakeup: wakeup, stop: stop.descriptor,
            duration: end.map { max(.zero, $0 - .now) },
            confirmations: confirms ? LineConfirmations(descriptor: tool.input) : nil,
            now: { Timestamp.now.microseconds },
            perform: { action in
                switch action {
                case .discover: Task { queue.post(.discovered(await discovery.outcome())) }
                case .follow(let selection):
                    Task { queue.post(await beginning.begin(selection)) }
                case .show(let documents):
                    Task {
                        queue.post(await DocumentState.all(documents, asking: followed, timeout: options.timeout))
                    }
                case .note(let text): tool.note(text)
                case .end: break  // The loop's own.
                }
            })
        if let failure = loop.run() { throw failure }
    }

    /// What a terminal is given.
    private static let terminalSample: UInt64 = 40
    /// Lines a second, where not every event is to be shown. Who resumes wants all of them.
    func linesPerSecond(isTerminal: Bool) -> UInt64? {
        let resumes = if case .resuming = start { true } else { false }
        let lines = sample ?? (isTerminal && !resumes ? Self.terminalSample : 0)
        return lines == 0 ? nil : lines
    }
}

extension Watch {
    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) {
        (events, count, duration) = (line[EventOptions.events], line[Self.count], line[Self.duration])
        (waitsForService, sample) = (!line[EventOptions.noWait], line[Self.sample])
        view = try EventView(line, at: time)
        let folder = line[Self.cursors]
        if let name = line[Self.resume] {
            if sample ?? 0 > 0 {
                throw UsageError("'--resume' shows every event: '--sample' does not go with it")
            }
            start = .resuming(name: name, folder: folder)
            confirms = line[Self.confirm]
        } else if line[Self.confirm] {
            throw UsageError("option '--confirm' says when the place of '--resume NAME' moves on; give that, too")
        } else if folder != nil {
            throw UsageError("option '--cursors' says where '--resume NAME' keeps its place; give that, too")
        } else if let point = try EventOptions.since.point(in: line, at: time) {
            start = .since(point)
        }
    }
}

extension ValueKind where Value == String {
    /// What a watch resumes by: also the name of a file.
    fileprivate static let cursorName = ValueKind("NAME") { text throws(Unfit) in
        let isName = text.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "A"..."Z", "a"..."z", "0"..."9", "_", "-": true
            default: false
            }
        }
        guard isName, (1...64).contains(text.utf8.count) else {
            throw Unfit("is no name: 1 to 64 letters (A to Z), digits, '_' and '-'")
        }
        return text
    }
}
