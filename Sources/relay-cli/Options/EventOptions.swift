import RelayCore
import RelayTool
/// What several verbs declare in the same way: which events, and from where to where in what a service keeps.
enum EventOptions {
    static let events = Operand(
        any: ValueKind<String>("EVENT") { text throws(Unfit) in
            if text.isEmpty { throw Unfit("is no event's name; 'list' shows them") }
            return text
        },
        "an event's name, or one with its interface; without any, all events")
    static let noWait = Option(
        switch: "no-wait", "end with exit code 69 if the service is not there, and cannot be started")
    static let since = Option<When?>(
        "since", .when(allowsStart: true), "begin with WHEN: 17, 2026-11-20T13:00:00, 13:00, 15m, start")
    static let until = Option<When?>(
        "until", .when(allowsStart: false), "end with WHEN: 17, 2026-11-20T13:00:00, 13:00, 15m")
    static let limit = Option<UInt64?>("limit", .events, "end after the first N events")

    /// What WHEN is.
    static let when: [Prose] = [
        "WHEN is one of:",
        .terms([
            "17": "a sequence, of one interface",
            "2026-11-20T13:00:00": "a local time; also with a blank, without seconds, or with decimals",
            "2026-11-20": "the beginning of that day",
            "13:00": "that time today",
            "2026-11-20T13:00:00+01:00": "a time with its zone (RFC 3339); Z is UTC",
            "@1795179600": "seconds since 1970",
            "90s, 15m, 2h, 3d": "that long ago",
            "start": "the oldest event that is kept (--since only)",
        ]),
        """
        --since and --until include the event, and the very time, that they name. Times are those of the service's
        clock: where it was set back, a range may begin or end at any event at which it passed the time.
        """,
    ]
}

extension ValueKind where Value == UInt64 {
    static let events = Self.count(of: "events", 1...UInt64.max)
}

extension Option where Value == When? {
    /// Where the option's value is, counted from a time.
    func point(in line: ParsedLine, at time: LocalTime) throws(UsageError) -> StreamPoint? {
        try line[self].map { when throws(UsageError) in try point(when, at: time) }
    }
    func point(_ when: When, at time: LocalTime) throws(UsageError) -> StreamPoint {
        do throws(Unfit) { return try when.point(at: time) } catch { throw refusal(of: when.text, error) }
    }
}

/// Which of the events that a service keeps are wanted.
struct JournalRange: Equatable, Sendable {
    /// Plain or qualified by an interface; empty: all events.
    var events: [String] = []
    var since = StreamPoint.oldest
    /// nil: what is the newest event when the verb begins.
    var until: StreamPoint?
    var limit: UInt64?
}

extension JournalRange {
    static let options: [any DeclaredOption] = [EventOptions.since, EventOptions.until, EventOptions.limit]

    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) {
        events = line[EventOptions.events]
        since = try EventOptions.since.point(in: line, at: time) ?? .oldest
        until = try EventOptions.until.point(in: line, at: time)
        limit = line[EventOptions.limit]
        let isBackwards =
            switch (since, until) {
            case (.sequence(let first), .sequence(let last)): first > last
            case (.time(let first), .time(let last)): first > last
            default: false
            }
        if isBackwards { throw UsageError("'--since' is after '--until': nothing lies between them") }
    }
}
