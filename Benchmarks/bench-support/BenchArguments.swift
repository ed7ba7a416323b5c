/// The words of a benchmark's command line, taken one after the other.
public struct BenchArguments {
    private var rest: ArraySlice<String>
    private let usage: String

    public init(_ words: some Sequence<String>, usage: String) { (rest, self.usage) = (Array(words)[...], usage) }

    public mutating func next() -> String? { rest.popFirst() }
    public mutating func value(of option: String) throws -> String {
        guard let value = rest.popFirst() else {
            throw BenchError(message: "\(option) lacks its value\n\(usage)", exitCode: 64)
        }
        return value
    }
    public mutating func number(of option: String, upTo limit: Int) throws -> Int {
        let text = try value(of: option)
        guard let number = Int(text), (1...limit).contains(number) else {
            throw BenchError(message: "\(option) '\(text)': give a number from 1 to \(limit)", exitCode: 64)
        }
        return number
    }
    /// For an option that the benchmark does not have.
    public func unknown(_ option: String) -> BenchError {
        BenchError(message: option == "--help" ? usage : "no option '\(option)'\n\(usage)", exitCode: 64)
    }
}
