import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

@Suite("Reading ahead", .heavy, .tags(.g2)) struct ReadAheadTests {
    private func request(after: UInt64, limit: Int = 1_000, names: Set<String>? = nil) -> LogRequest {
        LogRequest(interface: "a", names: names, after: after, limit: limit, byteLimit: 100)
    }
    private func page(_ sequences: ClosedRange<UInt64>, head: UInt64) -> LogPage {
        LogPage(
            epoch: 1, events: sequences.map { LogPage.Event(name: "E", schema: 0, sequence: $0, body: []) },
            oldest: 1, through: sequences.upperBound, head: head)
    }

    @Test("the page behind a full one is next; behind the last one, and where a part was asked for, there is none")
    func next() {
        let full = page(1...3, head: 9)
        #expect(ReadAhead.next(after: full, of: request(after: 0)) == request(after: 3))
        #expect(
            ReadAhead.next(after: full, of: request(after: 0, names: ["E"])) == request(after: 3, names: ["E"]))
        #expect(ReadAhead.next(after: full, of: request(after: 0, limit: 3)) == nil)
        #expect(ReadAhead.next(after: page(1...3, head: 3), of: request(after: 0)) == nil)
        let empty = LogPage(epoch: 1, events: [], oldest: 1, through: 3, head: 9)
        #expect(ReadAhead.next(after: empty, of: request(after: 0)) == nil)
    }
    @Test("a page is given once, for its request alone, while it is fresh") func once() {
        var ahead = ReadAhead(limit: 2)
        let wanted = request(after: 3)
        let isBegun = ahead.begin(wanted) && !ahead.begin(wanted) && ahead.isBeingRead(wanted)
        #expect(isBegun)
        #expect(ahead.take(wanted, at: 0) == nil)
        ahead.end(wanted, page(4...6, head: 9), at: 5)
        #expect(!ahead.isBeingRead(wanted) && !ahead.begin(wanted))
        #expect(ahead.take(request(after: 3, names: ["E"]), at: 5) == nil)
        #expect(ahead.take(wanted, at: 5 + ReadAhead.freshness)?.through == 6)
        #expect(ahead.take(wanted, at: 5) == nil && ahead.begin(wanted))
        ahead.end(wanted, page(4...6, head: 9), at: 5)
        #expect(ahead.take(wanted, at: 6 + ReadAhead.freshness) == nil)
    }
    @Test("one that could not be read, or was read of other interfaces, is not given; no more are kept than the limit")
    func dropped() {
        var ahead = ReadAhead(limit: 2)
        let requests = (1...3).map { request(after: $0) }
        let isBegun = ahead.begin(requests[0])
        #expect(isBegun)
        ahead.end(requests[0], nil, at: 0)
        #expect(ahead.take(requests[0], at: 0) == nil && ahead.begin(requests[0]))
        ahead.removeAll()
        ahead.end(requests[0], page(4...6, head: 9), at: 0)
        #expect(ahead.take(requests[0], at: 0) == nil)
        for request in requests {
            let isBegun = ahead.begin(request)
            #expect(isBegun)
            ahead.end(request, page(4...6, head: 9), at: 0)
        }
        #expect(requests.map { ahead.take($0, at: 0) != nil } == [false, true, true])
    }
    @Test("G2: pages that were read ahead have every event once, whatever is committed meanwhile")
    func whole() async throws {
        let ledger = try Ledger(TestFolder())
        try await ledger.storage.commit((0..<20_000).map { LedgerEncoder.booked($0) })
        var sequences: [UInt64] = []
        while sequences.count < 21_000 {
            let page = try await ledger.page(after: sequences.last ?? 0)
            sequences += page.events.map(\.sequence)
            if page.through == page.head { break }
            try await ledger.storage.commit((0..<100).map { LedgerEncoder.booked($0) })
            // Again, as a reader may that has lost the answer.
            let again = try await ledger.page(after: page.through)
            #expect(again.events.first?.sequence == page.through + 1)
        }
        #expect(sequences.count > 20_000 && sequences == Array(1...UInt64(sequences.count)))
    }
}
