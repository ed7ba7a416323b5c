import RelayCore

/// Which samples of a unit have come, and which are named as missing: each must be one of the two, and once.
public struct SampleAccount: Equatable, Sendable {
    /// How many have come.
    public private(set) var received: UInt64 = 0
    /// How many are missing, of gaps whose end is known.
    public private(set) var missing: UInt64 = 0
    /// How many gaps have no known end: a run that was killed.
    public private(set) var openEnds = 0
    /// How many samples have come twice, or have come and are named as missing.
    public private(set) var twice: UInt64 = 0
    /// How many samples have another number than the unit gave them: its own count is the sequence of its stream.
    public private(set) var misplaced: UInt64 = 0
    /// How many samples of the present run have come or are missing.
    public private(set) var ofRun: UInt64 = 0
    public private(set) var epoch: UInt64?
    /// Of the present run: what is accounted for, in ascending order, without a hole in any range.
    private var ranges: [ClosedRange<UInt64>] = []
    private var holesBefore: UInt64 = 0

    public init() {}

    /// How many samples between others have neither come, nor are named as missing.
    public var unexplained: UInt64 {
        zip(ranges, ranges.dropFirst()).reduce(holesBefore) { $0 + $1.1.lowerBound - $1.0.upperBound - 1 }
    }

    /// - Parameter number: as the unit has counted it.
    public mutating func add(_ stamp: Stamp, number: UInt64) {
        begin(stamp.epoch)
        received += 1
        if number != stamp.sequence { misplaced += 1 }
        cover(stamp.sequence...stamp.sequence)
    }
    public mutating func add(_ gap: Gap) {
        if gap.isOpenEnded {
            openEnds += 1
            return
        }
        begin(gap.epoch)
        missing += Self.size(gap.sequences)
        cover(gap.sequences)
    }

    private static func size(_ range: ClosedRange<UInt64>) -> UInt64 { range.upperBound - range.lowerBound &+ 1 }
    private mutating func begin(_ epoch: UInt64) {
        if self.epoch == epoch { return }
        holesBefore = unexplained
        (self.epoch, ranges, ofRun) = (epoch, [], 0)
    }
    private mutating func cover(_ new: ClosedRange<UInt64>) {
        ofRun += Self.size(new)
        // As it nearly always is: the next one.
        if let last = ranges.last, last.upperBound < .max, last.upperBound + 1 == new.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound...new.upperBound
            return
        }
        for range in ranges where range.overlaps(new) { twice += Self.size(range.clamped(to: new)) }
        var merged = new
        var rest: [ClosedRange<UInt64>] = []
        for range in ranges {
            let isBeside =
                range.overlaps(merged)
                || (range.upperBound < .max && range.upperBound + 1 == merged.lowerBound)
                || (merged.upperBound < .max && merged.upperBound + 1 == range.lowerBound)
            if isBeside {
                merged = min(range.lowerBound, merged.lowerBound)...max(range.upperBound, merged.upperBound)
            } else {
                rest.append(range)
            }
        }
        ranges = (rest + [merged]).sorted { $0.lowerBound < $1.lowerBound }
    }
}
