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
        var rest = Array(arguments)[...]
        func value(of option: String) throws -> String {
            guard let value = rest.popFirst() else {
                throw BenchFailure(message: "\(option) lacks its value\n\(Self.usage)", exitCode: 64)
            }
            return value
        }
        while let option = rest.popFirst() {
            switch option {
            case "--rounds":
                let text = try value(of: option)
                guard let number = Int(text), (1...1_000).contains(number) else {
                    throw BenchFailure(message: "--rounds '\(text)': give a number from 1 to 1000", exitCode: 64)
                }
                rounds = number
            case "--quick": isQuick = true
            case "--only": only = try value(of: option)
            case "--results": results = try value(of: option)
            case "--list": task = .list
            case "--render":
                task = .render(
                    json: try value(of: option), page: try value(of: option), plot: try value(of: option))
            default: throw BenchFailure(message: "no option '\(option)'\n\(Self.usage)", exitCode: 64)
            }
        }
        if plan.cells.isEmpty { throw BenchFailure(message: "nothing is called '\(only ?? "")'", exitCode: 64) }
    }
}
