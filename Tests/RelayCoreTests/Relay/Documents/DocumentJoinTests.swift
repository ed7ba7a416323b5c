import TestTraits
import Testing

@testable import RelayCore

@Suite("The join of a document's state and its changes", .computing, .tags(.g1, .g2))
struct DocumentJoinTests {
    @Test(
        "every interleaving: each state shown is the service's, none is doubled or lost, and the last is the present one",
        arguments: [true, false])
    func explore(isDurable: Bool) throws {
        var seen: Set<DocumentWorld> = []
        var worlds = [DocumentWorld(isDurable: isDurable)]
        for _ in 0..<TestForm.rounds(6, soak: 8) {
            var next: [DocumentWorld] = []
            for world in worlds {
                for input in DocumentWorld.Input.allCases {
                    var world = world
                    guard world.apply(input), seen.insert(world).inserted else { continue }
                    try #require(world.fault == nil, "\(world)")
                    next.append(world)
                }
            }
            worlds = next
        }
        #expect(seen.count > 5_000)
        for var world in seen {
            var isAtRest = world.settle()
            try #require(isAtRest, "it never comes to rest: \(world)")
            // A run without an entry shows with its first one.
            _ = world.apply(.set)
            isAtRest = world.settle()
            try #require(isAtRest, "it never comes to rest: \(world)")
            try #require(world.fault == nil && world.isCurrent, "\(world)")
        }
    }
    @Test("a state that is shown already is no news")
    func news() {
        var shown = ShownDocument<Board>()
        let (a, b) = (Board(title: "a", lines: []), Board(title: "b", lines: []))
        let news = [a, a, b, a].map { shown.shows($0) }
        #expect(news == [true, false, true, true])
    }
}
