import BenchSupport
import TransportReport

/// The command line.
struct BenchOptions {
    static let usage = """
        usage: transport-bench [--rounds N] [--quick] [--only "WORDS"] [--results FOLDER]
               transport-bench --list
               transport-bench --render FILE.json PAGE.md PLOT.svg
          --rounds N        rounds of everything, in turns; the medians count (5)
          --quick           one short round with fewer sizes, to try it out
          --only "WORDS"    only cells with all these words, as --list shows them; goals that need others are then not measured
          --results FOLDER  where transports.json and transports.svg go (Benchmarks/results)
          --list            says what there is to measure
          --render          writes earlier results into a page, between its markers, and draws their plot
        A round takes about five minutes; a trial takes one.
        Exit codes: 0; 1 a goal is missed, or a peer failed; 64 usage; 69 something is not installed.
        """
    enum Task { case measure, list, render(json: String, page: String, plot: String) }
    var task = Task.measure
    var rounds: Int?
    var isQuick = false
    var only: String?
    var results = "Benchmarks/results"
    var plan: Plan { Plan(rounds: rounds ?? (isQuick ? 1 : 5), isQuick: isQuick, only: only) }

    init(_ arguments: some Sequence<String>) throws {
        var words = BenchArguments(arguments, usage: Self.usage)
        while let option = words.next() {
            switch option {
            case "--rounds": rounds = try words.number(of: option, upTo: 1_000)
            case "--quick": isQuick = true
            case "--only": only = try words.value(of: option)
            case "--results": results = try words.value(of: option)
            case "--list": task = .list
            case "--render":
                task = .render(
                    json: try words.value(of: option), page: try words.value(of: option),
                    plot: try words.value(of: option))
            default: throw words.unknown(option)
            }
        }
        if plan.cells.isEmpty { throw BenchError(message: "nothing is called '\(only ?? "")'", exitCode: 64) }
    }
}
