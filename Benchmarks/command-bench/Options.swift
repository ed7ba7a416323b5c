import BenchSupport

/// The command line.
struct Options {
    static let usage = """
        usage: command-bench [--rounds N] [--seconds N] [--quick] [--only "WORDS"] [--json FILE] [--page FILE]
               command-bench --list
          --rounds N      rounds of everything, in turns; the medians count (5)
          --seconds N     for how long each calls in a round (3)
          --quick         one round of one second, to try it out
          --only "WORDS"  only loads with all these words, as --list shows them; goals that need others are then not measured
          --json FILE     also write all measurements
          --page FILE     also write the tables into a page, between its two markers
          --list          says what there is to measure
        Exit codes: 0; 1 a goal is missed, or a peer failed; 64 usage.
        """
    private(set) var rounds = 5
    private(set) var seconds = 3
    private(set) var isList = false
    private(set) var only: [String] = []
    private(set) var jsonFile: String?
    private(set) var page: String?
    var loads: [Load] { Load.all.filter { load in only.allSatisfy { load.description.contains($0) } } }
    var hasBlocked: Bool { only.allSatisfy { BlockedRow.title.contains($0) } }

    init(_ arguments: some Sequence<String>) throws {
        var words = BenchArguments(arguments, usage: Self.usage)
        while let option = words.next() {
            switch option {
            case "--rounds": rounds = try words.number(of: option, upTo: 1_000)
            case "--seconds": seconds = try words.number(of: option, upTo: 600)
            case "--quick": (rounds, seconds) = (1, 1)
            case "--only": only = try words.value(of: option).split(separator: " ").map(String.init)
            case "--json": jsonFile = try words.value(of: option)
            case "--list": isList = true
            case "--page": page = try words.value(of: option)
            default: throw words.unknown(option)
            }
        }
        if loads.isEmpty && !hasBlocked {
            throw BenchError(message: "no load is called '\(only.joined(separator: " "))'", exitCode: 64)
        }
    }
}
