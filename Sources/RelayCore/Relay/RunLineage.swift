/// The runs that led to a place, out of what services have reported.
///
/// A run has one past only, whatever journal reports it. So the newest report that has a run names all before it.
struct RunLineage: Hashable, Sendable {
    /// Newest first.
    private var reports: [[StreamRun]] = []
    /// How many are kept: events of a former history may be still on their way to a subscriber.
    private static let limit = 4

    mutating func learn(_ runs: [StreamRun]) {
        if runs.isEmpty { return }
        reports.removeAll { $0 == runs }
        reports.insert(runs, at: 0)
        if reports.count > Self.limit { reports.removeLast() }
    }
    /// The runs up to `epoch`, which is the last of them; empty: unknown.
    func ancestry(of epoch: UInt64) -> [StreamRun] {
        for report in reports {
            if let index = report.lastIndex(where: { $0.epoch == epoch }) {
                return Array(report[...index].suffix(StreamRun.most))
            }
        }
        return []
    }
    /// Nothing is asked any more but of this run, and of those in the latest report.
    mutating func narrow(to epoch: UInt64) {
        guard let place = reports.firstIndex(where: { $0.contains { $0.epoch == epoch } }) else {
            return reports.removeLast(max(0, reports.count - 1))
        }
        reports = place == 0 ? [reports[0]] : [reports[0], reports[place]]
    }
}
