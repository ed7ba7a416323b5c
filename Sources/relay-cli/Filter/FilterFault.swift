import RelayCore
import RelayTool

/// What is wrong with an expression or a template, and where.
struct FilterFault: Error, Equatable, Sendable {
    let message: String
    /// In characters from the beginning, from 0 on.
    let column: Int

    init(_ message: String, at column: Int) { (self.message, self.column) = (message, column) }

    /// The text, and below it a caret under the place.
    func excerpt(of text: String) -> [String] {
        let shown = String(text.map { $0.unicodeScalars.allSatisfy(\.isPlainlyVisible) ? $0 : "?" })
        // Of a long text the part around the place.
        let first = max(0, column - Self.context)
        let part = shown.dropFirst(first).prefix(2 * Self.context)
        return ["  " + part, "  " + String(repeating: " ", count: column - first) + "^"]
    }
    private static let context = 36

    /// What is wrong with its form.
    func unfit(_ what: String, _ text: String) -> Unfit {
        Unfit("is no \(what): column \(column + 1): \(message)", excerpt: excerpt(of: text))
    }
    /// What is wrong with it for the events that there are.
    func usage(_ option: String, _ text: String) -> UsageError {
        UsageError("option '--\(option)', column \(column + 1): \(message)", excerpt: excerpt(of: text))
    }
}
