import RelayTool

/// `list`: what the service offers.
struct List: Verb {
    var all = false

    static let declaration = CommandDeclaration(
        "list",
        summary: "what the service offers: events, commands, properties",
        options: [all],
        details: [
            """
            Prints the service's interfaces with their events, commands and properties, and the names and types of
            their fields. A field with a '?' may be missing.
            """
        ],
        examples: [
            Example("list", summary: "what can be watched and called"),
            Example("list", "--all", "--json", summary: "everything that is exported, for a program"),
        ],
        exitCodes: Program.exitCodes())

    private static let all = Option(
        switch: "all", "also Stream1 and D-Bus's own interfaces, and objects of other makes")

    func run(in context: VerbContext) throws(CLIFailure) {
        let (caller, options, style) = (try context.caller(), context.options, context.style)
        try context.tool.write(
            try Waiting.result {
                try await output(of: options.service, asking: caller, style: style, timeout: options.timeout)
            })
    }

    /// What goes to stdout. Throws `ServiceAbsent` or `CLIFailure`.
    func output(
        of service: String, asking caller: any ServiceCaller, style: OutputStyle, timeout: Duration
    ) async throws -> [UInt8] {
        let catalogue = try await Discovery(caller: caller, timeout: timeout, service: all ? nil : service).catalogue()
        let entries = all ? catalogue.entries : catalogue.offered
        var output = ByteBuffer()
        ListPrinter(style: style).append(entries, to: &output)
        return output.bytes
    }
}

extension List {
    init(_ line: ParsedLine, at time: LocalTime) { all = line[Self.all] }
}
