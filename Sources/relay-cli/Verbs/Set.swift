import RelayCore
import RelayTool

/// `set`: changes fields of a document.
struct SetFields: Verb {
    /// Plain or qualified by an interface.
    var document: String
    /// In the order given.
    var fields: [Call.Argument]

    static let declaration = CommandDeclaration(
        "set",
        summary: "changes fields of a document",
        operands: [DocumentOptions.document, fields],
        details: [
            """
            Changes the given fields of a document, and leaves the others as they are. Prints the state that was set. If
            somebody else changes the document at the same time, the fields are set in the state that this left.
            """,
            """
            A number, a text and true or false are given as they are; arrays, structures and dictionaries as JSON; null
            for a field that may be missing.
            """,
        ],
        examples: [
            Example("set", "Settings", "tray=2", summary: "one field"),
            Example("set", "Settings", "title=null", summary: "a field that may be missing"),
        ],
        exitCodes: Program.exitCodes(
            ExitMeaning(.refused, "the service refused, in a way that the document declares"),
            ExitMeaning(.usage, "wrong usage, no such document or field, or a document that only the service sets"),
            ExitMeaning(.badValue, "a value that does not fit, or was not accepted"),
            ExitMeaning(.outputFailed, "the output could not be written, or the service's disk is full"),
            ExitMeaning(.timedOut, "no reply in time: the state may have been set")))

    private static let fields = Operand(
        some: ValueKind<Call.Argument>("field=value") { text throws(Unfit) in
            guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
                throw Unfit("is not of the form field=value")
            }
            return Call.Argument(key: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
        }, "a field of the document, and what it is to be")

    func run(in context: VerbContext) throws(CLIFailure) {
        let (caller, options, style) = (try context.caller(), context.options, context.style)
        let operation = (0..<2).map { _ in String(UInt64.random(in: 1...(.max)), radix: 16) }.joined(separator: "-")
        try context.tool.write(
            try Waiting.result {
                try await output(
                    of: options.service, asking: caller, style: style, timeout: options.timeout, operation: operation)
            })
    }

    /// What goes to stdout. Throws `ServiceAbsent` or `CLIFailure`.
    ///
    /// - Parameter operation: what the idempotency keys begin with.
    func output(
        of service: String = ServiceFinder.standard, asking caller: any ServiceCaller, style: OutputStyle,
        timeout: Duration, operation: String
    ) async throws -> [UInt8] {
        let discovery = Discovery(caller: caller, timeout: timeout, service: service)
        var target = try await discovery.catalogue().document(document)
        var submit = try submission(to: target)
        let contract = try await caller.contract(at: target.path, timeout: timeout)
        if contract != nil {
            // As with a call: the description may be older than the contract.
            target = try await discovery.catalogue(from: target.path).document(
                target.interface + "." + target.event.name)
            submit = try submission(to: target)
        }
        let deadline = ContinuousClock.now + timeout
        for attempt in 1... {
            let present = try await target.snapshot(asking: caller, timeout: timeout)
            let next = try target.state(from: present, changing: fields)
            if next == present.fields { return try target.text(of: present, style) }
            do {
                let call = try target.submission(
                    of: next, basedOn: present.version, by: submit, under: contract,
                    operation: "\(operation)-\(attempt)")
                let reply = try await caller.call(call, timeout: timeout)
                guard reply.signature == "tt" else {
                    throw CLIFailure(.software, "\(submit.name): the reply's signature is '\(reply.signature)'")
                }
                let set = DocumentSnapshot(
                    version: present.version, schema: present.schema, signature: present.signature, fields: next)
                return try target.text(of: set, style)
            } catch let failure as CLIFailure {
                // Somebody else was first: on top of what that left.
                if !target.isConflict(failure) || .now >= deadline { throw failure }
            }
        }
        return []
    }
    private func submission(to target: DocumentTarget) throws(CLIFailure) -> IntrospectedCommand {
        if let submit = target.submit { return submit }
        throw CLIFailure(.usage, "'\(document)' is read only: its service alone sets it")
    }
}

extension SetFields {
    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) {
        (document, fields) = (line[DocumentOptions.document], line[Self.fields])
        var keys: Set<String> = []
        for field in fields where !keys.insert(field.key).inserted {
            throw UsageError("'\(field.key)' is given twice: '\(field.key)=\(field.value)'")
        }
    }
}
