package import RelayCore

/// The runs of an origin, as the newest snapshot that a replica has taken in lists them.
///
/// An epoch names a history: it is random, and what was committed before its run is fixed when that begins. A restored
/// journal begins another run. So the last run of a table says which history is the origin's.
package struct RunTable: Hashable, Sendable {
    /// By rising first sequence. The last one is open: the origin may have more of it.
    package private(set) var runs: [StreamRun]
    /// The epochs of runs that were in the table, and are of no history of the origin's any more.
    package private(set) var undone: Set<UInt64>

    package init(_ runs: [StreamRun] = [], undone: Set<UInt64> = []) { (self.runs, self.undone) = (runs, undone) }

    package var isEmpty: Bool { runs.isEmpty }
    /// Whether a run is, or was, of the origin's history.
    func knows(_ epoch: UInt64) -> Bool { undone.contains(epoch) || runs.contains { $0.epoch == epoch } }
    /// The run whose events come next behind a position.
    package func present(at position: UInt64) -> StreamRun? { runs.last { $0.first - 1 <= position } }
    /// The sequences that are of a run in this history; nil: none are, or the run is not in it.
    package func events(of epoch: UInt64) -> ClosedRange<UInt64>? { Self.events(of: epoch, in: runs) }
    private static func events(of epoch: UInt64, in runs: [StreamRun]) -> ClosedRange<UInt64>? {
        guard let index = runs.lastIndex(where: { $0.epoch == epoch }) else { return nil }
        let end = index + 1 < runs.count ? runs[index + 1].first - 1 : MirrorHeader.lastSequence
        return runs[index].first <= end ? runs[index].first...end : nil
    }

    /// Up to where a history with these runs is the same as one that has come to a position.
    ///
    /// - Parameters:
    ///   - epoch: the run that the position was reached in.
    ///   - ancestry: the runs that led there, that run among them; or nothing, where they are not known.
    package static func common(
        _ epoch: UInt64, _ position: UInt64, ancestry: [StreamRun], with runs: [StreamRun]
    ) -> UInt64 {
        let question = RunQuestion(epoch: epoch, after: position, ancestry: ancestry)
        let common = question.common { epoch -> LoggedRun? in
            runs.lastIndex { $0.epoch == epoch }.map { index in
                LoggedRun(
                    first: runs[index].first, end: index + 1 < runs.count ? runs[index + 1].first - 1 : nil)
            }
        }
        // The last run has no end that anybody knows.
        return common?.from(head: .max) ?? 0
    }

    /// Takes in the runs of a snapshot. Returns up to where a replica that has come to a position stays as it is; nil:
    /// the snapshot says nothing new.
    package mutating func learn(_ other: [StreamRun], at position: UInt64) -> UInt64? {
        guard let newest = other.last?.epoch else { return nil }
        // An origin never goes back to a run: what ends in one that is known is older than what is known.
        if knows(newest) { return nil }
        let common =
            present(at: position).map { Self.common($0.epoch, position, ancestry: runs, with: other) } ?? position
        undone.formUnion(runs.map(\.epoch))
        undone.subtract(other.map(\.epoch))
        runs = other
        return common
    }
}
