import TestTraits
import Testing

@testable import RelayCore

@Suite("Answers with descriptors", .tags(.g3)) struct RingHandoutsTests {
    /// Reads an answer when the test says so.
    private final class Reader {
        var hasRead = false
    }
    private typealias Handouts = RingHandouts<Int>
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

    @Test("one peer, one user, and all together have so many unread; the others wait in order") func bounds() {
        var handouts = Handouts()
        for request in [101, 103, 105] { #expect(ask(&handouts, request)) }
        #expect(take(&handouts) == [101])
        // Other peers of the user go on, up to the user's bound.
        for peer in 2...22 { #expect(ask(&handouts, peer * 100 + 1)) }
        #expect(take(&handouts) == (2...20).map { $0 * 100 + 1 })
        // And another user, up to what all may have.
        for peer in 31...39 { #expect(ask(&handouts, peer * 100)) }
        #expect(take(&handouts) == (31...38).map { $0 * 100 })
        #expect(handouts.unreadCount == Handouts.together && !handouts.isIdle)
        handouts.depart("1")
        #expect(take(&handouts) == [2_101], "who left has nothing unread, and waits for nothing")
        handouts.depart("31")
        #expect(take(&handouts) == [3_900])
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
    @Test("the queue is bounded, for a peer and for all, and nobody waits for ever") func queue() {
        var handouts = Handouts()
        for request in 0..<Handouts.waitingPerPeer { #expect(ask(&handouts, 100 + request, now: UInt64(request))) }
        #expect(!ask(&handouts, 199))
        for peer in 2... {
            if !ask(&handouts, peer * 100) {
                #expect(peer == Handouts.waiting - Handouts.waitingPerPeer + 2)
                break
            }
        }
        #expect(handouts.expired(now: Handouts.patience - 1) == nil)
        #expect(handouts.expired(now: Handouts.patience) == 100)
        #expect(ask(&handouts, 198))
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
