import RelayCore
import RelayTool

/// `get`: the present state of a document.
struct Get: Verb {
    /// Plain or qualified by an interface.
    var document: String

    static let declaration = CommandDeclaration(
        "get",
        summary: "the present state of a document",
        operands: [DocumentOptions.document],
        details: [
            """
            Prints the fields of a document's present state. DOCUMENT is a name (Inventory) or one with its interface
            (org.eventrelay.Relocation1.Inventory). With --json its fields are an object.
            """,
            "'watch DOCUMENT' shows each change, 'set' changes a document that may be changed.",
        ],
        examples: [
            Example("get", "Inventory", summary: "its fields"),
            Example("get", "Inventory", "--json", summary: "the same for a program"),
        ],
        exitCodes: Program.exitCodes(ExitMeaning(.usage, "wrong usage, or no such document")))

    func run(in context: VerbContext) throws(CLIFailure) {
        let (caller, options, style) = (try context.caller(), context.options, context.style)
        try context.tool.write(
            try Waiting.result {
                try await output(of: options.service, asking: caller, style: style, timeout: options.timeout)
            })
    }

    /// What goes to stdout. Throws `ServiceAbsent` or `CLIFailure`.
    func output(
        of service: String = ServiceFinder.standard, asking caller: any ServiceCaller, style: OutputStyle,
        timeout: Duration
    ) async throws -> [UInt8] {
        let catalogue = try await Discovery(caller: caller, timeout: timeout, service: service).catalogue()
        let target = try catalogue.document(document)
        return try target.text(of: try await target.snapshot(asking: caller, timeout: timeout), style)
    }
}

extension Get {
    init(_ line: ParsedLine, at time: LocalTime) { document = line[DocumentOptions.document] }
}
