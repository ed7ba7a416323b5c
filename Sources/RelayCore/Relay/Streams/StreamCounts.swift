/// What a stream has brought its members: for `RelayMetrics`. Counted in turns of the loop, so that an event costs one
/// addition.
struct StreamCounts {
    struct GapCount {
        var gaps = 0
        var events: UInt64 = 0
        var sequences: UInt64 = 0
        var openEnded = 0
    }
    var signals: UInt64 = 0
    /// By the inlet past the bus.
    var direct: UInt64 = 0
    /// By pages of the journal.
    var read: UInt64 = 0
    var pages = 0
    var faults = 0
    var overruns = 0
    private(set) var gaps: [Gap.Reason: GapCount] = [:]

    /// An event reaches a member that way.
    @inline(__always) mutating func count(_ raw: RawEvent) {
        if raw.isPayload { direct &+= 1 } else if raw.isLive { signals &+= 1 } else { read &+= 1 }
    }
    mutating func count(_ gap: Gap) {
        var count = gaps[gap.reason] ?? GapCount()
        count.gaps += 1
        count.events &+= UInt64(max(0, gap.count ?? 0))
        if gap.isOpenEnded {
            count.openEnded += 1
        } else {
            count.sequences &+= gap.sequences.upperBound - gap.sequences.lowerBound &+ 1
        }
        gaps[gap.reason] = count
    }
}
