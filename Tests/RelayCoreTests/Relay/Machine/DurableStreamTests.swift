import TestTraits
import Testing

@testable import RelayCore

@Suite("The stream machine of a durable interface, in every interleaving", .computing, .tags(.g1, .g2))
struct DurableStreamTests {
    static let starts = DurableExploration.all

    @Test(
        "every interleaving is in order, whole or explained, and nothing is a gap that can be read", arguments: starts)
    func explore(_ exploration: DurableExploration) {
        let (faults, states) = exploration.run()
        #expect(faults == [])
        #expect(states > TestForm.rounds(50, soak: 400))
    }
    @Test("who is detached while it reads attaches again: its page does not show what comes behind that")
    func detached() {
        var world = DurableWorld(["A", "B", "A"], backedUp: 3, from: .oldest, isRestricted: true)
        let inputs: [DurableWorld.Input] = [
            .wantA, .start, .bring, .serve, .bring, .detach, .serve, .publishA, .head, .bring,
        ]
        for input in inputs {
            let isPossible = world.apply(input)
            #expect(isPossible, "\(input)")
        }
        // Its question is on its way again, though a page is, too.
        #expect(world.attaching != nil)
        world.beginFinish()
        world.finish()
        #expect(world.faults == [])
    }
}
