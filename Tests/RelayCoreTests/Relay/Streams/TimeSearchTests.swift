import Testing

@testable import RelayCore

@Suite("The search for a time in the journal") struct TimeSearchTests {
    /// A journal of (sequence, time), and what it takes to find a place in it.
    private func place(
        _ events: [(sequence: UInt64, time: UInt64)], since time: UInt64, oldest: UInt64 = 1, head: UInt64,
        pageEnds: UInt64 = .max
    ) throws -> (place: UInt64, requests: Int)? {
        var search = TimeSearch(Timestamp(microseconds: time))
        for requests in 1...200 {
            let after = search.after
            // The journal may end a page early, having looked at so many sequences.
            let (limit, isOver) = after.addingReportingOverflow(pageEnds)
            let found = events.first {
                $0.sequence > after && $0.sequence >= oldest && (isOver || $0.sequence <= limit)
            }
            let through = found?.sequence ?? (isOver ? head : min(limit, head))
            let answer = try search.take(
                event: found.map { ($0.sequence, Timestamp(microseconds: $0.time)) }, oldest: oldest,
                through: through, head: head)
            if let answer { return (answer, requests) }
        }
        return nil
    }
    @Test("the place before the first event at or after the time, for every time and every kind of hole")
    func exhaustive() throws {
        for mask in 0..<64 {
            // Six sequences, of which some are of other names; times rise by 10.
            let events = (1...6).filter { mask & 1 << ($0 - 1) != 0 }.map { (UInt64($0), UInt64($0 * 10)) }
            for oldest in 1...7 {
                for time in stride(from: UInt64(0), through: 70, by: 5) {
                    for pageEnds in [UInt64(1), 2, .max] {
                        let left = events.filter { $0.0 >= oldest }
                        guard
                            let found = try place(
                                left, since: time, oldest: UInt64(oldest), head: 6, pageEnds: pageEnds)
                        else {
                            Issue.record("no end: \(events) since \(time)")
                            continue
                        }
                        // What follows the place is what was asked for.
                        #expect(
                            left.filter { $0.0 > found.place }.map(\.0) == left.filter { $0.1 >= time }.map(\.0),
                            "\(left) since \(time), oldest \(oldest), pages of \(pageEnds): \(found.place)")
                    }
                }
            }
        }
    }
    @Test("a million events take some twenty requests; an empty journal takes one") func cost() throws {
        let events = (1...1_000_000).map { (UInt64($0), UInt64($0)) }
        var search = TimeSearch(Timestamp(microseconds: 777_777))
        var requests = 0
        var found: UInt64?
        while found == nil, requests < 100 {
            requests += 1
            let next = events[Int(search.after)]
            found = try search.take(
                event: (next.0, Timestamp(microseconds: next.1)), oldest: 1, through: next.0, head: 1_000_000)
        }
        #expect(found == 777_776 && requests <= 22)
        #expect(try #require(try place([], since: 5, head: 0)) == (0, 1))
    }
    @Test("a clock that was set back ends the search all the same") func clock() throws {
        for time in UInt64(0)...60 {
            let times: [UInt64] = [30, 40, 50, 10, 20, 30, 60]
            let events = times.enumerated().map { (UInt64($0 + 1), $1) }
            let found = try #require(try place(events, since: time, head: 7))
            let isPassed = found.place == 0 || times[Int(found.place) - 1] < time
            #expect(isPassed && (found.place == 7 || times[Int(found.place)] >= time))
        }
    }
    @Test(
        "answers that lead nowhere are an error, not a search without an end",
        arguments: [
            // The same event again, whatever was asked for; nothing, a sequence further each time; and the other way.
            { _ in ((1, Timestamp(microseconds: 0)), 1) }, { (nil, $0 + 1) }, { _ in (nil, 0) },
        ] as [@Sendable (UInt64) -> (event: (sequence: UInt64, publishedAt: Timestamp)?, through: UInt64)])
    func endless(answer: @Sendable (UInt64) -> (event: (sequence: UInt64, publishedAt: Timestamp)?, through: UInt64)) {
        var search = TimeSearch(Timestamp(microseconds: 7))
        let error = #expect(throws: RelayError.self) {
            for _ in 0..<100_000 {
                let (event, through) = answer(search.after)
                if try search.take(event: event, oldest: 1, through: through, head: 1 << 62) != nil {
                    throw RelayError(.schemaMismatch, "found")
                }
            }
        }
        #expect(error?.code == .schemaMismatch)
    }
}
