/// Joins a state with the stream behind it, as a value: which events apply on top of a snapshot, and when a new one is
/// needed.
///
/// Each state is a snapshot and exactly the events after its sequence, in their order. It rests on two facts. A
/// snapshot is requested after the item of the stream that made it necessary was processed, so it belongs to that
/// item's run or to a later one. And the stream shows each event once, or a gap in its place.
package struct SnapshotJoin: Hashable, Sendable {
    /// What is to be done with an item of the stream.
    package enum Step: Hashable, Sendable {
        /// It applies to the state.
        case apply
        /// The state includes it, or it is of a run that the state knows nothing of any more.
        case skip
        /// A new snapshot is needed. Then the same item is to be shown again.
        case ask
    }
    /// A run, and the last of its events that the state includes.
    package struct Position: Hashable, Sendable {
        package let epoch: UInt64
        package let sequence: UInt64
    }
    /// The state includes everything up to here; nil: a snapshot is needed.
    private(set) package var position: Position?
    /// The run of the last item that was processed.
    private var lastEpoch: UInt64?
    /// The gap for which a snapshot was asked.
    private var askedFor: Gap?
    /// Whether each event is a whole state, as a document's are: the first one of a later run applies, too.
    private let eventsAreStates: Bool

    package init(eventsAreStates: Bool = false) { self.eventsAreStates = eventsAreStates }

    /// Whether the next step is a snapshot.
    package var needsSnapshot: Bool { position == nil }

    /// A snapshot has come: the state, and the last event that it includes.
    package mutating func snapshot(epoch: UInt64, sequence: UInt64) {
        position = Position(epoch: epoch, sequence: sequence)
    }
    package mutating func event(_ stamp: Stamp) -> Step {
        let isReached = lastEpoch == position?.epoch
        switch place(stamp.epoch) {
        case .unknown:
            // Once the stream is in the state's run, another one is a later one.
            guard eventsAreStates, isReached, position != nil else { return ask() }
            position = Position(epoch: stamp.epoch, sequence: stamp.sequence)
            return .apply
        case .earlierRun: return .skip
        case .ofState(let sequence):
            askedFor = nil
            if stamp.sequence <= sequence { return .skip }
            position = Position(epoch: stamp.epoch, sequence: stamp.sequence)
            return .apply
        }
    }
    package mutating func gap(_ gap: Gap) -> Step {
        let place = place(gap.epoch)
        // Whichever run the state is of: it may be undone. Unless it was asked for behind this gap.
        if gap.reason == .historyReplaced { return position != nil && askedFor == gap ? .skip : ask(for: gap) }
        switch place {
        case .unknown: return ask(for: gap)
        case .earlierRun: return .skip
        case .ofState(let sequence):
            // One without an end cannot be covered: a snapshot that was asked for behind it is all there is to know.
            let isCovered = gap.sequences.upperBound == .max ? askedFor == gap : gap.sequences.upperBound <= sequence
            return isCovered ? .skip : ask(for: gap)
        }
    }

    private enum Run {
        case ofState(UInt64)
        case earlierRun, unknown
    }
    private mutating func place(_ epoch: UInt64) -> Run {
        defer { lastEpoch = epoch }
        guard let position else { return .unknown }
        if epoch == position.epoch { return .ofState(position.sequence) }
        // Looked at before the snapshot was asked for, and not of its run: of one before it.
        return epoch == lastEpoch ? .earlierRun : .unknown
    }
    private mutating func ask(for gap: Gap? = nil) -> Step {
        (position, askedFor) = (nil, gap)
        return .ask
    }
}
