import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("Questions that wait for polkit", .tags(.g4)) struct PolkitQueueTests {
    /// Of a user's one peer, unless another one is named.
    private static func question(_ id: UInt64, _ user: UInt32?, _ peer: String? = nil) -> PolkitQueue.Question {
        PolkitQueue.Question(id: id, peer: peer ?? user.map { ":\($0).1" } ?? ":0.1", user: user) {}
    }
    private let ledger: PeerLedger = {
        let ledger = PeerLedger()
        for user in 1...2 as ClosedRange<UInt32> {
            ledger.arrive(":\(user).1")
            ledger.identify(":\(user).1", user: user)
        }
        return ledger
    }()
    private static let bounds = PeerResource.polkitQuestions.bounds
    private func take(_ queue: inout PolkitQueue) -> [PolkitQueue.Question] {
        var taken: [PolkitQueue.Question] = []
        while let next = queue.next(ledger) { taken.append(next) }
        return taken
    }

    @Test("G4: one user gets its share, and the next ones get theirs") func shares() {
        var queue = PolkitQueue()
        for id in 1...200 as ClosedRange<UInt64> { queue.add(Self.question(id, 1)) }
        let first = take(&queue)
        #expect(first.map(\.id) == Array(1...UInt64(Self.bounds.share)) && Self.bounds.share == 37)
        for id in 201...300 as ClosedRange<UInt64> { queue.add(Self.question(id, nil)) }
        queue.add(Self.question(301, 2))
        let others = take(&queue)
        #expect(others.count { $0.user == nil } > 5 && others.contains { $0.user == 2 })
        #expect(queue.openCount < Self.bounds.total)
    }
    @Test("users have their turns, and what ended makes room") func turns() {
        var queue = PolkitQueue()
        for id in 1...100 as ClosedRange<UInt64> { queue.add(Self.question(id, 1)) }
        for id in 101...103 as ClosedRange<UInt64> { queue.add(Self.question(id, 2)) }
        var order: [UInt64] = []
        for _ in 1...6 { if let next = queue.next(ledger) { order.append(next.id) } }
        #expect(order == [1, 101, 2, 102, 3, 103])
        let more = take(&queue).count
        let none = queue.next(ledger)?.id
        #expect(none == nil)
        for id in 1...(3 + UInt64(more)) { queue.end(id) }
        for id in 101...103 as ClosedRange<UInt64> { queue.end(id) }
        queue.end(700)
        #expect(queue.openCount == 0 && queue.waitingCount == 100 - 3 - more)
        let rest = take(&queue).count
        #expect(rest == Self.bounds.share)
    }
    @Test("what waits for a call that is gone is not asked") func removal() {
        var queue = PolkitQueue()
        for id in 1...10 as ClosedRange<UInt64> {
            queue.add(Self.question(id, 1, id.isMultiple(of: 2) ? ":1.2" : nil))
        }
        queue.add(Self.question(11, 2, ":1.2"))
        queue.remove { $0.peer == ":1.2" }
        let taken = take(&queue).map(\.id)
        #expect(taken == [1, 3, 5, 7, 9] && queue.waitingCount == 0)
    }
}
