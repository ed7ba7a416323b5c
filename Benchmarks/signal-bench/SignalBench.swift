import BenchSupport
import Foundation
import RelayTestKit

/// The signal transport beside plain C programs: the same events over the same bus, in one run, in turns.
@main
enum SignalBench {
    static func main() {
        BenchProgram.run("signal-bench") { try run(Options($0)) }
    }

    /// False when a goal is missed.
    private static func run(_ options: Options) throws -> Bool {
        let bus = try PrivateBus()
        let runner = PairRunner(bus: bus)
        var report = Report(options: options)
        for load in [Load.saturation(events: options.events), .paced(rate: options.rate, seconds: options.seconds)] {
            print("\(load): \(options.rounds) rounds of \(load.events) events", terminator: "")
            for pair in options.pairs { _ = try runner.run(pair, Load.saturation(events: 2_000)) }
            for round in 0..<options.rounds {
                print(round == 0 ? ": \(round + 1)" : " \(round + 1)", terminator: "")
                fflush(nil)
                // Each round begins with another pair, so that none always follows the same one.
                for index in options.pairs.indices {
                    let pair = options.pairs[(index + round) % options.pairs.count]
                    report.add(try runner.run(pair, load), of: pair, under: load)
                }
            }
            print("")
        }
        print(report.table)
        if let file = options.jsonFile { try report.json.write(to: URL(fileURLWithPath: file)) }
        print(report.verdict)
        return !report.isMissed
    }
}
