import Foundation

/// A page with a part that is generated, between two markers.
public enum MarkedText {
    public static let begin = "<!-- figures: begin (written by make bench-docs) -->"
    public static let end = "<!-- figures: end -->"

    /// Nil when the page has not exactly these markers, in this order.
    public static func replacing(
        in page: String, with part: String, begin: String = Self.begin, end: String = Self.end
    ) -> String? {
        let before = page.components(separatedBy: begin)
        guard before.count == 2 else { return nil }
        let after = before[1].components(separatedBy: end)
        guard after.count == 2 else { return nil }
        return before[0] + begin + "\n\n" + part + "\n" + end + after[1]
    }
}
