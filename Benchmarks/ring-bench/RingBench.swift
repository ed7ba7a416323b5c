import Glibc
import RelayCore

/// What the ring costs, with bare hand-overs between two processes in the same run. Rounds are interleaved.
///
/// Wants two processors that have nothing else to do. The one argument is the number of rounds.
@main struct RingBench {
    static func main() {
        let arguments = CommandLine.arguments
        do {
            if arguments.count > 2 {
                try Receiver().run(arguments[1], Int(arguments[2]) ?? 0)
            } else if try !report(rounds: arguments.count > 1 ? max(1, Int(arguments[1]) ?? 5) : 5) {
                exit(1)
            }
        } catch {
            say("ring-bench: \(error)")
            exit(1)
        }
    }

    /// Returns whether all goals are met.
    static func report(rounds: Int) throws -> Bool {
        let rows = Rows()
        try Child.pin(to: 0)
        var (alone, one, many): ([Double], [Double], [Double]) = ([], [], [])
        var (callers, cpus, walls): ([Double], [Double], [Double]) = ([], [], [])
        var (spin, block, bareSpin, bareBlock): ([[Double]], [[Double]], [[Double]], [[Double]]) = ([], [], [], [])
        var (paced, free): ([(rate: Double, delivered: Double)], [(rate: Double, delivered: Double)]) = ([], [])
        for _ in 0..<rounds {
            alone.append(try rows.publishAlone())
            one.append(try rows.publishStopped(1))
            many.append(try rows.publishStopped(64))
            let sleeping = try rows.publishSleeping(64)
            callers.append(sleeping.caller)
            cpus.append(sleeping.cpu)
            walls.append(sleeping.wall)
            bareSpin.append(try rows.bareLatency(isBlocking: false))
            spin.append(try rows.ringLatency(isBlocking: false))
            bareBlock.append(try rows.bareLatency(isBlocking: true))
            block.append(try rows.ringLatency(isBlocking: true))
            paced.append(try rows.throughput(isPaced: true))
            free.append(try rows.throughput(isPaced: false))
        }
        say("median of \(rounds) interleaved rounds (min … max); \(processors) processors")
        line("publish 64 bytes, nobody attached", alone, "ns")
        line("publish, 1 stopped subscriber", one, "ns")
        line("publish, 64 stopped subscribers", many, "ns")
        line("publish, 64 sleeping: at the caller", callers, "us")
        line("publish, 64 sleeping: publisher's CPU until all have it", cpus, "us")
        line("publish, 64 sleeping: until all have it", walls, "us")
        for (name, values) in [
            ("bare two-word hand-over, spinning", bareSpin), ("ring, spinning", spin),
            ("bare futex hand-over", bareBlock), ("ring, blocking", block),
        ] {
            for (index, part) in ["p50", "p99", "p99.9"].enumerated() {
                line("one way, \(name), \(part)", values.map { $0[index] }, "ns")
            }
        }
        line("throughput, paced", paced.map { $0.rate / 1e6 }, "M/s")
        line("throughput, paced, delivered", paced.map(\.delivered), "%")
        line("throughput, at full speed", free.map { $0.rate / 1e6 }, "M/s")
        line("throughput, at full speed, delivered", free.map(\.delivered), "%")
        say("")
        func p50(_ values: [[Double]]) -> Double { median(values.map { $0[0] }) }
        let goals: [(String, Double, Double)] = [
            ("publish of 64 bytes, ns", median(alone), 80),
            ("64 stopped over 1 stopped, times", median(many) / median(one), 4),
            ("64 sleeping at the caller, us", median(callers), 15),
            ("64 sleeping, CPU until all are awake, us", median(cpus), 1_000),
            ("spinning p50 over the bare hand-over's, times", p50(spin) / p50(bareSpin), 3),
            ("blocking p50 over the bare futex's, times", p50(block) / p50(bareBlock), 1.2),
            ("5 M/s over events a second, paced, times", 5e6 / median(paced.map(\.rate)), 1),
            ("events that a paced run loses, %", 100 - paced.map(\.delivered).min()!, 0),
        ]
        var isMet = true
        for (name, value, goal) in goals {
            say("\(value <= goal ? "met   " : "MISSED") \(name): \(text(value)), goal \(text(goal))")
            if value > goal { isMet = false }
        }
        return isMet
    }
    static var processors: Int { sysconf(Int32(_SC_NPROCESSORS_ONLN)) }
    static func text(_ value: Double) -> String {
        let tenths = Int((value * 100).rounded())
        return "\(tenths / 100).\(tenths % 100 < 10 ? "0" : "")\(tenths % 100)"
    }
    static func line(_ name: String, _ values: [Double], _ unit: String) {
        let padded = name + String(repeating: " ", count: max(1, 58 - name.count))
        say("\(padded)\(text(median(values))) \(unit)  (\(text(values.min()!)) … \(text(values.max()!)))")
    }
}
