public import RelayCore

/// A line with both numbers.
@MainActor public final class ScoreLine: DocumentView {
    private let print: (String) -> Void
    public init(print: @escaping (String) -> Void) { self.print = print }
    public func show(_ score: Score) { print("\(score.home) : \(score.away)") }
}
/// Who is ahead. It knows nothing of the other view.
@MainActor public final class LeaderLabel: DocumentView {
    private let print: (String) -> Void
    public init(print: @escaping (String) -> Void) { self.print = print }
    public func show(_ score: Score) {
        print(score.home == score.away ? "a draw" : score.home > score.away ? "home leads" : "away leads")
    }
}
