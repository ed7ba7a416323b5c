import BenchSupport

/// The command line.
struct Options {
    static let usage = """
        usage: command-bench [--rounds N] [--seconds N] [--quick] [--only "WORDS"] [--json FILE]
               command-bench --list
          --rounds N      rounds of everything, in turns; the medians count (5)
          --seconds N     for how long each calls in a round (3)
          --quick         one round of one second, to try it out
          --only "WORDS"  only loads with all these words, as --list shows them; goals that need others are then not measured
          --json FILE     also write all measurements
          --list          says what there is to measure
        Exit codes: 0; 1 a goal is missed, or a peer failed; 64 usage.
        """
    private(set) var rounds = 5
    private(set) var seconds = 3
    private(set) var isList = false
    private(set) var only: [String] = []
    private(set) var jsonFile: String?
    var loads: [Load] { Load.all.filter { load in only.allSatisfy { load.description.contains($0) } } }

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)[...]
        func value(of option: String) throws -> String {
            guard let value = rest.popFirst() else {
                throw BenchError(message: "\(option) lacks its value\n\(Self.usage)", exitCode: 64)
            }
            return value
        }
        func number(of option: String, upTo limit: Int) throws -> Int {
            let text = try value(of: option)
            guard let number = Int(text), (1...limit).contains(number) else {
                throw BenchError(message: "\(option) '\(text)': give a number from 1 to \(limit)", exitCode: 64)
            }
            return number
        }
        while let option = rest.popFirst() {
            switch option {
            case "--rounds": rounds = try number(of: option, upTo: 1_000)
            case "--seconds": seconds = try number(of: option, upTo: 600)
            case "--quick": (rounds, seconds) = (1, 1)
            case "--only": only = try value(of: option).split(separator: " ").map(String.init)
            case "--json": jsonFile = try value(of: option)
            case "--list": isList = true
            default: throw BenchError(message: "no option '\(option)'\n\(Self.usage)", exitCode: 64)
            }
        }
        if loads.isEmpty {
            throw BenchError(message: "no load is called '\(only.joined(separator: " "))'", exitCode: 64)
        }
    }
}
