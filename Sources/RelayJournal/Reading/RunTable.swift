import RelayCore

/// The runs of an interface, from the oldest: which sequence is of which.
struct RunTable: Sendable {
    private let runs: [LogSnapshot.Run]
    init(_ runs: [LogSnapshot.Run]) { self.runs = runs }

    /// The run that a sequence is of, and its last sequence: `UInt64.max` for the present one.
    func run(of sequence: UInt64) -> (epoch: UInt64, end: UInt64) {
        // The last one that begins there or before: those that begin there too had no events.
        let sequence = max(sequence, runs.first?.first ?? 1)
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].first <= sequence { low = middle + 1 } else { high = middle }
        }
        return (low > 0 ? runs[low - 1].epoch : 0, low < runs.count ? runs[low].first - 1 : .max)
    }
}
