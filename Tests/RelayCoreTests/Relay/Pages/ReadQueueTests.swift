import TestTraits
import Testing

@testable import RelayCore

@Suite("The queue of Read requests", .tags(.g3)) struct ReadQueueTests {
    @Test("one request at a time, round robin") func turns() {
        var queue = ReadQueue<String>()
        for name in ["a", "b", "a"] { queue.ask(name) }
        #expect(queue.next() == "a" && queue.next() == nil)
        // It wants another page, and waits behind the other.
        queue.answered()
        queue.ask("a")
        #expect(queue.next() == "b" && queue.isBusy)
        queue.answered()
        #expect(queue.next() == "a")
        queue.answered()
        #expect(queue.next() == nil && !queue.isBusy)
    }
    @Test("who has no room keeps its turn, and others go first") func room() {
        var queue = ReadQueue<String>()
        for name in ["a", "b"] { queue.ask(name) }
        #expect(queue.next { $0 != "a" } == "b")
        queue.answered()
        #expect(queue.next { $0 != "a" } == nil)
        queue.withdraw("a")
        #expect(queue.next() == nil)
    }
    @Test("nobody waits for another owner yet") func owner() {
        var queue = ReadQueue<String>()
        queue.ask("a")
        #expect(queue.next() == "a")
        queue.ask("b")
        let generation = queue.generation
        queue.forgetOwner()
        #expect(queue.generation != generation && !queue.isBusy && queue.next() == nil)
    }
}
