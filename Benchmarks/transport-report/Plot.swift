import Foundation

/// The picture: one-way times by size, throughput by size, and fan-out.
public struct Plot {
    private let results: Results
    public init(_ results: Results) { self.results = results }

    static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
    }
    private static func colour(_ contender: Contender) -> String {
        switch contender {
        case .machine, .bareWords, .barePayload: "#888888"
        case .ring: "#7aa6dc"
        case .ours: "#1f4e9c"
        case .oursCoded: "#3f9fa8"
        case .oursWithSignals: "#6a3fa8"
        case .datagram: "#2e8b3d"
        case .zeromq: "#d9822b"
        case .iceoryx: "#c0392b"
        case .signal: "#b58bd6"
        }
    }
    private static func isDashed(_ contender: Contender) -> Bool {
        [.bareWords, .barePayload, .ring].contains(contender)
    }

    public var svg: String {
        let charts = [
            bySize(
                "One way, spinning: p50, up to p99 (to the top: never)", .latency, .spin, .p50, upTo: .p99, Number.time),
            bySize(
                "One way, blocking: p50, up to p99 (to the top: never)", .latency, .block, .p50, upTo: .p99, Number.time
            ),
            bySize("Events a second without loss, the better wait", .lossless, nil, .rate, upTo: nil, Number.rate),
            fanOut,
        ]
        let (width, height) = (2 * Chart.width, 2 * Chart.height + 70)
        var body = ""
        for (index, chart) in charts.enumerated() {
            let (x, y) = (Double(index % 2) * Chart.width, Double(index / 2) * Chart.height)
            body += "<g transform=\"translate(\(x) \(y))\">\n\(chart.elements)</g>\n"
        }
        for (index, contender) in Contender.carriers.enumerated() {
            let (x, y) = (40 + Double(index % 5) * 200, 2 * Chart.height + 20 + Double(index / 5) * 24)
            let dash = Self.isDashed(contender) ? " stroke-dasharray=\"5 4\"" : ""
            body +=
                "<path d=\"M\(x) \(y)h24\" stroke=\"\(Self.colour(contender))\" stroke-width=\"3\"\(dash)/>"
                + "<text x=\"\(x + 30)\" y=\"\(y + 4)\" font-size=\"12\">\(Self.escaped(contender.label))</text>\n"
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" font-family="sans-serif">
            <rect width="\(width)" height="\(height)" fill="white"/>
            \(body)</svg>

            """
    }
    private func bySize(
        _ title: String, _ section: Cell.Section, _ waiting: Waiting?, _ metric: Metric, upTo high: Metric?,
        _ form: @escaping (Double) -> String
    ) -> Chart {
        let lines = Contender.carriers.map { contender in
            Chart.Line(
                name: contender.label, colour: Self.colour(contender), isDashed: Self.isDashed(contender),
                points: Plan.sizes.map { size in
                    let waits = waiting.map { [$0] } ?? Waiting.allCases
                    return waits.compactMap { point(Cell(section, contender, $0, size: size), metric, upTo: high) }
                        .max { $0.middle < $1.middle }
                })
        }
        return Chart(title: title, places: Plan.sizes.map { "\($0) bytes" }, lines: lines, form: form)
    }
    private var fanOut: Chart {
        let lines = Contender.carriers.map { contender in
            Chart.Line(
                name: contender.label, colour: Self.colour(contender), isDashed: Self.isDashed(contender),
                points: Plan.fanOuts.map { point(Cell(.fanOut, contender, receivers: $0), .p50, upTo: .p99) })
        }
        return Chart(
            title: "To several receivers, blocking, 64 bytes: p50, up to p99 (to the top: never)",
            places: Plan.fanOuts.map { $0 == 1 ? "1 receiver" : "\($0) receivers" }, lines: lines, form: Number.time)
    }
    /// Without a second metric: the spread of the rounds.
    private func point(_ cell: Cell, _ metric: Metric, upTo high: Metric?) -> (
        middle: Double, low: Double, high: Double
    )? {
        guard let middle = results.median(metric, of: cell), middle > 0, middle.isFinite else { return nil }
        if let high { return (middle, middle, results.median(high, of: cell) ?? middle) }
        let values = results.values(metric, of: cell)
        return (middle, values.min() ?? middle, values.max() ?? middle)
    }
}
