/// Tells a person at a terminal how far a long work is: on one line, which is written again and again, and is gone at the
/// end.
struct ProgressLine {
    /// What is over before says nothing.
    private static let patience = Duration.seconds(1)
    private static let pause = Duration.milliseconds(250)

    private let write: (String) -> Void
    private let began: ContinuousClock.Instant
    private var shownAt: ContinuousClock.Instant?

    /// - Parameter write: to the terminal, as it is.
    init(at time: ContinuousClock.Instant = .now, write: @escaping (String) -> Void) {
        (self.write, began) = (write, time)
    }

    /// Called often; most calls show nothing. `part` of the whole (0…1); nil: unknown.
    mutating func show(events: UInt64, part: Double?, at time: ContinuousClock.Instant = .now) {
        if time - (shownAt ?? began) < (shownAt == nil ? Self.patience : Self.pause) { return }
        shownAt = time
        let percent = part.map { ", \(Int((min(max($0, 0), 1) * 100).rounded(.down))) %" } ?? ""
        write("\r\u{1B}[K" + Quantity.count(events, "event") + percent)
    }
    mutating func end() {
        if shownAt != nil { write("\r\u{1B}[K") }
        shownAt = nil
    }
}
