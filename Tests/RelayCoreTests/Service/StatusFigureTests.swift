import Testing

import RelayInspection
@testable import RelayCore
import RelayWire

@Suite("What Status counts for monitors") struct StatusFigureTests {
    @Test("each number of an interface has a name, and every way on which events can be left out is among them")
    func interface() {
        let stream = ServiceMetrics.Stream(
            interface: "a.b", epoch: 9, events: 10, head: 30, oldest: 5, areSignalsPaused: true, signalPauses: 2,
            isRingOpen: true,
            ring: .init(opened: 3, refused: 4, returned: 1), notPermitted: 6, limitsExceeded: 7,
            transports: [
                .init(name: "signal", subscribers: 2, lag: nil, carried: 8, heldBack: 1, tooLarge: 1),
                .init(name: "ring", subscribers: 1, lag: 11, carried: 9, heldBack: 0, tooLarge: 2),
            ])
        #expect(
            StatusFigure.figures(of: stream) == [
                StatusFigure("events", 10), StatusFigure("head", 30), StatusFigure("signals_paused", 1),
                StatusFigure("signal_pauses", 2), StatusFigure("refused_calls", ["reason": "not_permitted"], 6),
                StatusFigure("refused_calls", ["reason": "limits_exceeded"], 7), StatusFigure("oldest", 5),
                StatusFigure("transport_events", ["transport": "signal", "outcome": "carried"], 8),
                StatusFigure("transport_events", ["transport": "signal", "outcome": "held_back"], 1),
                StatusFigure("transport_events", ["transport": "signal", "outcome": "too_large"], 1),
                StatusFigure("subscribers", ["transport": "signal"], 2),
                StatusFigure("transport_events", ["transport": "ring", "outcome": "carried"], 9),
                StatusFigure("transport_events", ["transport": "ring", "outcome": "held_back"], 0),
                StatusFigure("transport_events", ["transport": "ring", "outcome": "too_large"], 2),
                StatusFigure("subscribers", ["transport": "ring"], 1),
                StatusFigure("subscriber_lag", ["transport": "ring"], 11),
                StatusFigure("rings", ["outcome": "opened"], 3), StatusFigure("rings", ["outcome": "refused"], 4),
                StatusFigure("rings", ["outcome": "returned"], 1),
            ])
        #expect(StatusFigure.value(of: []).type.description == "a(sa{ss}t)")
    }
    @Test("durations are counted in the step that holds them, and add up")
    func durations() {
        var counts = DurationCounts()
        for microseconds: UInt64 in [0, 100, 101, 3_000, 9_999_999, 10_000_000, 10_000_001] {
            counts.add(microseconds * 1_000)
        }
        #expect(counts.cumulative.map(\.count) == [2, 3, 3, 4, 4, 4, 4, 4, 4, 4, 6, 7])
        #expect(counts.cumulative.last?.bound == nil && counts.cumulative.first?.bound == 100)
        #expect(counts.microseconds == 0 + 100 + 101 + 3_000 + 9_999_999 + 10_000_000 + 10_000_001)
        counts.add(.max)
        counts.add(.max)
        #expect(counts.cumulative.last?.count == 9)
    }
}
