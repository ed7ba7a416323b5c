import RelayCore
import RelayTool

/// `status`: how each interface keeps its events, and how many; its ring and its subscribers.
struct Status: Verb {
    static let declaration = CommandDeclaration(
        "status",
        summary: "how much the service keeps, and who subscribes",
        details: [
            """
            Prints how each of the service's interfaces keeps its events, and for those that do which and how many are
            kept; whether its ring is open, whether signals pause, and who subscribes: bus name, events, transport, the
            last sequence it has (0: unknown).
            """
        ],
        examples: [
            Example("status", summary: "of all interfaces"),
            Example("status", "--json", summary: "the same for a program, an object an interface"),
        ],
        exitCodes: Program.exitCodes())

    func run(in context: VerbContext) throws(CLIFailure) {
        let (caller, options, style) = (try context.caller(), context.options, context.style)
        try context.tool.write(
            try Waiting.result {
                try await output(of: options.service, asking: caller, style: style, timeout: options.timeout)
            })
    }

    /// What goes to stdout. Throws `ServiceAbsent` or `CLIFailure`.
    private func output(
        of service: String, asking caller: any ServiceCaller, style: OutputStyle, timeout: Duration
    ) async throws -> [UInt8] {
        let catalogue = try await Discovery(caller: caller, timeout: timeout).catalogue()
        let reader = JournalReader(caller: caller, timeout: timeout)
        var output = ByteBuffer()
        for entry in catalogue.offered {
            let isDurable = try await reader.isDurable(entry.interface.name)
            let status: [(name: String, value: [UInt8])]
            do { status = try await reader.status(of: entry.interface.name) } catch  where !isDurable {
                status = []  // Nothing is kept that could be shown.
            }
            append(entry.interface.name, isDurable: isDurable, status, style, to: &output)
        }
        if output.count == 0 { throw CLIFailure(.unavailable, "\(service) has no interface built with RelayCore") }
        return output.bytes
    }

    private func append(
        _ interface: String, isDurable: Bool, _ status: [(name: String, value: [UInt8])], _ style: OutputStyle,
        to output: inout ByteBuffer
    ) {
        let durability = isDurable ? "durable" : "volatile"
        if style.json {
            output.append("{\"interface\":")
            SafeText.append(quoted: interface, to: &output)
            output.append(",\"durability\":\"\(durability)\",\"status\":{")
            for (index, entry) in status.enumerated() {
                if index > 0 { output.append(",") }
                SafeText.append(quoted: entry.name, to: &output)
                output.append(":")
                output.append(entry.value)
            }
            output.append("}}\n")
            return
        }
        if style.hasColor { output.append(Color.event) }
        SafeText.append(interface, to: &output)
        if style.hasColor { output.append(Color.reset) }
        output.append("  \(durability)\n")
        // That one stands above.
        let status = status.filter { $0.name != "Durability" }
        let width = status.map(\.name.count).max() ?? 0
        for entry in status {
            output.append("  ")
            SafeText.append(entry.name, to: &output)
            output.append(String(repeating: " ", count: width + 2 - entry.name.count))
            output.append(entry.value)
            output.append("\n")
        }
    }
}

extension Status {
    init(_ line: ParsedLine, at time: LocalTime) {}
}

extension JournalReader {
    /// What the service reports of an interface's journal, each value as JSON. Throws `ServiceAbsent` or `CLIFailure`.
    func status(of interface: String) async throws -> [(name: String, value: [UInt8])] {
        try await ask("Status", of: interface, "a{sv}") { reader in
            var entries: [(name: String, value: [UInt8])] = []
            let end = try reader.beginArray(elementAlignment: 8)
            let start = reader.position
            while reader.position < end {
                try reader.align(8)
                let name = try reader.string()
                var value = ByteBuffer()
                try ValuePrinter.append(.variant, from: &reader, to: &value)
                entries.append((name, value.bytes))
            }
            try reader.endArray(end, elements: start)
            return entries
        }
    }
}
