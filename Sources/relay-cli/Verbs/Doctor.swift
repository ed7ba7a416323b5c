import RelayCore
import RelayTool

/// `doctor`: what keeps a front end from its service.
struct Doctor: Verb {
    static let declaration = CommandDeclaration(
        "doctor",
        summary: "examines bus, policy, service and journal",
        details: [
            """
            Examines what a front end needs, from here to the service's journal, and prints a line for each: ok, warning or
            failed, with the remedy below it. Without --service and RELAY_SERVICE it examines every service of Relay on the
            bus.
            """,
            """
            It changes nothing. A service that does not run is not started; one that runs is asked, and subscribed to
            for a moment.
            """,
            .terms([
                "bus": "the bus answers",
                "name": "the service's name is owned, or the bus can start the service",
                "unit": "what would start a service that does not run, and why that fails",
                "own": "who could take the name, by the bus's policy files",
                "send": "the bus and the service let this user call",
                "receive": "they let this user subscribe, and signals come",
                "descriptors": "the bus passes file descriptors, which rings and long replays need",
                "memory": "this system seals shared memory",
                "ring": "the service's ring is sealed, if one is open",
                "journal": "each durable interface is kept, and its file is sound",
                "disk": "the journal's file system has room",
                "bridge": "a bridge that exports or mirrors the service keeps up",
                "limits": "how many descriptors this process may have; what the bus carries",
                "clock": "something keeps the system's clock right",
                "versions": "what both sides can do",
            ]),
        ],
        examples: [
            Example("doctor", summary: "the services on the session bus"),
            Example("--system", "doctor", "--json", summary: "on the system bus, for a program: an object a line"),
        ],
        exitCodes: [
            ExitMeaning(.ok, "nothing failed; there may be warnings"), ExitMeaning(.refused, "a check failed"),
            ExitMeaning(.usage, "wrong usage"), ExitMeaning(.outputFailed, "the output could not be written"),
        ])

    /// It finds that out by itself, and reports what is wrong with it.
    var asksService: Bool { false }

    func run(in context: VerbContext) throws(CLIFailure) {
        let (tool, options, style) = (context.tool, context.options, context.style)
        let named = try tool.namedService(options)
        let environment = tool.environment
        var examination = Examination(
            timeout: options.timeout, facts: tool.facts,
            serviceFile: { ServiceFinder.file(of: $0, on: $1, environment: environment) }, programs: tool.programs,
            bridge: tool.bridge)
        // What is found is printed at once: some checks wait.
        var failure: CLIFailure?
        var output = tool.channel
        var counts: [Finding.Grade: Int] = [:]
        var failed: [String] = []
        var areSeveral = false
        examination.report = { finding in
            counts[finding.grade, default: 0] += 1
            let service = areSeveral ? finding.service : nil
            let title = service.map { "\(finding.check) of \($0)" } ?? finding.check
            if finding.grade == .failed && !failed.contains(title) { failed.append(title) }
            if style.json {
                finding.appendObject(to: &output.pending)
            } else {
                finding.append(style, to: &output.pending)
            }
            do throws(CLIFailure) { _ = try output.drain() } catch { failure = failure ?? error }
        }
        examination.heading = { service in
            areSeveral = true
            if style.json { return }
            output.pending.append("\n")
            SafeText.append(service, to: &output.pending)
            output.pending.append("\n")
        }
        examination.run(service: named) { () throws(CLIFailure) in
            try tool.locator.locate(options.bus)
        } open: { bus throws(RelayError) in
            try tool.openPeer(bus, options.timeout)
        }
        if !style.json {
            let words = Finding.Grade.allCases.map { grade in
                "\(counts[grade] ?? 0) \(grade == .warning && counts[grade] != 1 ? "warnings" : grade.rawValue)"
            }
            output.pending.append("\n" + words.joined(separator: ", ") + "\n")
            _ = try output.drain()
        }
        if let failure { throw failure }
        if !failed.isEmpty {
            throw CLIFailure(
                .refused, "\(Quantity.count(UInt64(failed.count), "check")) failed: \(Words.list(failed))")
        }
    }
}

extension Doctor {
    init(_ line: ParsedLine, at time: LocalTime) {}
}
