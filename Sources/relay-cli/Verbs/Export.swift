import RelayTool

/// `export`: the events that the service keeps, for programs.
struct Export: Verb {
    enum Format: String, CaseIterable, Sendable { case json, csv }

    var range = JournalRange()
    var format = Format.json
    /// Whether CSV has texts as they are, also those that a spreadsheet would run.
    var isRaw = false

    static let declaration = CommandDeclaration(
        "export",
        summary: "the same for programs: JSON Lines or CSV",
        operands: [EventOptions.events],
        options: [format, raw] + JournalRange.options,
        details: [
            """
            Writes the events that 'history' would print, for programs. Memory does not grow with their number, and a
            reader that has enough may leave (| head).
            """,
            .terms([
                "json": """
                an object a line: event, interface, epoch (of the run of the service; a text, as it has 64 random bits),
                sequence, previous, publishedAt, transport, fields. A gap is a line {"gap":{…}} as in 'watch'. Integers are
                exact.
                """,
                "csv": """
                RFC 4180, with a header, lines ended by CR LF, UTF-8. If one event is named: sequence, epoch, previous,
                publishedAt and a column for each of its fields, also for those that only older versions of the event
                had. Else: event, interface, sequence, epoch, previous, publishedAt, fields, with fields as JSON.
                """,
            ]),
            #"""
            In CSV, a text is as it is, a missing one is nothing, an empty one is ""; arrays, structures and dictionaries
            are JSON. A text that begins with =, +, -, @, a tab or a carriage return gets an apostrophe before it:
            spreadsheets would run it as a formula. --raw leaves it out. Numbers never get one. A terminal is shown control
            characters as \u001b. Gaps are reported on stderr, too, in CSV only there.
            """#,
        ] + EventOptions.when,
        examples: [
            Example("export", redirection: "> events.jsonl", summary: "everything that is kept"),
            Example(
                "export", "--format", "csv", "ItemMoved", "--since", "2026-11-20", redirection: "> moves.csv",
                summary: "one event as a table"),
        ],
        exitCodes: History.exitCodes)

    private static let format = Option<Format>("format", .word("FORMAT"), "what is written", standard: "json")

    private static let raw = Option(
        switch: "raw", "in CSV, no apostrophe before a text that a spreadsheet would run")

    func run(in context: VerbContext) throws(CLIFailure) {
        let tool = context.tool
        switch format {
        case .json:
            let style = OutputStyle(json: true, hasEpoch: true)
            let clock = EventClock(offset: tool.time.offset)
            let printer = LinesPrinter(style: style, clock: clock, notesGaps: true, note: tool.note)
            try context.printJournal(range) { _ in printer }
        case .csv:
            try context.printJournal(range) { selection in
                CSVPrinter(
                    columnsOf: selection.only, cells: CSVCells(escapesControls: tool.isTerminal, isRaw: isRaw),
                    note: tool.note)
            }
        }
    }
}

extension Export {
    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) {
        format = line[Self.format]
        if line[GlobalOptions.json] && format == .csv {
            throw UsageError("two formats were asked for; give one of --json and --format csv")
        }
        isRaw = line[Self.raw]
        if isRaw && format != .csv {
            throw UsageError("option '--raw' is for CSV: give --format csv, too; JSON has all texts as they are")
        }
        range = try JournalRange(line, at: time)
    }
}
