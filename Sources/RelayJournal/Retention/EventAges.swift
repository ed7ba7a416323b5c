/// How old an interface's events are at least, by marks: "all up to this sequence were published before this moment".
///
/// A mark for a part of the retention's time is enough: an event goes a little after its age, never before. When an
/// event claims that it was published does not matter: see `RetentionClock`.
struct EventAges {
    struct Mark: Hashable {
        let sequence: UInt64
        var moment: RetentionClock.Mark
    }
    /// By rising sequence and time.
    private(set) var marks: [Mark]
    /// When the last event was committed, in the clock's `elapsed`.
    private(set) var last: UInt64
    private let age: UInt64?
    /// The `elapsed` at which some events reach their age, as far as is known now; nil: none will.
    private(set) var expiry: UInt64?

    /// An age is cut into so many parts.
    private static let parts: UInt64 = 128
    /// Without an age: of 30 days, for a contract that has one later.
    private var step: UInt64 { (age ?? 30 * 86_400_000_000) / Self.parts }

    init(_ marks: [Mark], age: UInt64?, last: UInt64) { (self.marks, self.age, self.last) = (marks, age, last) }

    /// The `elapsed` from which on the next events are to have a mark of their own.
    private var nextMark: UInt64 = 0
    private var owesMark = false

    /// Whether the events that are about to be committed are to have a mark.
    func wantsMark(at elapsed: UInt64) -> Bool { marks.isEmpty || owesMark || elapsed >= nextMark }
    /// The same, for events that are there.
    func wantsMark(_ clock: RetentionClock) -> Bool { marks.last.map { clock.age(of: $0.moment) > step } ?? true }
    /// Gives the next events a mark in any case: the last one is of a moment when they could have come, not of theirs.
    mutating func oweMark() { owesMark = true }
    /// - Parameter mark: that of these events, if they have one.
    mutating func committed(_ mark: Mark?, at elapsed: UInt64, head: UInt64) {
        if let mark {
            marks.append(mark)
            nextMark = Self.sum(elapsed, step)
            owesMark = false
        }
        last = max(last, elapsed)
        // It moves when the first event comes, and when `update` looks.
        if expiry == nil { expiry = age.map { Self.sum(last, $0) } }
    }
    /// The last sequence of those that have reached their age; nil when none has.
    func expired(_ clock: RetentionClock, head: UInt64) -> UInt64? {
        guard let age else { return nil }
        if (marks.last?.sequence ?? 0) < head, clock.elapsed - min(last, clock.elapsed) > age { return head }
        return marks.last { clock.age(of: $0.moment) > age }?.sequence
    }
    /// What is above a sequence was removed: the first mark there holds for those up to it, too.
    mutating func cut(to sequence: UInt64) {
        guard let first = marks.firstIndex(where: { $0.sequence > sequence }) else { return }
        let moment = marks[first].moment
        marks.removeSubrange(first...)
        if sequence > marks.last?.sequence ?? 0 { marks.append(Mark(sequence: sequence, moment: moment)) }
    }
    mutating func removed(upTo sequence: UInt64) { marks.removeAll { $0.sequence <= sequence } }

    /// Looks at all marks again: after a removal, and when the clock was read.
    mutating func update(_ clock: RetentionClock, head: UInt64, isEmpty: Bool) {
        expiry = nil
        // Days that the machine was off count here, too.
        if let last = marks.last { nextMark = Self.sum(clock.elapsed, step - min(step, clock.age(of: last.moment))) }
        guard let age, !isEmpty else { return }
        var ages = marks.lazy.map { clock.age(of: $0.moment) }.max()
        if (marks.last?.sequence ?? 0) < head { ages = max(ages ?? 0, clock.elapsed - min(last, clock.elapsed)) }
        expiry = ages.map { passed in
            // In the past, when it has been reached: then it is for how long.
            passed > age
                ? clock.elapsed - min(passed - age, clock.elapsed) : Self.sum(clock.elapsed, age - passed)
        }
    }
    /// Gives marks of this boot what is known of the time now. Returns those that changed.
    mutating func improve(_ clock: RetentionClock) -> [Mark] {
        var changed: [Mark] = []
        for index in marks.indices {
            guard let better = clock.better(marks[index].moment) else { continue }
            marks[index].moment = better
            changed.append(marks[index])
        }
        return changed
    }
    private static func sum(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let (sum, isOver) = a.addingReportingOverflow(b)
        return isOver ? .max : sum
    }
}
