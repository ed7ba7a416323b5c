/// When samples are due: at their places from the beginning on, however long each one took.
///
/// Those that are late by more than `patience` are left out, and counted: they would only keep others late.
struct Pacer {
    /// Nanoseconds.
    static let patience: UInt64 = 100_000_000
    /// Of the reports about samples that were left out.
    static let firstReport: UInt64 = 1_000_000_000
    static let reports: UInt64 = 10_000_000_000

    private let rate: Double
    private var start: UInt64
    private var taken: UInt64 = 0

    private var reportStart: UInt64
    private var nextReport: UInt64
    private var missed: UInt64 = 0
    private var takenInReport: UInt64 = 0

    /// - Parameters:
    ///   - rate: samples a second, above 0.
    ///   - now: of a monotonic clock, in nanoseconds; as everywhere here.
    init(rate: Double, now: UInt64) {
        (self.rate, start, reportStart, nextReport) = (rate, now, now, now + Self.firstReport)
    }

    /// When the next sample is due.
    var deadline: UInt64 { start + UInt64(Double(taken) / rate * 1e9) }

    /// So many samples were taken, at about `now`.
    mutating func took(_ count: Int, now: UInt64) {
        taken += UInt64(count)
        takenInReport += UInt64(count)
        let due = deadline
        guard now > due, now - due > Self.patience else { return }
        let late = UInt64(Double(now - due) / 1e9 * rate)
        missed += late
        // A new beginning: what is due now is the next.
        (start, taken) = (now, 0)
    }

    /// What was missed since the last report, when it is time to report it.
    mutating func report(now: UInt64) -> Report? {
        if now < nextReport { return nil }
        defer { (reportStart, nextReport, missed, takenInReport) = (now, now + Self.reports, 0, 0) }
        return missed == 0 ? nil : Report(taken: takenInReport, missed: missed, nanoseconds: now - reportStart)
    }
    struct Report: Equatable {
        let taken: UInt64
        let missed: UInt64
        let nanoseconds: UInt64

        var text: String {
            let seconds = max(1, (nanoseconds + 500_000_000) / 1_000_000_000)
            return "cannot keep up: \(missed) of \(taken + missed) samples were left out in \(seconds) s; "
                + "give a lower --rate"
        }
    }
}
