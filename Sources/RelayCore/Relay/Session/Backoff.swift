/// How long to wait before the next attempt: doubles, up to a bound.
struct Backoff {
    private let bounds: ClosedRange<Duration>
    private var upcoming: Duration

    init(_ bounds: ClosedRange<Duration>) { (self.bounds, upcoming) = (bounds, bounds.lowerBound) }

    mutating func next() -> Duration {
        defer { upcoming = min(upcoming * 2, bounds.upperBound) }
        return upcoming
    }
    /// With a share of chance, so that many relays of one bus do not come back at once.
    mutating func spread(chance: Double = .random(in: 0...1)) -> Duration { next() * (0.5 + chance / 2) }
    mutating func reset() { upcoming = bounds.lowerBound }
}
