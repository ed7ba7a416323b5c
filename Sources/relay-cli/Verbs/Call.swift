import RelayCore
import RelayTool
import RelayWire

/// `call`: finds the command, types the values, prints the reply.
struct Call: Verb {
    struct Argument: Equatable, Sendable {
        let key: String
        let value: String
    }
    /// Plain or qualified by an interface.
    var command: String
    /// In the order given.
    var arguments: [Argument] = []
    /// Whether the command is explained instead of run.
    var explains = false

    static let declaration = CommandDeclaration(
        "call",
        summary: "runs a command and prints its reply",
        operands: [command, arguments],
        details: [
            """
            Runs a command of the service and prints the fields of its reply. COMMAND is a name (OrderBox) or one with
            its interface (org.eventrelay.Relocation1.OrderBox).
            """,
            """
            A number, a text and true or false are given as they are; arrays, structures and dictionaries as JSON. A
            field that may be missing (a '?' in 'list') may be left out. Where values have names, give the name.
            """,
            """
            'call COMMAND --help' explains a command: its arguments with types, units and values, its reply, and the
            refusals that it declares.
            """,
        ],
        examples: [
            Example("call", "OrderBox", "label=Kitchen", "capacity=10", summary: "two fields, a text and a number"),
            Example("call", "OrderBox", "--help", summary: "what the command does and takes"),
            Example("call", "Contents", #"after={"boxID":1,"itemID":0}"#, "limit=100", summary: "a structure as JSON"),
        ],
        exitCodes: Program.exitCodes(
            ExitMeaning(.refused, "the service refused, in a way that the command declares"),
            ExitMeaning(.usage, "wrong usage, or no such command or key"),
            ExitMeaning(.badValue, "a value that does not fit, or was not accepted"),
            ExitMeaning(.outputFailed, "the output could not be written, or the service's disk is full"),
            ExitMeaning(.timedOut, "no reply: the command may have run, if the message says so")),
        explainsOperands: true)

    private static let command = Operand(
        ValueKind<String>("COMMAND") { text throws(Unfit) in
            if text.isEmpty { throw Unfit("is no command's name; 'list' shows them") }
            return text
        },
        "a command's name; 'list' shows them")
    private static let arguments = Operand(
        any: ValueKind<Argument>("key=value") { text throws(Unfit) in
            guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
                throw Unfit("is not of the form key=value")
            }
            return Argument(key: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
        }, "a field of the command, and what it is to be")

    func run(in context: VerbContext) throws(CLIFailure) {
        let (caller, options, style) = (try context.caller(), context.options, context.style)
        let reply = try Waiting.result {
            try await output(of: options.service, asking: caller, style: style, timeout: options.timeout)
        }
        do throws(CLIFailure) { try context.tool.write(reply) } catch {
            throw explains ? error : CLIFailure(error.code, "\(command) has run; its reply is lost: \(error.message)")
        }
    }

    /// What goes to stdout. Throws `ServiceAbsent` or `CLIFailure`.
    func output(
        of service: String = ServiceFinder.standard, asking caller: any ServiceCaller, style: OutputStyle,
        timeout: Duration
    ) async throws -> [UInt8] {
        let discovery = Discovery(caller: caller, timeout: timeout, service: service)
        var target = try await discovery.catalogue().command(command)
        if explains { return CommandPage(style: style).bytes(of: target) }
        // Of a wrong name or value nothing more is asked.
        var body = try ArgumentEncoder.body(of: target.command, from: arguments)
        let contract = try await caller.contract(at: target.path, timeout: timeout)
        if contract != nil {
            // The description may be older than the contract. One that is newer is noticed by the service.
            target = try await discovery.catalogue(from: target.path).command(
                target.interface + "." + target.command.name)
            body = try ArgumentEncoder.body(of: target.command, from: arguments)
        }
        let reply = try await caller.call(
            OutgoingCall(
                path: contract?.path(of: target.path) ?? target.path, interface: target.interface,
                member: target.command.name,
                signature: target.command.arguments.map(\.shape.signature).joined(), body: body),
            timeout: timeout)
        return try Self.text(of: reply, to: target.command, style)
    }

    private static func text(
        of reply: IncomingReply, to command: IntrospectedCommand, _ style: OutputStyle
    ) throws(CLIFailure) -> [UInt8] {
        let announced = command.reply.map(\.shape.signature).joined()
        let printer =
            reply.signature == announced
            ? FieldsPrinter(command.reply, signature: announced, style: style)
            : FieldsPrinter(unknown: reply.signature, style: style)
        guard let printer else {
            throw CLIFailure(.software, "\(command.name): the reply's signature is none: '\(reply.signature)'")
        }
        var output = ByteBuffer()
        if style.json { output.append("{") }
        do throws(WireFault) {
            try printer.append(reply.body, to: &output)
        } catch {
            throw CLIFailure(.software, "\(command.name): the reply is malformed: \(error)")
        }
        if style.json { output.append("}") }
        if output.count > 0 { output.append("\n") }  // A command without a reply's fields prints nothing.
        return output.bytes
    }
}

extension Call {
    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) {
        (command, arguments) = (line[Self.command], line[Self.arguments])
        explains = line[Program.declaration.help]
        var keys: Set<String> = []
        for argument in arguments where !keys.insert(argument.key).inserted {
            throw UsageError("'\(argument.key)' is given twice: '\(argument.key)=\(argument.value)'")
        }
    }
}
