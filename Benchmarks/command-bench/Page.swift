import BenchSupport
import Foundation
import TransportReport

/// The tables of a run in the documentation.
enum Page {
    static let begin = "<!-- commands: begin (written by command-bench --page) -->"
    static let end = "<!-- commands: end -->"

    static func write(_ markdown: String, to path: String) throws {
        let page = try String(contentsOfFile: path, encoding: .utf8)
        guard let written = MarkedText.replacing(in: page, with: markdown, begin: begin, end: end) else {
            throw BenchError(message: "\(path) has not both markers: \(begin) and \(end)")
        }
        try written.write(toFile: path, atomically: true, encoding: .utf8)
    }
    static func table(_ heads: [String], _ rows: [[String]]) -> String {
        let lines = [heads, ["---"] + heads.dropFirst().map { _ in "---:" }] + rows
        return lines.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n") + "\n"
    }
}

extension Report {
    /// - Parameters:
    ///   - how: what a round is.
    ///   - others: rows of other measurements.
    func markdown(_ how: String, _ loads: [Load], _ goals: [Goal], _ others: String) -> String {
        func cells(_ load: Load, _ text: (Contender) -> String) -> [String] {
            [load.shortName] + Contender.allCases.map { load.contenders.contains($0) ? text($0) : "–" }
        }
        let heads = Contender.allCases.map(\.label)
        let rates = loads.map { load in
            cells(load) { who in
                [text(\.callsPerSecond, who, load), time(\.p50, who, load), time(\.p99, who, load)]
                    .joined(separator: "; ")
            }
        }
        let costs = loads.map { load in
            cells(load) { who in
                [\Measurement.callerCPU, \.serviceCPU, \.daemonCPU].map { text($0, who, load) }
                    .joined(separator: "; ")
            }
        }
        let verdicts = goals.map { [$0.text, $0.value.map { Number.short($0) } ?? "–", $0.bound, $0.verdict] }
        return [
            how + "\n", Page.table(["calls/s; p50 µs; p99 µs"] + heads, rates),
            Page.table(["CPU µs per call: caller; service; bus"] + heads, costs), others,
            "Goals, against sd-bus in the same rounds:\n",
            Page.table(["goal", "this run", "bound", ""], verdicts),
        ].filter { !$0.isEmpty }.joined(separator: "\n")
    }
}

extension Goal {
    fileprivate var bound: String {
        limit.map { "\(isFloor ? "at least" : "at most") \(Number.short($0))" } ?? "–"
    }
}
