/// What a watcher has shown, over all of its runs: one that was killed goes on in its next run.
struct WatcherAccount {
    enum Line: Equatable {
        case event(UInt64, text: String)
        case gap(ClosedRange<UInt64>)
        case unreadable(String)
        /// Nil for what is no event.
        var sequence: UInt64? { if case .event(let sequence, _) = self { sequence } else { nil } }
    }
    private(set) var runs: [[Line]] = []
    /// How far it is: the last sequence that was shown, or is part of a gap.
    private(set) var position: UInt64 = 0

    /// Runs that go on exactly where the one before stopped: that one ended in an orderly way, and noted down how far it was.
    private var exactRuns: Set<Int> = []

    mutating func beginRun(isExact: Bool = false) {
        if isExact { exactRuns.insert(runs.count) }
        runs.append([])
    }
    mutating func take(_ text: String) {
        let line = Self.line(text)
        switch line {
        case .event(let sequence, _): position = max(position, sequence)
        case .gap(let range): position = max(position, range.upperBound)
        case .unreadable: break
        }
        if runs.isEmpty { beginRun() }
        runs[runs.count - 1].append(line)
    }

    /// The text of each event, without what may differ from one watcher to the next: the stream on which it came.
    var texts: [UInt64: String] {
        var texts: [UInt64: String] = [:]
        for case .event(let sequence, let text) in runs.joined() { texts[sequence] = text }
        return texts
    }
    var gaps: [ClosedRange<UInt64>] {
        runs.joined().compactMap { if case .gap(let range) = $0 { range } else { nil } }
    }
    /// The first sequence that was shown.
    var first: UInt64? {
        for case .event(let sequence, _) in runs.joined() { return sequence }
        return nil
    }

    /// What is wrong with it as an account of `first...last`: nil if each sequence is there once in order, as an event or in a
    /// gap, when what a run shows again of the runs before it is left out.
    ///
    /// Within a run nothing may come twice. The last line of a run but the last may be cut: its writer was killed.
    func fault(from first: UInt64, through last: UInt64) -> String? {
        var next = first
        var start = first
        for (number, run) in runs.enumerated() {
            // At least once: a run that follows a kill may begin with what was shown already, but not above it, and not before
            // the start of the run before: what was noted down once stays noted down.
            var expected: UInt64?
            for (index, line) in run.enumerated() {
                let range: ClosedRange<UInt64>
                switch line {
                case .event(let sequence, _): range = sequence...sequence
                case .gap(let gap): range = gap
                case .unreadable(let text):
                    if index == run.count - 1, number < runs.count - 1 { continue }
                    return "run \(number + 1) shows what cannot be read: \(text)"
                }
                if let expected, range.lowerBound != expected {
                    return "run \(number + 1): #\(range.lowerBound) where #\(expected) should be"
                }
                if range.lowerBound > next {
                    return "run \(number + 1) begins with #\(range.lowerBound), but #\(next) was not shown yet"
                }
                if range.lowerBound < start {
                    return "run \(number + 1): #\(range.lowerBound), which is before #\(start)"
                }
                if expected == nil {
                    if exactRuns.contains(number) && range.lowerBound != next {
                        return "run \(number + 1) shows #\(range.lowerBound) again, after an orderly end at #\(next)"
                    }
                    start = range.lowerBound
                }
                let (following, isOver) = range.upperBound.addingReportingOverflow(1)
                if isOver { return "run \(number + 1): a gap without an end, from #\(range.lowerBound)" }
                expected = following
                next = max(next, following)
            }
        }
        return next == last + 1 ? nil : "it ends before #\(next), and not with #\(last)"
    }
    /// An event that was shown twice must have been shown alike.
    var contradiction: String? {
        var texts: [UInt64: String] = [:]
        for case .event(let sequence, let text) in runs.joined() {
            if let known = texts.updateValue(text, forKey: sequence), known != text {
                return "#\(sequence) was shown as \(known), and as \(text)"
            }
        }
        return nil
    }

    /// For a failure's message: each run's first and last lines.
    var summary: String {
        runs.enumerated().map { number, run in
            let ends = (run.count > 4 ? run.prefix(2) + run.suffix(2) : run[...]).map { line in
                switch line {
                case .event(let sequence, _): "#\(sequence)"
                case .gap(let range): "gap \(range)"
                case .unreadable(let text): text
                }
            }
            return "run \(number + 1): \(run.count) lines, \(ends.joined(separator: " "))"
        }.joined(separator: "\n")
    }

    // MARK: Lines

    static func line(_ text: String) -> Line {
        guard text.hasPrefix("{"), text.hasSuffix("}}") else { return .unreadable(text) }
        if let sequence = number(after: "\"sequence\":", in: text) {
            return .event(sequence, text: withoutStream(text))
        }
        if let first = number(after: "\"first\":", in: text) {
            let last = number(after: "\"last\":", in: text) ?? .max
            return first <= last ? .gap(first...last) : .unreadable(text)
        }
        return .unreadable(text)
    }
    private static func number(after key: String, in text: String) -> UInt64? {
        guard let place = text.firstRange(of: key) else { return nil }
        return UInt64(text[place.upperBound...].prefix { $0.isNumber })
    }
    private static func withoutStream(_ text: String) -> String {
        guard let place = text.firstRange(of: ",\"transport\":\""),
            let end = text[place.upperBound...].firstIndex(of: "\"")
        else { return text }
        return String(text[..<place.lowerBound] + text[text.index(after: end)...])
    }
}
