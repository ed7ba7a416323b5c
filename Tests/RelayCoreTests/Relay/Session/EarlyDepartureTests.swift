import TestTraits
import Testing

@testable import RelayCore

@Suite("A service that goes away each time", .tags(.g6)) struct EarlyDepartureTests {
    @Test("a service that leaves just after it was found is started again, at most three times in a row")
    func bounded() {
        var departures = EarlyDepartures()
        let answers = (1...6).map { _ in departures.startsAgain(wasNew: true) }
        #expect(answers == [true, true, true, false, false, false])
        // One that stayed for a while could run: the next early departure may be an idle exit again.
        let (late, early) = (departures.startsAgain(wasNew: false), departures.startsAgain(wasNew: true))
        #expect(!late && early)
    }
}
