import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("Questions that wait for polkit", .tags(.g4)) struct PolkitQueueTests {
    private static func question(_ id: UInt64, _ user: UInt32?, _ peer: String = ":1.1") -> PolkitQueue.Question {
        PolkitQueue.Question(id: id, peer: peer, user: user) {}
    }
    private func take(_ queue: inout PolkitQueue) -> [PolkitQueue.Question] {
        var taken: [PolkitQueue.Question] = []
        while let next = queue.next() { taken.append(next) }
        return taken
    }

    @Test("G4: one user gets its share, and the next ones get theirs") func shares() {
        var queue = PolkitQueue()
        for id in 1...200 as ClosedRange<UInt64> { queue.add(Self.question(id, 1)) }
        let first = take(&queue)
        #expect(first.map(\.id) == Array(1...UInt64(PolkitQueue.share)) && PolkitQueue.share == 38)
        for id in 201...300 as ClosedRange<UInt64> { queue.add(Self.question(id, nil)) }
        queue.add(Self.question(301, 2))
        let others = take(&queue)
        #expect(others.count { $0.user == nil } > 5 && others.contains { $0.user == 2 })
        #expect(queue.openCount < PolkitQueue.together)
    }
    @Test("users have their turns, and what ended makes room") func turns() {
        var queue = PolkitQueue()
        for id in 1...100 as ClosedRange<UInt64> { queue.add(Self.question(id, 1)) }
        for id in 101...103 as ClosedRange<UInt64> { queue.add(Self.question(id, 2)) }
        var order: [UInt64] = []
        for _ in 1...6 { if let next = queue.next() { order.append(next.id) } }
        #expect(order == [1, 101, 2, 102, 3, 103])
        let more = take(&queue).count
        let none = queue.next()?.id
        #expect(none == nil)
        for _ in 1...(3 + more) { queue.end(1) }
        for _ in 1...3 { queue.end(2) }
        queue.end(7)
        #expect(queue.openCount == 0 && queue.waitingCount == 100 - 3 - more)
        let rest = take(&queue).count
        #expect(rest == PolkitQueue.share)
    }
    @Test("what waits for a call that is gone is not asked") func removal() {
        var queue = PolkitQueue()
        for id in 1...10 as ClosedRange<UInt64> {
            queue.add(Self.question(id, 1, id.isMultiple(of: 2) ? ":1.2" : ":1.1"))
        }
        queue.add(Self.question(11, 2, ":1.2"))
        queue.remove { $0.peer == ":1.2" }
        let taken = take(&queue).map(\.id)
        #expect(taken == [1, 3, 5, 7, 9] && queue.waitingCount == 0)
    }
}
