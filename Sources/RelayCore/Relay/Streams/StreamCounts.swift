import Synchronization
import RelayWire

/// What a stream has brought its members: for `RelayMetrics`. Counted in turns of the loop, and read on any thread
/// without one.
struct StreamCounts: ~Copyable {
    struct GapCount {
        var gaps = 0
        var events: UInt64 = 0
        var sequences: UInt64 = 0
        var openEnded = 0
    }
    let signals = TurnCount()
    /// By the ring.
    let ring = TurnCount()
    /// By pages of the journal.
    let read = TurnCount()
    let pages = TurnCount()
    let faults = TurnCount()
    let overruns = TurnCount()
    private let gapCounts = Mutex<[Gap.Reason: GapCount]>([:])

    /// An event reaches a member that way.
    @inline(__always) func count(_ raw: RawEvent) {
        switch raw.transport {
        case .signal: signals.increment()
        case .ring: ring.increment()
        case .journal: read.increment()
        }
    }
    func count(_ gap: Gap) {
        gapCounts.withLock { gaps in
            var count = gaps[gap.reason] ?? GapCount()
            count.gaps += 1
            // What a service claims: nothing that it claims makes them small again.
            count.events = Self.sum(count.events, UInt64(max(0, gap.count ?? 0)))
            if gap.isOpenEnded {
                count.openEnded += 1
            } else {
                count.sequences = Self.sum(count.sequences, gap.sequences.upperBound - gap.sequences.lowerBound)
                count.sequences = Self.sum(count.sequences, 1)
            }
            gaps[gap.reason] = count
        }
    }
    var gaps: [Gap.Reason: GapCount] { gapCounts.withLock { $0 } }
    private static func sum(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let (sum, isOver) = a.addingReportingOverflow(b)
        return isOver ? .max : sum
    }
}

/// A number that only the holder of a turn increments, so that an event costs one addition; any thread may read it.
struct TurnCount: ~Copyable {
    private let number = Atomic<UInt64>(0)
    @inline(__always) func increment() {
        number.store(number.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }
    var value: UInt64 { number.load(ordering: .relaxed) }
}
