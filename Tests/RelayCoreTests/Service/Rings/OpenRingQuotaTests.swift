import TestTraits
import Testing

@testable import RelayCore

@Suite("Answers with descriptors", .tags(.g3)) struct OpenRingQuotaTests {
    /// Reads an answer when the test says so.
    private final class Reader {
        var hasRead = false
    }
    private typealias Handouts = OpenRingQuota<Int>
    private func take(_ handouts: inout Handouts) -> [Int] {
        var taken: [Int] = []
        while let request = handouts.next() {
            taken.append(request)
            // Odd ones are one user's, even ones another's; each hundred is a peer.
            handouts.sent(to: "\(request / 100)", user: UInt32(request % 2)) { false }
        }
        return taken
    }
    private func ask(_ handouts: inout Handouts, _ request: Int, now: UInt64 = 0) -> Bool {
        handouts.ask("\(request / 100)", user: UInt32(request % 2), request, now: now)
    }

    @Test("one peer has one unread, one user two thirds, and there is room for whoever comes next") func bounds() {
        var handouts = Handouts()
        for request in [101, 103, 105] { #expect(ask(&handouts, request)) }
        #expect(take(&handouts) == [101])
        // Other peers of the user go on, up to the user's share.
        for peer in 2...22 { #expect(ask(&handouts, peer * 100 + 1)) }
        let share = Handouts.share(of: Handouts.together)
        #expect(share == 19 && take(&handouts) == (2...share).map { $0 * 100 + 1 })
        // And another user, up to twice what is left then.
        for peer in 31...39 { #expect(ask(&handouts, peer * 100)) }
        #expect(take(&handouts) == (31...36).map { $0 * 100 })
        #expect(handouts.unreadCount == 25 && !handouts.isIdle)
        // And a third one.
        let isQueued = handouts.ask("third", user: 3, 9, now: 0)
        #expect(isQueued)
        #expect(handouts.next() == 9)
        handouts.sent(to: "third", user: 3) { false }
        // Who left has nothing unread, and waits for nothing.
        for peer in 31...36 { handouts.depart("\(peer)") }
        #expect(take(&handouts) == [3_700, 3_800, 3_900])
        for peer in 1...12 { handouts.depart("\(peer)") }
        #expect(take(&handouts) == [2_001, 2_101, 2_201])
        #expect(handouts.isIdle)
    }
    @Test("what a peer may no longer have is taken out of the queue; what it has unread goes on to count")
    func withdrawn() {
        var handouts = Handouts()
        for request in [101, 103, 105, 201] { #expect(ask(&handouts, request)) }
        #expect(take(&handouts) == [101, 201])
        let (taken, nobodys) = (handouts.withdraw("1") { $0 == 103 }, handouts.withdraw("3") { _ in true })
        #expect(taken == [103] && nobodys == [])
        #expect(handouts.unreadCount == 2 && !handouts.isIdle)
        let rest = handouts.withdraw("1") { _ in true }
        #expect(rest == [105] && handouts.isIdle && handouts.unreadCount == 2)
        let expired = handouts.expired(now: .max)
        #expect(expired == nil)
        #expect(ask(&handouts, 107))
        #expect(take(&handouts) == [], "its first answer is unread still")
        handouts.depart("1")
        #expect(handouts.isIdle && handouts.unreadCount == 1)
    }
    @Test("a flood of one user keeps neither another user nor another of its own peers out of the queue") func flood() {
        var handouts = Handouts()
        var refused = 0
        for peer in 1...200 {
            for call in 0..<Handouts.waitingPerPeer where !ask(&handouts, peer * 200 + 2 * call + 1) { refused += 1 }
        }
        #expect(refused == 200 * (Handouts.waitingPerPeer - 1) - Handouts.share(of: Handouts.waiting))
        #expect(ask(&handouts, 900_001), "a peer of the same user, with its first")
        for call in 0..<4 { #expect(ask(&handouts, 900_100 + 2 * call), "another user's") }
        // It has its turn at once.
        #expect(take(&handouts).prefix(4).contains(900_100))
        #expect(handouts.unreadCount < Handouts.together)
        // Nobody has to wait in vain for ever: all that is left expires.
        var left = 0
        while handouts.expired(now: Handouts.patience) != nil { left += 1 }
        #expect(left > 0 && handouts.isIdle && handouts.next() == nil)
    }
    @Test("what was read makes room") func reading() {
        var handouts = Handouts()
        for request in 0..<6 {
            let isQueued = handouts.ask("a", user: 1, request, now: 0)
            #expect(isQueued)
        }
        for request in 0..<6 {
            let reader = Reader()
            #expect(handouts.next() == request)
            handouts.sent(to: "a", user: 1) { reader.hasRead }
            #expect(handouts.next() == nil && handouts.unreadCount == 1)
            reader.hasRead = true
        }
        #expect(handouts.isIdle)
    }
    @Test("the queue is bounded for a peer, a user and all, and nobody waits for ever") func queue() {
        var handouts = Handouts()
        for request in 0..<Handouts.waitingPerPeer { #expect(ask(&handouts, 100 + request * 2, now: UInt64(request))) }
        #expect(!ask(&handouts, 198))
        // Each peer's first call is from the reserve, which has its bound, too.
        var peers = 1
        while ask(&handouts, (peers + 1) * 100, now: 100) { peers += 1 }
        let most = Handouts.share(of: Handouts.reserve) + Handouts.share(of: Handouts.waiting)
        #expect(peers == most - Handouts.waitingPerPeer + 1)
        #expect(handouts.expired(now: Handouts.patience - 1) == nil)
        #expect(handouts.expired(now: Handouts.patience) == 100)
        #expect(handouts.expired(now: Handouts.patience) == nil)
        #expect(ask(&handouts, 198, now: 100))
        #expect(!ask(&handouts, 196, now: 100))
        #expect(ask(&handouts, 99_999_901, now: 100), "another user's")
    }
    @Test("pages are bounded for a user and for all, and come back with who leaves") func pages() throws {
        var pages = WaitPages()
        func page(_ number: Int, _ user: Int) throws { _ = try pages.page(of: ":1.\(number)", user: UInt32(user)) }
        for user in 0..<4 { for number in 0..<64 { try page(user * 100 + number, user) } }
        #expect(pages.count == WaitPages.together)
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
            _ = try pages.page(of: ":1.64", user: 0)
            Issue.record("a 65th page")
        } catch { #expect(error.code == .limitsExceeded) }
    }
}
