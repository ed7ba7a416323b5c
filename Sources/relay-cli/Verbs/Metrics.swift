import RelayCore
import RelayTool

/// `metrics`: a service's figures for monitors.
struct Metrics: Verb {
    var file: String?
    var duration: Duration?

    static let declaration = CommandDeclaration(
        "metrics",
        summary: "the service's figures, as monitors read them",
        options: [file, duration],
        details: [
            """
            Prints what the service has counted since its start as OpenMetrics text: events by interface, transport and
            outcome, subscribers and how far they lag, refused and dropped calls, queues, how long commands took, the
            journal, and notices by kind; where a bridge exports or mirrors the service, how far behind that is. Whatever the service drops or leaves out is counted in one of these. It is
            asked, and never started.
            """,
            """
            With --for, relay-cli also receives the events of all interfaces for that time, and adds a histogram of how
            long they took from their publishing to their arrival.
            """,
            """
            With --textfile, the text goes into FILE, for node_exporter's textfile collector, which reads files named
            *.prom: written beside it, and renamed when it is whole. With --json each sample is an object.
            """,
        ],
        examples: [
            Example("metrics", summary: "for people, or a monitor that runs a command"),
            Example(
                "metrics", "--textfile", "/var/lib/node_exporter/relay.prom", summary: "for node_exporter, by a timer"),
        ],
        exitCodes: Program.exitCodes(
            ExitMeaning(.cannotCreate, "the file of --textfile cannot be made"),
            ExitMeaning(.outputFailed, "the output, or the file of --textfile, could not be written")))

    private static let file = Option<String?>(
        "textfile",
        ValueKind("FILE") { text throws(Unfit) in
            if text.isEmpty || !text.hasSuffix(".prom") {
                throw Unfit("is no file that node_exporter reads; its name ends like relay.prom: with .prom")
            }
            return text
        }, "write to this file instead, for node_exporter")
    private static let duration = Option<Duration?>("for", .seconds, "measure latencies for this time")

    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) {
        (file, duration) = (line[Self.file], line[Self.duration])
        if file != nil && line[GlobalOptions.json] {
            throw UsageError("two forms were asked for; give one of --json and --textfile")
        }
    }

    func run(in context: VerbContext) throws(CLIFailure) {
        let (bus, options, duration) = (try context.locateBus(), context.options, self.duration)
        let counters = TopCounters()
        let followed = try context.follow(on: bus, startsService: false) { input in
            if case .event(let event) = input { counters.add(event, now: Timestamp.now.microseconds) }
        }
        followed.activate()
        defer { followed.invalidate() }
        var (families, refusals) = try Waiting.result {
            try await Self.families(
                of: options.service, asking: followed, timeout: options.timeout, for: duration, counters)
        }
        families += context.bridged()?.families(options.service) ?? []
        for refusal in refusals { context.tool.note(refusal) }
        if let file {
            try WholeFile.write(MetricText.text(families, .textfile), to: file)
        } else if options.json {
            var output = ByteBuffer()
            MetricText.append(json: families, to: &output)
            try context.tool.write(output.bytes)
        } else {
            try context.tool.write(MetricText.text(families, .openMetrics))
        }
    }

    /// Throws `ServiceAbsent` or `CLIFailure`.
    static func families(
        of service: String, asking followed: any FollowedService, timeout: Duration, for duration: Duration?,
        _ counters: TopCounters
    ) async throws -> (families: [MetricFamily], refusals: [String]) {
        let catalogue = try await Discovery(caller: followed, timeout: timeout, service: service).catalogue()
        let reader = JournalReader(caller: followed, service: service, timeout: timeout)
        if let duration {
            await followed.follow(try catalogue.selection(of: []))
            _ = counters.take()
            try await Task.sleep(for: duration)
        }
        let tallies = counters.take()
        var families = ServiceMetricFamilies(service: service)
        var refusals: [String] = []
        let names = Set(catalogue.offered.map(\.interface.name)).sorted()
        for name in names {
            do {
                let status = try await reader.ask("Status", of: name, StatusReply.signature) {
                    try MonitoredStatus.read(&$0)
                }
                families.add(status, of: name)
            } catch {
                let failure = CLIFailure(ofCall: error)
                // One that is restricted says nothing of the others.
                guard failure.code == .notPermitted, names.count > 1 else { throw error }
                refusals.append("\(name) is left out: \(failure.message)")
            }
        }
        for (interface, tally) in tallies.sorted(by: { $0.key < $1.key }) {
            var whole = LatencyHistogram()
            for event in tally.events.values { whole.merge(event.latency) }
            families.add(whole, of: interface)
        }
        return (families.families, refusals)
    }
}
