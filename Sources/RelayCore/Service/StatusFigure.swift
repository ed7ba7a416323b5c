import RelayInspection
import RelayWire

/// A number that `Status` shows to monitors: what it counts, of which part, and how much.
struct StatusFigure: Equatable {
    let name: String
    let labels: [(name: String, value: String)]
    let value: UInt64

    init(_ name: String, _ value: some BinaryInteger) { self.init(name, [:], value) }
    init(_ name: String, _ labels: KeyValuePairs<String, String>, _ value: some BinaryInteger) {
        (self.name, self.value) = (name, UInt64(clamping: value))
        self.labels = labels.map { ($0.key, $0.value) }
    }
    static func == (first: StatusFigure, second: StatusFigure) -> Bool {
        first.name == second.name && first.value == second.value && first.labels.elementsEqual(second.labels, by: ==)
    }

    static func value(of figures: [StatusFigure]) -> DBusValue {
        let labels = DBusType.dictionary(.string, .string)
        let values = figures.map { figure in
            DBusValue.structure([
                .string(figure.name),
                .dictionary(labels, figure.labels.map { .init(key: .string($0.name), value: .string($0.value)) }),
                .uint64(figure.value),
            ])
        }
        return .array(.structure([.string, labels, .uint64]), values)
    }

    /// Of one interface.
    static func figures(of stream: ServiceMetrics.Stream) -> [StatusFigure] {
        var figures = [
            StatusFigure("events", stream.events), StatusFigure("head", stream.head),
            StatusFigure("signals_paused", stream.areSignalsPaused ? 1 : 0),
            StatusFigure("signal_pauses", stream.signalPauses),
            StatusFigure("refused_calls", ["reason": "not_permitted"], stream.notPermitted),
            StatusFigure("refused_calls", ["reason": "limits_exceeded"], stream.limitsExceeded),
        ]
        if let oldest = stream.oldest { figures.append(StatusFigure("oldest", oldest)) }
        for transport in stream.transports {
            let name = transport.name
            figures += [
                StatusFigure("transport_events", ["transport": name, "outcome": "carried"], transport.carried),
                StatusFigure("transport_events", ["transport": name, "outcome": "held_back"], transport.heldBack),
                StatusFigure("transport_events", ["transport": name, "outcome": "too_large"], transport.tooLarge),
                StatusFigure("subscribers", ["transport": name], transport.subscribers),
            ]
            if let lag = transport.lag {
                figures.append(StatusFigure("subscriber_lag", ["transport": name], lag))
            }
        }
        if let ring = stream.ring {
            figures += [
                StatusFigure("rings", ["outcome": "opened"], ring.opened),
                StatusFigure("rings", ["outcome": "refused"], ring.refused),
                StatusFigure("rings", ["outcome": "returned"], ring.returned),
            ]
        }
        return figures
    }
}

/// Counts durations in steps of which each is about three times the one before.
struct DurationCounts: Hashable, Sendable {
    /// In microseconds.
    static let bounds: [UInt64] = [
        100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000,
    ]
    /// Of each step alone; the last is for all that is longer.
    private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    private(set) var microseconds: UInt64 = 0

    mutating func add(_ nanoseconds: UInt64) {
        let duration = nanoseconds / 1_000
        counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count] += 1
        microseconds &+= duration
    }
    /// How many took at most so many microseconds; nil as the bound: all.
    var cumulative: [(bound: UInt64?, count: UInt64)] {
        var sum: UInt64 = 0
        return counts.enumerated().map { index, count in
            sum += count
            return (index < Self.bounds.count ? Self.bounds[index] : nil, sum)
        }
    }
}
