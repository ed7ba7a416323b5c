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
        var words = BenchArguments(arguments, usage: Self.usage)
        while let option = words.next() {
            switch option {
            case "--events": events = try words.number(of: option, upTo: 10_000_000)
            case "--rate": rate = try words.number(of: option, upTo: 1_000_000)
            case "--seconds": seconds = try words.number(of: option, upTo: 60)
            case "--rounds": rounds = try words.number(of: option, upTo: 1_000)
            case "--pairs":
                pairs = try words.value(of: option).split(separator: ",").map { name in
                    guard let pair = Pair(rawValue: String(name)) else {
                        throw BenchError(message: "no pair '\(name)'; there are libdbus, sdbus and relay", exitCode: 64)
                    }
                    return pair
                }
            case "--json": jsonFile = try words.value(of: option)
            default: throw words.unknown(option)
            }
        }
        if pairs.isEmpty { throw BenchError(message: "no pair to run; build the whole package first") }
    }
}
