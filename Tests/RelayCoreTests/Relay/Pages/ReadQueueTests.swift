import TestTraits
import Testing

@testable import RelayCore

@Suite("The queue of Read requests", .tags(.g3)) struct ReadQueueTests {
    @Test("one request at a time, round robin, each with the token of the last answer") func turns() {
        var queue = ReadQueue<String>()
        for name in ["a", "b", "a"] { queue.ask(name) }
        #expect(queue.token == 0 && queue.next() == "a" && queue.next() == nil)
        // It wants another page, and waits behind the other.
        queue.answered((7, 100))
        queue.ask("a")
        #expect(queue.token == 7 && queue.next() == "b")
        queue.answered(nil)
        #expect(queue.token == 7 && queue.next() == "a")
        queue.answered((8, 100))
        #expect(queue.next() == nil && queue.token == 8)
    }
    @Test("who has no room keeps its turn, and others go first") func room() {
        var queue = ReadQueue<String>()
        for name in ["a", "b"] { queue.ask(name) }
        #expect(queue.next { $0 != "a" } == "b")
        queue.answered((1, 1))
        #expect(queue.next { $0 != "a" } == nil)
        queue.withdraw("a")
        #expect(queue.next() == nil)
    }
    @Test("a large answer's token is given back even when nobody reads on, once") func proof() {
        var queue = ReadQueue<String>()
        func answer(_ token: UInt64, _ size: Int) -> Bool { queue.answered((token, size)) }
        func proves(_ token: UInt64) -> Bool { queue.proves(token) }
        func next() -> String? { queue.next() }
        queue.ask("a")
        #expect(next() == "a")
        #expect(answer(5, 200_000))
        #expect(!proves(4))
        #expect(proves(5))
        #expect(!proves(5) && queue.isBusy)
        #expect(!answer(6, 60))
        queue.ask("a")
        #expect(!proves(6))
        #expect(next() == "a")
        // Who reads on gives it back.
        #expect(answer(7, 200_000))
        queue.ask("a")
        #expect(next() == "a")
        #expect(!proves(7))
        queue.answered(nil)
        #expect(queue.token == 7)
        #expect(!proves(7))
    }
    @Test("another owner knows no token, and nobody waits for it yet") func owner() {
        var queue = ReadQueue<String>()
        queue.ask("a")
        #expect(queue.next() == "a")
        queue.ask("b")
        let generation = queue.generation
        queue.forgetOwner()
        #expect(queue.generation != generation && queue.token == 0 && !queue.isBusy && queue.next() == nil)
    }
}
