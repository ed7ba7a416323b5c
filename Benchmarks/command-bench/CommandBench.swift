import BenchSupport
import Foundation
import RelayTestKit
import TransportReport

/// Commands beside the method calls of plain C programs: the same text over the same bus, in one run, in turns.
///
/// Rounds are interleaved: a change of the machine's pace meets all. Wants two processors that have nothing else to do.
@main enum CommandBench {
    static func main() {
        BenchProgram.run("command-bench") { words in
            let options = try Options(words)
            if !options.isList { return try measure(options) }
            for load in options.loads { print(load) }
            if options.hasBlocked { print(BlockedRow.title) }
            return true
        }
    }

    /// False when a goal is missed.
    private static func measure(_ options: Options) throws -> Bool {
        let runner = LoadRunner(bus: try PrivateBus(), folder: try TestFolder())
        for contender in Contender.allCases { try runner.check(contender, durable: false) }
        for contender in [Contender.relay, .sdbus] { try runner.check(contender, durable: true) }
        var (report, blocked) = (Report(), BlockedRow())
        let start = Date()
        for round in 0..<options.rounds {
            for load in options.loads {
                // Each round begins with another, so that none always follows the same one.
                for index in load.contenders.indices {
                    let contender = load.contenders[(index + round) % load.contenders.count]
                    let measurement = try runner.run(contender, load, seconds: Double(options.seconds))
                    report.add(measurement, of: contender, under: load)
                }
            }
            if options.hasBlocked { try blocked.measure(on: runner.bus) }
            BenchProgram.say("round \(round + 1) of \(options.rounds): \(Int(Date().timeIntervalSince(start))) s")
        }
        for load in options.loads { print(report.table(of: load)) }
        if options.hasBlocked { print(blocked.table) }
        print(
            "Medians of \(options.rounds) rounds of \(options.seconds) s, in turns; ratios are medians of the rounds'."
                + " Percentiles are of the calls that were sent. × best: of the C program with the most calls a second."
        )
        let goals = report.goals + blocked.goals
        for goal in goals { print("- \(goal.verdict): \(goal.line)") }
        if let file = options.jsonFile { try report.json.write(to: URL(fileURLWithPath: file)) }
        if let page = options.page {
            let how =
                "Medians of \(options.rounds) rounds of \(options.seconds) s, in turns, on \(ProcessInfo.processInfo.activeProcessorCount) processors."
            try Page.write(
                report.markdown(how, options.loads, goals, options.hasBlocked ? blocked.markdown : ""), to: page)
        }
        // What --only left out is said to be not measured, and is no miss.
        return goals.allSatisfy { $0.isMet || (!options.only.isEmpty && $0.value == nil) }
    }
}
