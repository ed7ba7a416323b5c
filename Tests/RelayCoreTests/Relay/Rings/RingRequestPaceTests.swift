import TestTraits
import Testing

@testable import RelayCore

@Suite("The pace of a relay's OpenRing", .tags(.g6)) struct RingRequestPaceTests {
    private func take(_ pace: inout RingRequestPace<Int>, where isWanted: (Int) -> Bool = { _ in true }) -> [Int] {
        var taken: [Int] = []
        while let next = pace.next(where: isWanted) { taken.append(next) }
        return taken
    }
    @Test("half of what a service keeps waiting are open at a time, in their order") func order() {
        var pace = RingRequestPace<Int>()
        for number in 0..<20 { pace.add(number) }
        #expect(RingRequestPace<Int>.most * 2 == PeerResource.ringCalls.bounds.peer)
        #expect(take(&pace) == Array(0..<8))
        let counts = pace.answered(inRound: 0)
        #expect(counts)
        #expect(take(&pace) == [8])
    }
    @Test("what is not wanted any more has no turn") func unwanted() {
        var pace = RingRequestPace<Int>()
        for number in 0..<20 { pace.add(number) }
        #expect(take(&pace) { $0 % 2 == 1 } == [1, 3, 5, 7, 9, 11, 13, 15])
    }
    @Test("with its owner go what waits and what is owed") func owners() {
        var pace = RingRequestPace<Int>()
        for number in 0..<20 { pace.add(number) }
        _ = take(&pace)
        pace.forget()
        #expect(take(&pace).isEmpty)
        for number in 20..<40 { pace.add(number) }
        #expect(take(&pace) == Array(20..<28))
        let counts = pace.answered(inRound: 0)
        #expect(!counts)
        #expect(take(&pace).isEmpty)
    }
}
