import BenchSupport
import Foundation
import TransportReport

/// What carries events between processes, ours and others', in one run: one-way times, throughput, CPU, fan-out.
///
/// Rounds are interleaved: a change of the machine's pace meets all. Wants two processors that have nothing else to do.
@main enum TransportBench {
    static func main() {
        BenchProgram.run("transport-bench") { words in
            let options = try BenchOptions(words)
            switch options.task {
            case .list: for cell in options.plan.cells { print(cell) }
            case .render(let json, let page, let plot): try render(json, page, plot)
            case .measure: return try measure(options)
            }
            return true
        }
    }

    /// False when a goal is missed.
    private static func measure(_ options: BenchOptions) throws -> Bool {
        let plan = options.plan
        var results = Results(machine: try machine(), plan: plan, isQuick: options.isQuick)
        var template = Array("/tmp/transport-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchError(message: "no temporary folder in /tmp") }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let runner = try CellRunner(plan, folder: folder)
        let start = Date()
        for round in 1...plan.rounds {
            for cell in plan.round { results.add(try runner.run(cell), to: cell) }
            // Between two cells: nobody writes while one is measured.
            BenchProgram.say("round \(round) of \(plan.rounds): \(Int(Date().timeIntervalSince(start))) s")
        }
        print(results.text)
        try FileManager.default.createDirectory(atPath: options.results, withIntermediateDirectories: true)
        try results.json.write(to: URL(fileURLWithPath: "\(options.results)/transports.json"))
        try Plot(results).svg.write(toFile: "\(options.results)/transports.svg", atomically: true, encoding: .utf8)
        // What --only left out is said to be not measured, and is no miss.
        return results.goals.allSatisfy { $0.isMet || (options.only != nil && $0.value == nil) }
    }
    private static func machine() throws -> Results.Machine {
        var names = utsname()
        uname(&names)
        let kernel = withUnsafeBytes(of: names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
        let model = lines.first { $0.hasPrefix("model name") }?.split(separator: ":").last
        return Results.Machine(
            processor: model?.trimmingCharacters(in: .whitespaces) ?? "unknown",
            processors: ProcessInfo.processInfo.activeProcessorCount, kernel: kernel)
    }
    private static func render(_ json: String, _ page: String, _ plot: String) throws {
        let results = try Results(json: Data(contentsOf: URL(fileURLWithPath: json)))
        let text = try String(contentsOfFile: page, encoding: .utf8)
        guard let written = MarkedText.replacing(in: text, with: results.markdown) else {
            throw BenchError(message: "\(page) has not both markers: \(MarkedText.begin) and \(MarkedText.end)")
        }
        try written.write(toFile: page, atomically: true, encoding: .utf8)
        try Plot(results).svg.write(toFile: plot, atomically: true, encoding: .utf8)
    }
}
