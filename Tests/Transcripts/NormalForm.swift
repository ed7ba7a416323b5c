import Foundation

/// What of a program's output differs from run to run, and how it stands in a transcript instead.
struct NormalForm {
    private let places: [(path: String, name: String)]
    private let rules: [(expression: NSRegularExpression, text: String)]

    /// In this order: a rule sees what the ones before it have left. Dates and times without a fraction are those of
    /// texts, and stay.
    private static let common: [(pattern: String, text: String)] = [
        (#"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d+Z?"#, "DATE TIME"),
        (#"\b\d\d:\d\d:\d\d\.\d+\b"#, "TIME"),
        (#"^\d\d:\d\d:\d\d (error|warning|info|debug): "#, "TIME $1: "),
        (#"("(?:publishedAt|time|epoch|lastAt|oldestAt)":)("?)\d{10,}("?)"#, "$1$2NUMBER$3"),
        (#"\b(epoch[= ])\d{6,}"#, "$1NUMBER"),
        (#"(?<!["\w]):1\.\d+|(?<="):1\.\d+(?=")"#, ":1.N"),
        (#"\b(process|user) \d+"#, "$1 ID"),
    ]

    /// - Parameters:
    ///   - places: paths of this run, and what they are called.
    ///   - rules: those of the transcript, which come first.
    init(places: [(path: String, name: String)], rules: [(pattern: String, text: String)]) throws {
        self.places = places
        self.rules = try (rules + Self.common).map { rule in
            (try NSRegularExpression(pattern: rule.pattern), rule.text)
        }
    }

    func line(_ text: String) -> String {
        // A line of CSV ends with both; in a transcript it could not be seen.
        var text = text.replacing("\r", with: "\\r")
        for place in places { text = text.replacing(place.path, with: place.name) }
        for rule in rules {
            let all = NSRange(text.startIndex..., in: text)
            text = rule.expression.stringByReplacingMatches(in: text, range: all, withTemplate: rule.text)
        }
        return text
    }
    func outcome(_ outcome: Transcript.Outcome) -> Transcript.Outcome {
        Transcript.Outcome(
            output: outcome.output.map(line), errors: outcome.errors.map(line), code: outcome.code)
    }
}
