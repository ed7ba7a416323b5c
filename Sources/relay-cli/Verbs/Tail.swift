import RelayTool

/// `tail`: what happened a while ago, then what happens: `watch --since`.
struct Tail: Verb {
    var watch = Watch(isTail: true)

    var goesOn: Bool { true }

    static let declaration = CommandDeclaration(
        "tail",
        summary: "the last events that the service keeps, and those that follow",
        operands: [EventOptions.events],
        options: [since, Watch.count, Watch.duration, EventOptions.noWait, Watch.sample] + EventView.options,
        details: [
            """
            As 'watch --since', which begins a quarter of an hour ago if nothing else is asked for. Every event is
            shown, also on a terminal, unless --sample asks for less.
            """
        ] + EventView.details + EventOptions.when,
        examples: [
            Example("tail", summary: "the last quarter of an hour, and on"),
            Example("tail", "BoxProvisioned", "--since", "start", summary: "all that is kept of one event, and on"),
        ],
        exitCodes: Program.exitCodes(
            ExitMeaning(.ok, "ended by a signal, --count or --for"),
            ExitMeaning(.badValue, "none of these events is kept")))

    private static let since = Option<When>(
        "since", .when(allowsStart: true), "begin with WHEN: 17, 2026-11-20T13:00:00, 13:00, 15m, start",
        standard: "15m")

    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) {
        (watch.events, watch.count, watch.duration) = (
            line[EventOptions.events], line[Watch.count], line[Watch.duration]
        )
        (watch.waitsForService, watch.sample) = (!line[EventOptions.noWait], line[Watch.sample])
        watch.view = try EventView(line, at: time)
        let when = line[Self.since]
        do throws(Unfit) { watch.start = .since(try when.point(at: time)) } catch {
            throw Self.since.refusal(of: when.text, error)
        }
    }

    func run(in context: VerbContext) throws(CLIFailure) { try watch.run(in: context) }
}
