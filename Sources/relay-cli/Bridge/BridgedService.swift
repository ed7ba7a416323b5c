import RelayCore

/// What a bridge says of one service: its exports, if it is an origin; its mirrors' channels, if it is a mirror.
struct BridgedService: Equatable, Sendable {
    let carrier: String
    let guarantee: String
    /// The name that the exporter has for this host.
    let host: String
    let exports: [BridgeStatus.Export]
    let mirrors: [BridgeStatus.Mirror]

    /// nil: nothing.
    init?(_ service: String, _ status: BridgeStatus) {
        (carrier, guarantee, host) = (status.carrier, status.guarantee, status.host)
        exports = status.exports.filter { $0.service == service }
        mirrors = status.mirrors.filter { $0.name == service }
        if exports.isEmpty && mirrors.isEmpty { return nil }
    }

    // MARK: Findings

    /// So long a lag is a reason to look.
    private static let longLag = 60.0
    private static let log = "look into the bridge's log: journalctl -u relay-bridge"

    var findings: [Finding] {
        exports.map { export in
            let what = "\(export.interface) is exported as \(host)"
            if !export.trouble.isEmpty {
                return Finding("bridge", .failed, "\(what), and waits: \(export.trouble)", remedy: Self.log)
            }
            if export.lagSeconds > Self.longLag {
                return Finding(
                    "bridge", .warning,
                    "\(what), \(Self.lag(export.lag, export.lagSeconds)); \(Self.margin(export))",
                    remedy:
                        "see that \(carrier) keeps up, and that the journal keeps its events as long as it may be away")
            }
            return Finding("bridge", .ok, "\(what), \(Self.lag(export.lag, export.lagSeconds))" + promise)
        }
            + mirrors.map { mirror in
                let what = "\(mirror.interface) of \(mirror.host) is mirrored"
                if !mirror.trouble.isEmpty {
                    return Finding("bridge", .failed, "\(what), and waits: \(mirror.trouble)", remedy: Self.log)
                }
                let lag = Self.lag(mirror.lag, mirror.lagSeconds)
                return mirror.lagSeconds > Self.longLag
                    ? Finding(
                        "bridge", .warning, "\(what), \(lag)",
                        remedy: "see that the disk of the mirror's replica keeps up")
                    : Finding("bridge", .ok, "\(what), \(lag)" + promise)
            }
    }
    private var promise: String { guarantee.isEmpty ? "" : "; \(guarantee)" }

    // MARK: The page

    /// Of an interface, for `status`.
    func rows(_ interface: String) -> [(name: String, text: String)] {
        let found =
            exports.filter { $0.interface == interface }.map { export in
                let text = [
                    "as \(host) up to #\(export.position), \(Self.lag(export.lag, export.lagSeconds))",
                    Self.margin(export),
                    export.trouble.isEmpty ? nil : "waits: \(export.trouble)",
                ]
                return ("exported", PageText.safe(text.compactMap(\.self).joined(separator: "; ")))
            }
            + mirrors.filter { $0.interface == interface }.map { mirror in
                let text = [
                    "of \(mirror.host) up to #\(mirror.position), \(Self.lag(mirror.lag, mirror.lagSeconds))",
                    mirror.gaps == 0 ? nil : Quantity.count(mirror.gaps, "gap"),
                    mirror.duplicates == 0 ? nil : Quantity.count(mirror.duplicates, "duplicate") + " dropped",
                    mirror.trouble.isEmpty ? nil : "waits: \(mirror.trouble)",
                ]
                return ("mirrored", PageText.safe(text.compactMap(\.self).joined(separator: "; ")))
            }
        return found.isEmpty || guarantee.isEmpty
            ? found : found + [("carrier", PageText.safe("\(carrier): \(guarantee)"))]
    }
    /// For JSON: of each export or mirror of an interface its figures, and what it waits for.
    func json(_ interface: String) -> [(key: String, value: [(name: String, number: UInt64)], trouble: String)] {
        exports.filter { $0.interface == interface }.map {
            ("export", Self.numbers(of: $0), $0.trouble)
        } + mirrors.filter { $0.interface == interface }.map { ("mirror", Self.numbers(of: $0), $0.trouble) }
    }
    private static func lag(_ events: UInt64, _ seconds: Double) -> String {
        events == 0 && whole(seconds) == 0
            ? "up to date" : "\(Quantity.count(events, "event")) and \(whole(seconds)) s behind"
    }
    private static func margin(_ export: BridgeStatus.Export) -> String {
        "the journal may remove \(Quantity.count(export.margin, "event")) more before the export lacks some"
    }

    // MARK: Figures

    /// Any program may have the bridge's name: what it says need be no time.
    private static func whole(_ seconds: Double) -> UInt64 { seconds > 0 ? UInt64(min(seconds, 1e12)) : 0 }
    static func numbers(of export: BridgeStatus.Export) -> [(name: String, number: UInt64)] {
        [
            ("position", export.position), ("head", export.head), ("lag", export.lag),
            ("lag_seconds", whole(export.lagSeconds)), ("margin", export.margin), ("events", export.events),
            ("messages", export.messages), ("resyncs", export.resyncs),
        ]
    }
    static func numbers(of mirror: BridgeStatus.Mirror) -> [(name: String, number: UInt64)] {
        [
            ("position", mirror.position), ("head", mirror.head), ("lag", mirror.lag),
            ("lag_seconds", whole(mirror.lagSeconds)), ("messages", mirror.messages),
            ("lag_messages", mirror.lagMessages), ("duplicates", mirror.duplicates), ("gaps", mirror.gaps),
            ("resyncs", mirror.resyncs),
        ]
    }
    /// For monitors.
    func families(_ service: String) -> [MetricFamily] {
        let described: [(figure: String, kind: MetricFamily.Kind, help: String)] = [
            ("lag", .gauge, "Events that lie between both ends."),
            ("lag_seconds", .gauge, "How old the oldest event is that has not come to the other end."),
            ("margin", .gauge, "Events that retention may remove before it comes to what is not exported."),
            ("lag_messages", .gauge, "Messages that the channel has behind those that were taken in."),
            ("events", .counter, "Events that were appended."),
            ("messages", .counter, "Messages that were appended, or taken in."),
            ("duplicates", .counter, "Messages that brought nothing."),
            ("gaps", .counter, "Ranges of events that the channel did not have."),
            ("resyncs", .counter, "How often the channel's end was looked up."),
        ]
        let all =
            exports.map { ("export", $0.interface, Self.numbers(of: $0), $0.trouble) }
            + mirrors.map { ("mirror", $0.interface, Self.numbers(of: $0), $0.trouble) }
        func family(_ figure: String, _ kind: MetricFamily.Kind, _ help: String, _ end: String) -> MetricFamily? {
            let samples = all.filter { $0.0 == end }.compactMap { _, interface, numbers, trouble in
                let number =
                    figure == "waiting" ? (trouble.isEmpty ? 0 : 1) : numbers.first { $0.name == figure }?.number
                return number.map {
                    MetricFamily.Sample(
                        labels: [.init("service", service), .init("interface", interface)], value: "\($0)")
                }
            }
            let unit = figure.hasSuffix("_seconds") ? "seconds" : ""
            return samples.isEmpty
                ? nil
                : MetricFamily(name: "relay_\(end)_\(figure)", kind: kind, unit: unit, help: help, samples: samples)
        }
        return ["export", "mirror"].flatMap { end in
            (described + [("waiting", .gauge, "1 while something keeps it from going on.")]).compactMap {
                family($0.figure, $0.kind, $0.help, end)
            }
        }
    }
}
