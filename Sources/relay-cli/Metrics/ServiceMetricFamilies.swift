import RelayCore

/// What a service's figures are called for monitors.
struct ServiceMetricFamilies {
    private struct Description {
        let figure: String
        let name: String
        let kind: MetricFamily.Kind
        var unit = ""
        let help: String
    }
    /// In the order in which they are written.
    private static let described: [Description] = [
        .init(
            figure: "events", name: "relay_events", kind: .counter,
            help: "Events that this run of the service has published."),
        .init(figure: "head", name: "relay_stream_head", kind: .gauge, help: "The last sequence."),
        .init(
            figure: "oldest", name: "relay_stream_oldest", kind: .gauge, help: "The oldest sequence that can be read."),
        .init(
            figure: "transport_events", name: "relay_transport_events", kind: .counter,
            help: "Events by transport: carried, held back in a pause, or too large for it."),
        .init(figure: "subscribers", name: "relay_subscribers", kind: .gauge, help: "Attached subscribers."),
        .init(
            figure: "subscriber_lag", name: "relay_subscriber_lag", kind: .gauge,
            help: "Events by which the slowest subscriber lags behind."),
        .init(figure: "signals_paused", name: "relay_signals_paused", kind: .gauge, help: "1 while signals pause."),
        .init(figure: "signal_pauses", name: "relay_signal_pauses", kind: .counter, help: "Pauses of signals."),
        .init(
            figure: "rings", name: "relay_rings", kind: .counter,
            help: "Rings that peers asked for: opened, refused, returned."),
        .init(
            figure: "refused_calls", name: "relay_refused_calls", kind: .counter,
            help: "Calls of peers that were refused, by the reason."),
        .init(figure: "Events", name: "relay_journal_events", kind: .gauge, help: "Events that the journal keeps."),
        .init(
            figure: "Bytes", name: "relay_journal_event_bytes", kind: .gauge, unit: "bytes",
            help: "What these events take up."),
        .init(
            figure: "FileBytes", name: "relay_journal_file_bytes", kind: .gauge, unit: "bytes",
            help: "The journal's file with its log."),
        .init(
            figure: "WalBytes", name: "relay_journal_wal_bytes", kind: .gauge, unit: "bytes",
            help: "The journal's log, which is moved into the file now and then."),
        .init(
            figure: "Checked", name: "relay_journal_checked", kind: .gauge,
            help: "1 when the journal's whole file is known to be sound."),
        .init(
            figure: "commands", name: "relay_commands", kind: .counter, help: "Calls of commands, by how they ended."),
        .init(
            figure: "command_duration", name: "relay_command_duration_seconds", kind: .histogram, unit: "seconds",
            help: "How long handlers of commands took."),
        .init(
            figure: "waiting_commands", name: "relay_waiting_commands", kind: .gauge,
            help: "Commands that wait or run now."),
        .init(
            figure: "handler_threads", name: "relay_handler_threads", kind: .gauge,
            help: "Threads that handlers of commands hold now."),
        .init(
            figure: "waiting_handlers", name: "relay_waiting_handlers", kind: .gauge,
            help: "Handlers that wait for a thread, because all of them are held."),
        .init(
            figure: "outgoing_bytes", name: "relay_outgoing_bytes", kind: .gauge, unit: "bytes",
            help: "What waits in the service for the bus to take it."),
        .init(
            figure: "dropped_calls", name: "relay_dropped_calls", kind: .counter,
            help: "Calls that got no answer, by the reason."),
        .init(
            figure: "dropped_progress", name: "relay_dropped_progress", kind: .counter,
            help: "Values of progress that were too large, or that a later one replaced."),
        .init(
            figure: "notices", name: "relay_notices", kind: .counter,
            help: "What went wrong while the service ran, by kind; also what was not logged."),
    ]
    /// Of the journal as a whole: the same from each of its interfaces.
    private static let ofFile: Set<String> = ["FileBytes", "WalBytes", "Checked"]
    static let latency = "relay_event_latency_seconds"

    private var samples: [String: [MetricFamily.Sample]] = [:]
    /// What a newer service has besides.
    private var unknown: [String: [MetricFamily.Sample]] = [:]
    private let service: MetricFamily.Label
    private var hasService = false
    private var version: String?

    init(service: String) { self.service = MetricFamily.Label("service", service) }

