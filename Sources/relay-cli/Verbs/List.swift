import RelayCore
import RelayTool
import RelayWire

/// `list`: what the service offers.
struct List: Verb {
    var all = false
    /// Prints the contracts.
    var contract = false

    static let declaration = CommandDeclaration(
        "list",
        summary: "what the service offers: events, commands, properties",
        options: [all, contract],
        exclusive: [forms],
        details: [
            """
            Prints the service's interfaces with their events, commands and properties, and the names and types of
            their fields. A field with a '?' may be missing.
            """,
            """
            With --contract, prints what programs of another release rely on, in the form of a contract file, which
            'contract' compares.
            """,
        ],
        examples: [
            Example("list", summary: "what can be watched and called"),
            Example("list", "--contract", redirection: "> release-1.contract", summary: "for a later comparison"),
            Example("list", "--all", "--json", summary: "everything that is exported, for a program"),
        ],
        exitCodes: Program.exitCodes())

    private static let all = Option(
        switch: "all", "also Stream1 and D-Bus's own interfaces, and objects of other makes")
    private static let contract = Option(switch: "contract", "the contracts of the interfaces, as files have them")
    private static let forms = ExclusiveOptions(all, contract, fault: "two lists were asked for")

    func run(in context: VerbContext) throws(CLIFailure) {
        let (caller, options, style) = (try context.caller(), context.options, context.style)
        let list = try Waiting.result {
            try await output(of: options.service, asking: caller, style: style, timeout: options.timeout)
        }
        try context.tool.write(list + (contract ? [] : try mirrors(in: context, style)))
    }
    /// The mirrors of the service that are on the bus.
    private func mirrors(in context: VerbContext, _ style: OutputStyle) throws(CLIFailure) -> [UInt8] {
        let (options, bus) = (context.options, try context.locateBus())
        let mirrors: [MirrorName]
        do throws(RelayError) { mirrors = try context.tool.mirrors(on: bus, timeout: options.timeout) } catch {
            throw CLIFailure(ofCall: error)
        }
        var output = ByteBuffer()
        for mirror in mirrors where mirror.service == options.service {
            output.append(
                style.json
                    ? "{\"mirror\":{\"host\":\"\(mirror.host)\",\"name\":\"\(mirror)\"}}\n"
                    : "mirror at \(mirror.host): \(mirror)\n")
        }
        return output.bytes
    }

    /// What goes to stdout. Throws `ServiceAbsent` or `CLIFailure`.
    func output(
        of service: String, asking caller: any ServiceCaller, style: OutputStyle, timeout: Duration
    ) async throws -> [UInt8] {
        if contract {
            let contracts = try await ServiceContracts(caller: caller, service: service, timeout: timeout).all()
            return Self.output(contracts, style)
        }
        let catalogue = try await Discovery(caller: caller, timeout: timeout, service: all ? nil : service).catalogue()
        let entries = all ? catalogue.entries : catalogue.offered
        var output = ByteBuffer()
        ListPrinter(style: style).append(entries, to: &output)
        return output.bytes
    }
    private static func output(_ contracts: [ContractText], _ style: OutputStyle) -> [UInt8] {
        var output = ByteBuffer()
        for (index, contract) in contracts.enumerated() {
            if style.json {
                output.append("{\"interface\":")
                SafeText.append(quoted: contract.name, to: &output)
                output.append(",\"contract\":")
                SafeText.append(quoted: contract.text, to: &output)
                output.append("}\n")
            } else {
                // It was read and printed again: nothing in it acts on a terminal.
                if index > 0 { output.append("\n") }
                output.append(contract.text)
            }
        }
        return output.bytes
    }
}

extension List {
    init(_ line: ParsedLine, at time: LocalTime) {
        all = line[Self.all]
        contract = line[Self.contract]
    }
}
