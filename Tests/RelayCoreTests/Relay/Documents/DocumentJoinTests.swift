import TestTraits
import Testing

@testable import RelayCore

@Suite("The join of a document's state and its changes", .computing, .tags(.g1, .g2))
struct DocumentJoinTests {
    @Test(
        "every interleaving: each state shown is the service's, none is doubled or lost, and the last is the present one",
        arguments: [true, false])
    func explore(isDurable: Bool) throws {
        try DocumentWorld.explore(isDurable: isDurable, rounds: TestForm.rounds(6, soak: 8))
    }
    @Test("a state that is shown already is no news")
    func news() {
        var shown = ShownDocument<Board>()
        let (a, b) = (Board(title: "a", lines: []), Board(title: "b", lines: []))
        let news = [a, a, b, a].map { shown.shows($0) }
        #expect(news == [true, false, true, true])
    }
}
