import BenchSupport
import Foundation

/// The command line.
struct Options {
    static let usage = """
        usage: signal-bench [--events N] [--rate N] [--seconds N] [--rounds N] [--pairs libdbus,sdbus,relay] [--json FILE]
          --events N    events of a round at saturation (200000)
          --rate N      events a second of a latency round (1000)
          --seconds N   length of a latency round (3)
          --rounds N    rounds of each, in turns; the medians count (5)
          --pairs LIST  which pairs run (all that were built)
          --json FILE   also write all measurements
        """
    var events = 200_000
    var rate = 1_000
    var seconds = 3
    var rounds = 5
    var pairs = Pair.allCases.filter { FileManager.default.isExecutableFile(atPath: Peer.path(of: $0.executable)) }
    var jsonFile: String?

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)[...]
        while let option = rest.popFirst() {
            if option == "--help" { throw BenchError(message: Self.usage, exitCode: 64) }
            guard let value = rest.popFirst() else {
                throw BenchError(message: "\(option) is no option, or lacks its value\n\(Self.usage)", exitCode: 64)
            }
            switch option {
            case "--events": events = try Self.number(value, of: option, upTo: 10_000_000)
            case "--rate": rate = try Self.number(value, of: option, upTo: 1_000_000)
            case "--seconds": seconds = try Self.number(value, of: option, upTo: 60)
            case "--rounds": rounds = try Self.number(value, of: option, upTo: 1_000)
            case "--pairs":
                pairs = try value.split(separator: ",").map { name in
                    guard let pair = Pair(rawValue: String(name)) else {
                        throw BenchError(message: "no pair '\(name)'; there are libdbus, sdbus and relay", exitCode: 64)
                    }
                    return pair
                }
            case "--json": jsonFile = value
            default: throw BenchError(message: "no option '\(option)'\n\(Self.usage)", exitCode: 64)
            }
        }
        if pairs.isEmpty { throw BenchError(message: "no pair to run; build the whole package first") }
    }

    private static func number(_ text: String, of option: String, upTo limit: Int) throws -> Int {
        guard let number = Int(text), (1...limit).contains(number) else {
            throw BenchError(message: "\(option) '\(text)': give a number from 1 to \(limit)", exitCode: 64)
        }
        return number
    }
}
