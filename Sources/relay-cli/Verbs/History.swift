import RelayTool

/// `history`: the events that the service keeps, for people.
struct History: Verb {
    var range = JournalRange()
    var view = EventView()

    static let declaration = CommandDeclaration(
        "history",
        summary: "the events that the service keeps, then ends",
        operands: [EventOptions.events],
        options: JournalRange.options + EventView.options,
        details: [
            """
            Prints the events that the service keeps, the oldest first, and ends: what was the newest when it began is
            the last. The lines are as in 'watch', with their dates; so they are with --json. Events of several
            interfaces are merged by their time.
            """,
            """
            Events in between that the service has removed since appear as a gap in their place. Without --since, the
            oldest event that is kept is the first, and what was before it is not reported. With a --since beyond the last
            event nothing is printed but a note on stderr that names the last; the exit code is 0.
            """,
        ] + EventView.details + EventOptions.when,
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
        ExitMeaning(.unavailable, "no bus, no service of Relay on it, or it went away"))

    func run(in context: VerbContext) throws(CLIFailure) {
        let clock = EventClock(dates: .always, offset: context.tool.time.offset)
        let note = context.tool.note
        var style = context.style
        style.fields = view.fields
        let lines = LinesPrinter(style: style, clock: clock, note: note)
        try context.printJournal(range) { selection throws(CLIFailure) in
            try ViewedPrinter(view, lines, offered: selection.offered, selection.events, clock: clock, note: note)
        }
    }
}

extension History {
    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) {
        range = try JournalRange(line, at: time)
        view = try EventView(line, at: time)
    }
}
