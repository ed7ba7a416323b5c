import RelayCore
import RelayTool

/// `status`: how each interface keeps its events, and how many; its ring and its subscribers.
struct Status: Verb {
    static let declaration = CommandDeclaration(
        "status",
        summary: "how much the service keeps, and who subscribes",
        details: [
            """
            A page about the service: who is subscribed and how far behind, and for each of its interfaces the last event,
            what is kept and since when, the journal's file, the ring, and whether signals pause. Where a bridge exports the
            service, or mirrors it, also how far behind that is.
            """,
            """
            With --json an object an interface: what its Status reports, with the keys of docs/internals/PROTOCOL.md, and the times
            of the last event and of the oldest that is kept; of a bridge, "export" and "mirror" with their figures.
            """,
        ],
        examples: [
            Example("status", summary: "of all interfaces"),
            Example("status", "--json", summary: "the same for a program, an object an interface"),
        ],
        exitCodes: Program.exitCodes())

    func run(in context: VerbContext) throws(CLIFailure) {
        let (caller, options, style) = (try context.caller(), context.options, context.style)
        let all = try Waiting.result {
            try await Self.all(of: options.service, asking: caller, timeout: options.timeout)
        }
        let peers = Set(all.flatMap { $0.status?.subscribers.listed.map(\.peer) ?? [] })
        let programs = style.json ? [:] : context.programs(of: peers)
        let page = StatusPage(
            style: style, now: context.tool.time.now.microseconds, program: { programs[$0] }, bridged: context.bridged()
        )
        var output = ByteBuffer()
        if style.json {
            for one in all { page.appendObject(one, of: options.service, to: &output) }
        } else {
            page.append(all, of: options.service, to: &output)
        }
        try context.tool.write(output.bytes)
    }

    /// In the order of the interfaces' paths. Throws `ServiceAbsent` or `CLIFailure`.
    private static func all(
        of service: String, asking caller: any ServiceCaller, timeout: Duration
    ) async throws -> [InterfaceStatus] {
        let catalogue = try await Discovery(caller: caller, timeout: timeout, service: service).catalogue()
        let reader = JournalReader(caller: caller, service: service, timeout: timeout)
        var all: [InterfaceStatus] = []
        for entry in catalogue.offered {
            let name = entry.interface.name
            var one = InterfaceStatus(interface: name, isDurable: try await reader.isDurable(name))
            do { one.status = try await reader.status(of: name) } catch  where !one.isDurable {
                // Nothing is kept that could be shown.
            }
            if one.isDurable, let status = one.status, status.events ?? 0 > 0, let head = status.head, head > 0 {
                // Who may not read sees no times.
                one.lastAt = try? await reader.time(of: name, after: head - 1)
                one.oldestAt = try? await reader.time(of: name, after: max(1, status.oldest ?? 1) - 1)
            }
            all.append(one)
        }
        return all
    }
}

extension Status {
    init(_ line: ParsedLine, at time: LocalTime) {}
}

extension JournalReader {
    /// What the service reports of an interface. Throws `ServiceAbsent` or `CLIFailure`.
    func status(of interface: String) async throws -> ServiceStatus {
        try await ask("Status", of: interface, StatusReply.signature) { try ServiceStatus.read(&$0) }
    }
    /// When the first event behind a sequence was published, in microseconds since the Unix epoch; nil: there is none.
    fileprivate func time(of interface: String, after sequence: UInt64) async throws -> UInt64? {
        try await begin(interface, names: nil, after: sequence, limit: 1).value.events.first?.stamp.publishedAt
            .microseconds
    }
}

extension VerbContext {
    /// The names of the programs behind unique names.
    func programs(of peers: Set<String>) -> [String: String] {
        if peers.isEmpty { return [:] }
        guard let bus = try? locateBus(), let line = try? tool.openPeer(bus, options.timeout) else { return [:] }
        return tool.programs(line, peers.sorted())
    }
}
