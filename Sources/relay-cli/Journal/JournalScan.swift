import RelayCore
import RelayTool

/// Where a reading of one interface's journal stands: which page is next, what is missing before it, and when it ends.
///
/// A value that does no I/O. It trusts the service in nothing: whatever that answers, every page gets on, or it is an
/// error.
struct JournalScan {
    let interface: String
    /// nil: all events.
    let names: Set<String>?
    /// All asked-for events up to here were seen, or are gone.
    private(set) var after: UInt64
    /// The last one of interest; nil before the first page, whose head it is: what comes later belongs to `watch`.
    private(set) var last: UInt64?
    private let until: UInt64
    /// Whether what is gone before the first event is missing.
    private var reportsGone: Bool

    /// nil as `after`: begins with the oldest event that is kept.
    init(_ interface: String, names: Set<String>?, after: UInt64?, until: UInt64 = .max) {
        (self.interface, self.names, self.until) = (interface, names, until)
        (self.after, reportsGone) = (after ?? 0, after != nil)
    }

    var isDone: Bool { last.map { after >= $0 } ?? (after >= until) }

    /// Takes the answer to a `Read` after `after`. Returns what is gone in front of its events.
    ///
    /// Throws `.software` for an answer that cannot be true.
    mutating func take(_ page: StreamPage, sequences: some Sequence<UInt64>) throws(CLIFailure) -> Gap? {
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
        let gone = min(max(page.oldest, 1) - 1, (first ?? .max) - 1, end)
        let isMissing = reportsGone && gone > after
        defer { (after, last, reportsGone) = (max(after, page.through), end, true) }
        return isMissing ? Gap((after + 1)...gone, epoch: page.epoch, count: count(gone), reason: .expired) : nil
    }
    /// Nothing more is wanted of it.
    mutating func end() { last = after }

    /// Of one name among others, nobody knows how many are gone.
    private func count(_ gone: UInt64) -> Int? { names == nil ? Int(clamping: gone - after) : nil }

    private func lie(_ what: String) -> CLIFailure { CLIFailure(.software, "\(interface) answers Read \(what)") }
}
