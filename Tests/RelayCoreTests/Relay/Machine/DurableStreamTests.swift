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
}
