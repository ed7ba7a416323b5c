extension Results {
    /// For the documentation.
    public var markdown: String {
        let verdicts = goals.map { "- \($0.verdict): \($0.line)" }.joined(separator: "\n")
        return """
            \(conditions)

            \(verdicts)

            \(tables.map(\.markdown).joined(separator: "\n"))
            """
    }
    /// For the terminal.
    public var text: String {
        let verdicts = goals.map { goal in
            goal.verdict + String(repeating: " ", count: max(1, 13 - goal.verdict.count)) + goal.line
        }
        return """
            \(conditions)

            \(tables.map(\.text).joined(separator: "\n"))
            \(verdicts.joined(separator: "\n"))

            """
    }
    private var conditions: String {
        """
        \(isQuick ? "A trial, too short to say much. " : "")Medians of \(rounds) interleaved rounds (least … greatest), on \(machine.processors) processors (\(machine.processor), Linux \(machine.kernel)).
        """
    }
}
