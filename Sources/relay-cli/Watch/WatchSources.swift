import RelayCore

/// An interface's events, taken from a place in its journal.
struct WatchSource: Sendable {
    let interface: String
    let events: any PulledEvents
}

/// What `watch` takes from journals: in turn, so that none waits for another, and acknowledged when it was written out.
struct WatchSources {
    /// A delivery whose line ends at this place of the output: after so many bytes, or lines.
    private struct Mark {
        let end: UInt64
        let source: Int
        let delivery: PulledDelivery
    }
    /// Taken of one source before the next has its turn.
    private static let batch = 64

    /// Whether each delivery is acknowledged by itself; else up to a batch at a time.
    private let marksEach: Bool
    private var sources: [WatchSource] = []
    private var turn = 0
    private var marks: ArraySlice<Mark> = []

    init(marksEach: Bool = false) { self.marksEach = marksEach }

    mutating func add(_ more: [WatchSource]) { sources += more }

    /// Hands on what there is, until `show` says to stop. Returns whether there may be more.
    ///
    /// - Parameter show: composes a delivery's line, and tells how many bytes of output, or lines, have been composed then.
    mutating func take(
        show: (WatchSource, PulledDelivery) -> (composed: UInt64, goesOn: Bool)
    ) -> Bool {
        var idle = 0
        while idle < sources.count {
            let (index, source) = (turn, sources[turn])
            turn = (turn + 1) % sources.count
            var mark: Mark?
            var (goesOn, isIdle) = (true, true)
            for _ in 0..<Self.batch where goesOn {
                guard let delivery = source.events.next() else { break }
                isIdle = false
                let shown = show(source, delivery)
                if Self.hasPlace(delivery) { mark = Mark(end: shown.composed, source: index, delivery: delivery) }
                if marksEach, let each = mark {
                    add(each)
                    mark = nil
                }
                goesOn = shown.goesOn
            }
            if let mark { marks.append(mark) }
            idle = isIdle ? idle + 1 : 0
            if !goesOn { return true }
        }
        return false
    }
    /// A delivery without a line replaces the one before it: of a source there is one for each place of the output.
    private mutating func add(_ mark: Mark) {
        var index = marks.endIndex
        while index > marks.startIndex, marks[index - 1].end == mark.end {
            index -= 1
            if marks[index].source == mark.source {
                marks.remove(at: index)
                break
            }
        }
        marks.append(mark)
    }
    /// Whether there is something to acknowledge. What comes behind an event and has no place must not stand for it.
    private static func hasPlace(_ delivery: PulledDelivery) -> Bool {
        switch delivery {
        case .event: true
        case .gap(let gap): gap.sequences.upperBound != .max
        case .caughtUp: false
        }
    }

    /// The output has taken so many bytes, or its reader has confirmed so many lines.
    mutating func written(_ place: UInt64) {
        while let mark = marks.first, mark.end <= place {
            marks.removeFirst()
            sources[mark.source].events.acknowledge(mark.delivery)
        }
    }
    /// The end: places are kept, names are free. Returns whether every place was kept.
    func cancel() -> Bool {
        for source in sources { source.events.cancel() }
        return !sources.contains { $0.events.hasUnwrittenPlace }
    }
}