    mutating func add(_ status: MonitoredStatus, of interface: String) {
        if let version = status.version { self.version = version }
        let label = MetricFamily.Label("interface", interface)
        add(status.figures, [service, label])
        for (name, value) in status.numbers {
            let isOfFile = Self.ofFile.contains(name)
            // The other numbers are among the figures.
            guard isOfFile || ["Events", "Bytes"].contains(name), !(isOfFile && samples[name] != nil) else { continue }
            samples[name, default: []].append(
                .init(labels: isOfFile ? [service] : [service, label], value: "\(value)"))
        }
        if hasService || status.serviceFigures.isEmpty { return }
        hasService = true
        add(status.serviceFigures.filter { !$0.name.hasPrefix("command_duration") }, [service])
        addDurations(status.serviceFigures)
    }
    private mutating func add(_ figures: [MonitoredStatus.Figure], _ labels: [MetricFamily.Label]) {
        for figure in figures {
            guard Self.isName(figure.name), figure.labels.keys.allSatisfy(Self.isName) else { continue }
            let own = figure.labels.sorted { $0.key < $1.key }.map { MetricFamily.Label($0.key, $0.value) }
            let all = labels + own.filter { own in !labels.contains { $0.name == own.name } }
            let sample = MetricFamily.Sample(labels: all, value: "\(figure.value)")
            if Self.described.contains(where: { $0.figure == figure.name && $0.kind != .histogram }) {
                samples[figure.name, default: []].append(sample)
            } else {
                unknown[figure.name, default: []].append(sample)
            }
        }
    }
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") } && text.first != "_"
    }
    private mutating func addDurations(_ figures: [MonitoredStatus.Figure]) {
        let steps = figures.filter { $0.name == "command_duration" }.compactMap { figure in
            figure.labels["microseconds"].map { (bound: UInt64($0), count: figure.value) }
        }
        let sum = figures.first { $0.name == "command_duration_sum" }?.value
        guard let sum, let found = Self.histogram(steps, sum: sum, [service]) else { return }
        samples["command_duration"] = found
    }
    /// nil for steps that make no histogram.
    static func histogram(
        _ steps: [(bound: UInt64?, count: UInt64)], sum: UInt64, _ labels: [MetricFamily.Label]
    ) -> [MetricFamily.Sample]? {
        let sorted = steps.sorted { ($0.bound ?? .max) < ($1.bound ?? .max) }
        guard let last = sorted.last, last.bound == nil, sorted.dropLast().allSatisfy({ $0.bound != nil }),
            Set(sorted.map(\.bound)).count == sorted.count,
            zip(sorted, sorted.dropFirst()).allSatisfy({ $0.count <= $1.count })
        else { return nil }
        var samples = sorted.map { step in
            let bound = MetricFamily.Label("le", step.bound.map(MetricText.seconds) ?? "+Inf")
            return MetricFamily.Sample(suffix: "_bucket", labels: labels + [bound], value: "\(step.count)")
        }
        samples.append(.init(suffix: "_count", labels: labels, value: "\(last.count)"))
        samples.append(.init(suffix: "_sum", labels: labels, value: MetricText.seconds(sum)))
        return samples
    }

    // MARK: Seen here

    private var latencies: [MetricFamily.Sample] = []
    /// In microseconds.
    private static let latencyBounds: [UInt64] = [
        10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000,
    ]
    /// From the publishing to the arrival here, of events that were received meanwhile.
    mutating func add(_ histogram: LatencyHistogram, of interface: String) {
        let steps = Self.latencyBounds.map { (bound: UInt64?.some($0), count: histogram.count(atMost: $0)) }
        let labels = [service, MetricFamily.Label("interface", interface)]
        latencies += Self.histogram(steps + [(nil, histogram.total)], sum: histogram.sum, labels) ?? []
    }

    /// Those of both sides, where the service tells its own.
    private var versions: [MetricFamily] {
        guard let version else { return [] }
        return [
            MetricFamily(
                name: "relay_service", kind: .info, help: "The version of the Relay that the service is built with.",
                samples: [.init(labels: [service, .init("version", version)], value: "1")]),
            MetricFamily(
                name: "relay_cli", kind: .info, help: "The version of the relay-cli that asked.",
                samples: [.init(labels: [.init("version", RelayVersion.current)], value: "1")]),
        ]
    }

    var families: [MetricFamily] {
        var families = versions
        families += Self.described.compactMap { description -> MetricFamily? in
            guard let own = samples[description.figure] else { return nil }
            return MetricFamily(
                name: description.name, kind: description.kind, unit: description.unit, help: description.help,
                samples: own)
        }
        if !latencies.isEmpty {
            families.append(
                MetricFamily(
                    name: Self.latency, kind: .histogram, unit: "seconds",
                    help: "From publishing to arrival at relay-cli, as long as it measured.", samples: latencies))
        }
        for (name, samples) in unknown.sorted(by: { $0.key < $1.key }) {
            families.append(
                MetricFamily(
                    name: "relay_other_" + name, kind: .unknown, help: "A figure that this relay-cli does not know.",
                    samples: samples))
        }
        return families
    }
}
