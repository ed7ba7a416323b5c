import TestTraits
import Testing

@testable import RelayCore

@Suite("Calls of OpenRing that wait for their turn", .tags(.g3)) struct OpenRingQueueTests {
    /// What answers hold that were not read.
    private final class Unread {
        var charges: [PeerLedger.Charge] = []
    }
    private let unread = Unread()
    private typealias Queue = OpenRingQueue<Int>
    private static let patience: UInt64 = 2_000_000_000
    private static let answers = PeerResource.ringReplies.bounds
    private static let calls = PeerResource.ringCalls.bounds

    private func take(_ queue: inout Queue) -> [Int] {
        var taken: [Int] = []
        while let turn = queue.next() {
            taken.append(turn.request)
            unread.charges.append(turn.charge)
        }
        return taken
    }
    /// What was sent to a peer was read, or the peer has left.
    private func read(_ peer: String, _ queue: inout Queue) {
        unread.charges.removeAll { $0.peer == peer }
        queue.retry(peer)
    }
    private func depart(_ peer: String, _ queue: inout Queue) {
        unread.charges.removeAll { $0.peer == peer }
        queue.depart(peer)
    }
    /// Odd ones are one user's, even ones another's; each hundred is a peer.
    private func ask(_ queue: inout Queue, _ ledger: PeerLedger, _ request: Int, now: UInt64 = 0) -> Bool {
        ask(&queue, ledger, "\(request / 100)", UInt32(request % 2), request, now: now)
    }
    private func ask(
        _ queue: inout Queue, _ ledger: PeerLedger, _ peer: String, _ user: UInt32, _ request: Int, now: UInt64 = 0
    ) -> Bool {
        ledger.arrive(peer)
        ledger.identify(peer, user: user)
        return (try? queue.ask(peer, user: user, request, now: now)) != nil
    }

    @Test("one peer has one unread, one user two thirds, and there is room for whoever comes next") func bounds() {
        let ledger = PeerLedger()
        var queue = Queue(ledger, patience: .nanoseconds(Int64(Self.patience)))
        for request in [101, 103, 105] { #expect(ask(&queue, ledger, request)) }
        #expect(take(&queue) == [101])
        // Other peers of the user go on, up to the user's share.
        for peer in 2...22 { #expect(ask(&queue, ledger, peer * 100 + 1)) }
        let share = Self.answers.share
        #expect(share == 18 && take(&queue) == (2...share).map { $0 * 100 + 1 })
        // And another user, up to twice what is left then.
        for peer in 31...39 { #expect(ask(&queue, ledger, peer * 100)) }
        #expect(take(&queue) == (31...36).map { $0 * 100 })
        #expect(unread.charges.count == 24 && !queue.isIdle)
        // And a third one.
        #expect(ask(&queue, ledger, "third", 3, 9))
        #expect(take(&queue) == [9])
        // Who left has nothing unread, and waits for nothing.
        for peer in 31...36 { depart("\(peer)", &queue) }
        #expect(take(&queue) == [3_700, 3_800, 3_900])
        for peer in 1...12 { depart("\(peer)", &queue) }
        #expect(take(&queue) == [1_901, 2_001, 2_101, 2_201])
        #expect(queue.isIdle)
    }
    @Test("what a peer may no longer have is taken out of the queue; what it has unread goes on to count")
    func withdrawn() {
        let ledger = PeerLedger()
        var queue = Queue(ledger, patience: .nanoseconds(Int64(Self.patience)))
        for request in [101, 103, 105, 201] { #expect(ask(&queue, ledger, request)) }
        #expect(take(&queue) == [101, 201])
        let (taken, nobodys) = (queue.withdraw("1") { $0 == 103 }, queue.withdraw("3") { _ in true })
        #expect(taken == [103] && nobodys == [])
        #expect(unread.charges.count == 2 && !queue.isIdle)
        let rest = queue.withdraw("1") { _ in true }
        #expect(rest == [105] && queue.isIdle && unread.charges.count == 2)
        let expired = queue.expired(now: .max)
        #expect(expired == nil)
        #expect(ask(&queue, ledger, 107))
        #expect(take(&queue) == [], "its first answer is unread still")
        depart("1", &queue)
        #expect(queue.isIdle && unread.charges.count == 1)
        depart("2", &queue)
        for peer in ["1", "2"] { ledger.depart(peer) }
        #expect(ledger.isEmpty)
    }
    @Test("a flood of one user keeps neither another user nor another of its own peers out of the queue") func flood() {
        let ledger = PeerLedger()
        var queue = Queue(ledger, patience: .nanoseconds(Int64(Self.patience)))
        var refused = 0
        for peer in 1...200 {
            for call in 0..<Self.calls.peer where !ask(&queue, ledger, peer * 200 + 2 * call + 1) { refused += 1 }
        }
        #expect(refused == 200 * (Self.calls.peer - 1) - Self.calls.share)
        #expect(ask(&queue, ledger, 900_001), "a peer of the same user, with its first")
        for call in 0..<4 { #expect(ask(&queue, ledger, 900_100 + 2 * call), "another user's") }
        // It has its turn at once.
        #expect(take(&queue).prefix(4).contains(900_100))
        #expect(unread.charges.count < Self.answers.total)
        // Nobody has to wait in vain for ever: all that is left expires.
        var left = 0
        while queue.expired(now: Self.patience) != nil { left += 1 }
        #expect(left > 0 && queue.isIdle && queue.next() == nil)
        #expect(ledger.held(.ringCalls) == 0)
    }
    @Test("what was read makes room") func reading() {
        let ledger = PeerLedger()
        var queue = Queue(ledger, patience: .nanoseconds(Int64(Self.patience)))
        for request in 0..<6 { #expect(ask(&queue, ledger, "a", 1, request)) }
        for request in 0..<6 {
            #expect(take(&queue) == [request] && unread.charges.count == 1)
            #expect(take(&queue) == [])
            read("a", &queue)
        }
        #expect(queue.isIdle)
    }
    @Test("an answer that was not sent leaves the next call of its peer its turn") func unsent() {
        let ledger = PeerLedger()
        var queue = Queue(ledger, patience: .nanoseconds(Int64(Self.patience)))
        for request in 0..<3 { #expect(ask(&queue, ledger, "a", 1, request)) }
        for request in 0..<3 {
            let turn = queue.next()
            #expect(turn?.request == request)
        }
        #expect(queue.isIdle && ledger.held(.ringReplies) == 0)
    }
    @Test("the queue is bounded for a peer, a user and all, and nobody waits for ever") func queue() {
        let ledger = PeerLedger()
        var queue = Queue(ledger, patience: .nanoseconds(Int64(Self.patience)))
        for request in 0..<Self.calls.peer { #expect(ask(&queue, ledger, 100 + request * 2, now: UInt64(request))) }
        #expect(!ask(&queue, ledger, 198))
        // Each peer's first call is its own.
        for peer in 2...3_000 { #expect(ask(&queue, ledger, peer * 100, now: 100)) }
        var more = 0
        for peer in 2...3_000 where ask(&queue, ledger, peer * 100 + 2, now: 100) { more += 1 }
        #expect(more == Self.calls.share - Self.calls.peer + 1)
        #expect(queue.expired(now: Self.patience - 1) == nil)
        #expect(queue.expired(now: Self.patience) == 100)
        #expect(queue.expired(now: Self.patience) == nil)
        #expect(ask(&queue, ledger, 198, now: 100))
        #expect(!ask(&queue, ledger, 196, now: 100))
        #expect(ask(&queue, ledger, 99_999_901, now: 100), "another user's")
    }
    @Test("pages are bounded for a user and for all, and come back with who leaves") func pages() throws {
        let ledger = PeerLedger()
        var pages = WaitPages()
        func page(_ number: Int, _ user: Int) throws {
            ledger.arrive(":1.\(number)")
            ledger.identify(":1.\(number)", user: UInt32(user))
            _ = try pages.page(of: ":1.\(number)", ledger)
        }
        for user in 0..<4 { for number in 0..<64 { try page(user * 100 + number, user) } }
        #expect(pages.count == PeerResource.waitPages.bounds.total)
        // Who has one gets it again, also when there are no more.
        try page(63, 0)
        #expect(throws: RelayError.self) { try page(1_000, 9) }
        let left = [pages.depart(":1.300"), pages.depart(":1.300")]
        #expect(left[0] != nil && left[1] == nil)
        #expect(throws: RelayError.self) { try page(64, 0) }
        try page(1_000, 9)
        for user in 0..<4 { for number in 0..<64 { _ = pages.depart(":1.\(user * 100 + number)") } }
        for number in 0..<64 { try page(number, 0) }
        do throws(RelayError) {
            _ = try pages.page(of: ":1.64", ledger)
            Issue.record("a 65th page")
        } catch { #expect(error.code == .limitsExceeded) }
    }
}
