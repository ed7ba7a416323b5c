import RelayWire

/// What `Attach` asks: the place that a subscriber knows, and the events that it wants.
package struct AttachRequest: Hashable, Sendable {
    /// 0: no run is known.
    package var epoch: UInt64
    package var after: UInt64
    /// `Stream1.allNames` stands for all; none: nothing more is wanted.
    package var names: [String]
    package var options: AttachOptions

    package init(epoch: UInt64 = 0, after: UInt64 = 0, names: [String], options: AttachOptions = AttachOptions()) {
        (self.epoch, self.after, self.names, self.options) = (epoch, after, names, options)
    }
}

/// The part of `Attach` that may grow: the request's `options`, and the answer's `details`. Both have the same keys.
///
/// A key that is unknown, or whose value has another type, counts as absent. Of equal keys the last one counts.
package struct AttachOptions: Hashable, Sendable {
    /// What the sender can do.
    package var features: Set<StreamFeature>
    /// A sample of the runs of the history that the sender knows, by rising first sequence (`StreamRun.sample`).
    /// Request: those of the subscriber's position. Answer: those of the service, its own last. Empty: unknown.
    package var runs: [StreamRun]
    /// Answer, durable: the journal's identity, which is the epoch of its first run. 0: unknown.
    package var journal: UInt64
    /// Answer: ranges above `from` that the journal never had, by rising sequence: some, the lowest first.
    package var gaps: [ClosedRange<UInt64>]
    /// Answer: the run is a mirror's, whose origin may have more of it. A subscriber that is ahead waits.
    package var isOpen: Bool

    package init(
        features: Set<StreamFeature> = StreamFeature.all, runs: [StreamRun] = [], journal: UInt64 = 0,
        gaps: [ClosedRange<UInt64>] = [], isOpen: Bool = false
    ) {
        (self.features, self.runs) = (features, runs)
        (self.journal, self.gaps, self.isOpen) = (journal, gaps, isOpen)
    }
    /// How many gaps an answer names.
    package static let mostGaps = 32

    private enum Key {
        static let features = "features"
        static let runs = "runs"
        static let journal = "journal"
        static let gaps = "gaps"
        static let open = "open"
    }
    /// Of runs and of gaps.
    private static let pairType = DBusType.structure([.uint64, .uint64])
    static let type = DBusType.dictionary(.string, .variant)

    var value: DBusValue {
        let features = features.map(\.rawValue).sorted().map { DBusValue.string($0) }
        var entries = [Self.entry(Key.features, .array(.string, features))]
        func add(_ key: String, _ pairs: [(UInt64, UInt64)]) {
            if pairs.isEmpty { return }
            let values = pairs.map { DBusValue.structure([.uint64($0.0), .uint64($0.1)]) }
            entries.append(Self.entry(key, .array(Self.pairType, values)))
        }
        add(Key.gaps, gaps.prefix(Self.mostGaps).map { ($0.lowerBound, $0.upperBound) })
        if journal != 0 { entries.append(Self.entry(Key.journal, .uint64(journal))) }
        if isOpen { entries.append(Self.entry(Key.open, .boolean(true))) }
        add(Key.runs, runs.suffix(StreamRun.most).map { ($0.epoch, $0.first) })
        return .dictionary(Self.type, entries)
    }
    private static func entry(_ key: String, _ value: DBusValue) -> DBusValue.Entry {
        DBusValue.Entry(key: .string(key), value: .variant(value))
    }
    init(_ value: DBusValue) {
        (features, runs, journal, gaps, isOpen) = ([], [], 0, [], false)
        guard case .dictionary(_, let entries) = value else { return }
        for entry in entries {
            switch (entry.key, entry.value) {
            case (.string(Key.features), .variant(.array(.string, let values))):
                features = Set(
                    values.compactMap { value in
                        if case .string(let name) = value { StreamFeature(rawValue: name) } else { nil }
                    })
            case (.string(Key.runs), .variant(.array(Self.pairType, let values))):
                runs = values.suffix(StreamRun.most).compactMap(Self.pair).map { StreamRun(epoch: $0, first: $1) }
            case (.string(Key.gaps), .variant(.array(Self.pairType, let values))):
                gaps = values.prefix(Self.mostGaps).compactMap(Self.pair).compactMap {
                    $0 > 0 && $0 <= $1 ? $0...$1 : nil
                }
            case (.string(Key.journal), .variant(.uint64(let epoch))): journal = epoch
            case (.string(Key.open), .variant(.boolean(let isOpen))): self.isOpen = isOpen
            default: break
            }
        }
    }
    private static func pair(_ value: DBusValue) -> (UInt64, UInt64)? {
        guard case .structure(let parts) = value, parts.count == 2, case .uint64(let first) = parts[0],
            case .uint64(let second) = parts[1]
        else { return nil }
        return (first, second)
    }
}

/// What `Attach` answers: where the interface's run stands. The bus brings it after every event up to `head`.
package struct Attachment: Hashable, Sendable {
    package var epoch: UInt64
    /// Up to here the subscriber's history and the service's are the same, for certain.
    package var from: UInt64
    /// The oldest sequence that can still be read of the names asked for. `UInt64.max`: nothing can, ever.
    package var oldest: UInt64
    /// The last sequence that was published.
    package var head: UInt64
    /// The last sequence of each name.
    package var last: [String: UInt64]
    package var details: AttachOptions

    package init(
        epoch: UInt64, from: UInt64, oldest: UInt64, head: UInt64, last: [String: UInt64],
        details: AttachOptions = AttachOptions()
    ) {
        (self.epoch, self.from, self.oldest, self.head, self.last) = (epoch, from, oldest, head, last)
        self.details = details
    }
    /// The last sequence before this run. A service that does not report its runs leaves it open: then nothing is left
    /// out.
    var base: UInt64 {
        guard let run = details.runs.last, run.epoch == epoch, run.first > 0 else { return min(from, head) }
        return min(run.first - 1, head)
    }
}

/// What an implementation of `Stream1` can do beyond what every one does. Each side names its own in `Attach`, and
/// ignores names that it does not know.
package enum StreamFeature: String, Hashable, Sendable, CaseIterable {
    /// A service: `from` takes the subscriber's `runs` into account, and the answer has the service's own. A
    /// subscriber: it sends the runs of its position.
    case runs
    /// A service: it has `OpenReplay` and `Replay`.
    case replays

    /// What this version can do.
    package static let all = Set(allCases)
}
