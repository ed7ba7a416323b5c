import RelayTool

/// `history`: the events that the service keeps, for people.
struct History: Verb {
    var range = JournalRange()

    static let declaration = CommandDeclaration(
        "history",
        summary: "the events that the service keeps, then ends",
        operands: [EventOptions.events],
        options: JournalRange.options,
        details: [
            """
            Prints the events that the service keeps, the oldest first, and ends: what was the newest when it began is
            the last. The lines are as in 'watch', with their dates; so they are with --json. Events of several interfaces are merged by their
            time.
            """,
            """
            Events in between that the service has removed since appear as a gap in their place. Without --since, the
            oldest event that is kept is the first, and what was before it is not reported.
            """,
        ] + EventOptions.when,
        examples: [
            Example("history", "--since", "1h", summary: "the last hour"),
            Example(
                "history", "ItemMoved", "--since", "2026-11-20", "--limit", "100",
                summary: "the first hundred of one event since that day"),
            Example("history", redirection: "| tail -n 20", summary: "the last twenty"),
        ],
        exitCodes: exitCodes)

    static let exitCodes = Program.exitCodes(
        ExitMeaning(.badValue, "the service keeps none of these events"),
        ExitMeaning(.unavailable, "no bus, no service on it, or it went away"))

    func run(in context: VerbContext) throws(CLIFailure) {
        let clock = EventClock(dates: .always, offset: context.tool.time.offset)
        let printer = LinesPrinter(style: context.style, clock: clock, note: context.tool.note)
        try context.printJournal(range) { _ in printer }
    }
}

extension History {
    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) { range = try JournalRange(line, at: time) }
}
