import TestTraits
import Testing

@testable import RelayCore

@Suite("Calls that wait", .tags(.g3, .g4)) struct WaitingQuotaTests {
    /// How many of so many calls are admitted.
    private func fill(
        _ quota: inout WaitingQuota, _ peer: String, _ user: UInt32?, calls: Int = 100, bytes: Int = 0
    ) -> Int {
        (0..<calls).count { _ in quota.admit(peer, user: user, bytes: bytes) == nil }
    }

    @Test("G3: a peer has 64 calls or 4 MiB waiting") func peer() {
        var quota = WaitingQuota()
        let calls = fill(&quota, "a", 1)
        #expect(calls == 64)
        let large = fill(&quota, "b", 1, bytes: 1 << 20)
        #expect(large == 4)
        #expect(quota.all == WaitingQuota.Amount(calls: 68, bytes: 4 << 20))
    }
    @Test("G4: one user's 101 connections take that user's share, and leave all others theirs") func user() {
        var quota = WaitingQuota()
        let taken = (0..<101).reduce(0) { $0 + fill(&quota, "1.\($1)", 1) }
        // 100 full queues, and a reserve of two for each of the others.
        #expect(taken == 100 * 64 + 2)
        let other = fill(&quota, "2.0", 2)
        #expect(other == 64)
    }
    @Test("G4: when all have too much together, a peer of another user has its reserve") func together() {
        var quota = WaitingQuota()
        for user in 1...4 as ClosedRange<UInt32> {
            for peer in 0..<64 { #expect(fill(&quota, "\(user).\(peer)", user) == 64) }
        }
        let (calls, bytes) = (fill(&quota, "5.0", 5), fill(&quota, "5.1", 5, bytes: 9 << 10))
        #expect(calls == 2 && bytes == 1)
        quota.release("1.0", user: 1, bytes: 0)
        quota.release("1.0", user: 1, bytes: 0)
        quota.release("1.0", user: 1, bytes: 0)
        quota.release("1.0", user: 1, bytes: 0)
        let more = fill(&quota, "5.0", 5)
        #expect(more == 1)
    }
    @Test("G4: peers whose users are not known count as one user's") func unknown() {
        var quota = WaitingQuota()
        let taken = (0..<257).reduce(0) { $0 + fill(&quota, "\($1)", nil) }
        #expect(taken == 6_400 + 157 * 2)
        let other = fill(&quota, "2.0", 2)
        #expect(other == 64)
        for peer in 0..<257 {
            for _ in 0..<(peer < 100 ? 64 : 2) { quota.release("\(peer)", user: nil, bytes: 0) }
        }
        let again = fill(&quota, "0", nil)
        #expect(again == 64)
    }
    @Test("nothing is kept of what waits no longer") func release() {
        var quota = WaitingQuota()
        #expect(fill(&quota, "a", 1, calls: 3, bytes: 7) == 3)
        for _ in 1...3 { quota.release("a", user: 1, bytes: 7) }
        #expect(quota.all == WaitingQuota.Amount() && quota.peerCount == 0)
    }
}
