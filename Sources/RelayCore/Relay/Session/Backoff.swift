/// How long to wait before the next attempt. Doubles, up to a bound, with a share of chance, so that many relays of one
/// bus do not come back at once.
struct Backoff {
    static let first = 0.05
    static let longest = 5.0
    /// In seconds.
    private let bounds: ClosedRange<Double>
    private var next: Double

    init(from first: Double = Self.first, to longest: Double = Self.longest) {
        (bounds, next) = (first...longest, first)
    }

    mutating func delay(chance: Double = .random(in: 0...1)) -> Duration {
        defer { next = min(next * 2, bounds.upperBound) }
        return .seconds(next * (0.5 + chance / 2))
    }
    mutating func reset() { next = bounds.lowerBound }
}
