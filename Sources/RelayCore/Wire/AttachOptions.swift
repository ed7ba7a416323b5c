/// The part of `Attach` that may grow: the request's `options`, and the answer's `details`. Both have the same keys.
///
/// A key that is unknown, or whose value has another type, counts as absent. Of equal keys the last one counts.
package struct AttachOptions: Hashable, Sendable {
    /// What the sender can do.
    package var features: Set<StreamFeature>
    /// The newest runs of the history that the sender knows, by rising first sequence. Request: those of the subscriber's position.
    /// Answer: those of the service, its own last. Empty: unknown.
    package var runs: [StreamRun]

    package init(features: Set<StreamFeature> = StreamFeature.all, runs: [StreamRun] = []) {
        (self.features, self.runs) = (features, runs)
    }

    private enum Key {
        static let features = "features"
        static let runs = "runs"
    }
    private static let runType = DBusType.structure([.uint64, .uint64])
    static let type = DBusType.dictionary(.string, .variant)

    var value: DBusValue {
        let features = features.map(\.rawValue).sorted().map { DBusValue.string($0) }
        var entries = [Self.entry(Key.features, .array(.string, features))]
        if !runs.isEmpty {
            let runs = runs.suffix(StreamRun.most).map { DBusValue.structure([.uint64($0.epoch), .uint64($0.first)]) }
            entries.append(Self.entry(Key.runs, .array(Self.runType, runs)))
        }
        return .dictionary(Self.type, entries)
    }
    private static func entry(_ key: String, _ value: DBusValue) -> DBusValue.Entry {
        DBusValue.Entry(key: .string(key), value: .variant(value))
    }
    init(_ value: DBusValue) {
        (features, runs) = ([], [])
        guard case .dictionary(_, let entries) = value else { return }
        for entry in entries {
            switch (entry.key, entry.value) {
            case (.string(Key.features), .variant(.array(.string, let values))):
                features = Set(
                    values.compactMap { value in
                        if case .string(let name) = value { StreamFeature(rawValue: name) } else { nil }
                    })
            case (.string(Key.runs), .variant(.array(Self.runType, let values))):
                runs = values.suffix(StreamRun.most).compactMap { value in
                    guard case .structure(let parts) = value, parts.count == 2, case .uint64(let epoch) = parts[0],
                        case .uint64(let first) = parts[1]
                    else { return nil }
                    return StreamRun(epoch: epoch, first: first)
                }
            default: break
            }
        }
    }
}
