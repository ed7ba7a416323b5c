import RelayCore
import RelayTool

/// Where a reading of one interface's journal stands: which page is next, what is missing before it, and when it ends.
///
/// A value that does no I/O. It trusts the service in nothing: whatever that answers, every page gets on, or it is an
/// error.
struct JournalScan {
    let interface: String
    private let service: String
    /// nil: all events.
    let names: Set<String>?
    /// All asked-for events up to here were seen, or are gone.
    private(set) var after: UInt64
    /// The last one of interest; nil before the first page, whose head it is: what comes later belongs to `watch`.
    private(set) var last: UInt64?
    private let until: UInt64
    /// Whether what is gone before the first event is missing.
    private var reportsGone: Bool

    /// Pages in a row that hold next to nothing, and where they began.
    private var lean: (pages: Int, from: UInt64) = (0, 0)
    /// Before the first event that was wanted and is there.
    private var beginning: UInt64?

    /// A page with less in it ends early, or holds the last events.
    private static let leanBytes = 64 << 10
    /// So many of them get over this part of the whole, at least: a service looks at thousands of events for each.
    private static let (mostLean, leastPart) = (1_000, UInt64(1_000))

    /// nil as `after`: begins with the oldest event that is kept.
    init(
        _ interface: String, of service: String, names: Set<String>?, after: UInt64?, until: UInt64 = .max
    ) {
        (self.interface, self.service, self.names, self.until) = (interface, service, names, until)
        (self.after, reportsGone) = (after ?? 0, after != nil)
    }

    var isDone: Bool { last.map { after >= $0 } ?? (after >= until) }

    /// Takes the answer to a `Read` after `after`. Returns what is gone in front of its events.
    ///
    /// Throws `.software` for an answer that cannot be true, and for answers that would have no end.
    ///
    /// - Parameter size: of the page, in bytes.
    mutating func take(
        _ page: StreamPage, sequences: some Sequence<UInt64>, size: Int
    ) throws(CLIFailure) -> Gap? {
        let end = last ?? min(page.head, until)
        var (first, before) = (UInt64?.none, after)
        for sequence in sequences {
            guard sequence > before else { throw lie("with #\(sequence) behind #\(before)") }
            first = first ?? sequence
            before = sequence
        }
        guard first == nil || before <= page.through else {
            throw lie("with #\(before) in a page through #\(page.through)")
        }
        guard page.through <= max(page.head, after) else {
            throw lie("through #\(page.through), which is behind its head #\(page.head)")
        }
        // At the head there is nothing to get on to.
        guard page.through > after || page.head <= after else { throw lie("without getting on from #\(after)") }
        try checkProgress(page, through: max(after, page.through), of: end, size)
        let gone = min(max(page.oldest, 1) - 1, (first ?? .max) - 1, end)
        let isMissing = reportsGone && gone > after
        defer { (after, last, reportsGone) = (max(after, page.through), end, true) }
        return isMissing ? Gap((after + 1)...gone, epoch: page.epoch, count: count(gone), reason: .expired) : nil
    }
    /// What the journal never had, of what such an answer covers; to be asked before it is taken.
    func gaps(in page: StreamPage) -> [Gap] {
        let end = min(last ?? min(page.head, until), page.through)
        let begin = max(after, max(page.oldest, 1) - 1)
        return page.gaps.compactMap { gap in
            guard begin < end, gap.upperBound > begin, gap.lowerBound <= end else { return nil }
            let range = max(gap.lowerBound, begin + 1)...min(gap.upperBound, end)
            let count = names == nil ? Int(clamping: range.upperBound - range.lowerBound) + 1 : nil
            return Gap(range, epoch: page.epoch, count: count, reason: .unrecorded)
        }
    }
    /// A service that moves on by a little with every page, and never gets anywhere, is no better than one that stands still.
    private mutating func checkProgress(
        _ page: StreamPage, through: UInt64, of end: UInt64, _ size: Int
    ) throws(CLIFailure) {
        let beginning = self.beginning ?? max(after, max(page.oldest, 1) - 1)
        self.beginning = beginning
        guard size < Self.leanBytes, through < end else { return lean = (0, through) }
        if lean.pages == 0 { lean.from = after }
        lean.pages += 1
        if lean.pages < Self.mostLean { return }
        if through - lean.from < (end - min(beginning, end)) / Self.leastPart {
            throw CLIFailure(
                .software,
                "\(interface) of '\(service)' answers Read without end: \(Self.mostLean) pages that hold next to nothing "
                    + "got from #\(lean.from) to #\(through) of #\(end)")
        }
        lean = (0, through)
    }
    /// Nothing more is wanted of it.
    mutating func end() { last = after }

    /// Of one name among others, nobody knows how many are gone.
    private func count(_ gone: UInt64) -> Int? { names == nil ? Int(clamping: gone - after) : nil }

    private func lie(_ what: String) -> CLIFailure { CLIFailure(.software, "\(interface) answers Read \(what)") }
}
