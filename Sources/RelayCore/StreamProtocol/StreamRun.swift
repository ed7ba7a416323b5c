/// One run of a service, in the history of one of its durable interfaces.
package struct StreamRun: Hashable, Sendable {
    /// How many runs one side of `Attach` reports, the newest last.
    package static let most = 32

    package let epoch: UInt64
    /// The sequence of its first event, whether there has been one or not.
    package let first: UInt64
    package init(epoch: UInt64, first: UInt64) { (self.epoch, self.first) = (epoch, first) }

    /// In a list of runs: those from this sequence on are left out of it. No run has the epoch 0.
    package static func omission(from first: UInt64) -> Self { Self(epoch: 0, first: first) }
}

extension StreamRun {
    /// So many of the newest runs are in a sample, and so many of all before them.
    private static let newest = 16
    private static let older = 8

    /// The runs that one side of `Attach` reports of a history, by rising first sequence, the present one last.
    ///
    /// The newest runs that have events, then older ones, each about twice as far back as the one after it, down to the
    /// oldest. So two histories that parted long ago still have a run in common that both sides name. What is left out
    /// behind an older run is an `omission`: without it, that run would seem to reach up to the next one.
    ///
    /// - Parameters:
    ///   - oldest: the first sequence of the oldest run.
    ///   - before: the newest of the runs that begin below a sequence.
    ///   - after: the lowest first sequence above a sequence.
    package static func sample<Failure: Error>(
        to present: Self, oldest: UInt64, before: (UInt64) throws(Failure) -> Self?,
        after: (UInt64) throws(Failure) -> UInt64?
    ) throws(Failure) -> [Self] {
        // From the present one back.
        var runs = [present]
        var low = present.first
        while runs.count < newest, let run = try before(low) {
            runs.append(run)
            low = run.first
        }
        let (span, edge) = (low - min(oldest, low), low)
        for shift in (0..<older).reversed() {
            guard low > oldest, let run = try before(edge - (span >> shift) + 1), run.first < low else { continue }
            if let next = try after(run.first), next != low { runs.append(omission(from: next)) }
            runs.append(run)
            low = run.first
        }
        return runs.reversed()
    }
    /// The same of a list that has all of them, by rising first sequence.
    package static func sample(of runs: [Self]) -> [Self] {
        guard let present = runs.last else { return [] }
        return sample(to: present, oldest: runs[0].first) { limit in
            runs.last { $0.first < limit }
        } after: { limit in
            runs.lazy.map(\.first).first { $0 > limit }
        }
    }
}
