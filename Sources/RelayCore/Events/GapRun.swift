/// The gaps of one place in a queue: at most one for each run and reason, whatever was lost there.
///
/// Bounded: past `limit` kinds, the oldest ranges are no longer named, only counted.
struct GapRun: Equatable {
    static let limit = 8
    /// Apart from the others, so that the usual single gap needs no allocation.
    private(set) var first: Gap
    private(set) var others: [Gap] = []

    init(_ gap: Gap) { first = gap }
    /// One event that overflowed.
    init(_ stamp: Stamp) { first = Self.gap(stamp) }

    var gaps: [Gap] { [first] + others }

    mutating func append(_ stamp: Stamp) { append(Self.gap(stamp)) }
    mutating func append(_ gap: Gap) {
        // The newest of a kind is the one to go on with: an older one may lie above it.
        if let index = others.lastIndex(where: { $0.epoch == gap.epoch && $0.reason == gap.reason }) {
            if let merged = others[index].merged(with: gap) { return others[index] = merged }
        } else if let merged = first.merged(with: gap) {
            return first = merged
        }
        others.append(gap)
        if others.count == Self.limit {
            let second = others.removeFirst()
            first = Gap(
                second.sequences, epoch: second.epoch, count: Gap.sum(first.count, second.count), reason: second.reason)
        }
    }
    mutating func append(_ run: GapRun) {
        append(run.first)
        for gap in run.others { append(gap) }
    }
    /// The run without its first gap.
    var dropFirst: GapRun? {
        guard let second = others.first else { return nil }
        var rest = GapRun(second)
        rest.others = Array(others.dropFirst())
        return rest
    }
    private static func gap(_ stamp: Stamp) -> Gap {
        Gap(stamp.sequence...stamp.sequence, epoch: stamp.epoch, count: 1, reason: .overflow)
    }
}
