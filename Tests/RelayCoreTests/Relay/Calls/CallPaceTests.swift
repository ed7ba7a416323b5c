import TestTraits
import Testing

@testable import RelayCore

@Suite("Whether a caller waits for its answer") struct CallPaceTests {
    @Test("it waits at first, not when answers take long, and again when they come soon")
    func learns() {
        var pace = CallPace()
        #expect(pace.patience == CallPace.limit)
        pace.note(.max)
        #expect(pace.patience == nil || pace.patience == CallPace.limit)
        for _ in 1...20 { pace.note(10_000_000) }
        #expect(pace.patience == nil)
        for _ in 1...100 { pace.note(50_000) }
        #expect(pace.patience == CallPace.limit)
    }
    @Test("one answer in a hundred that takes long changes nothing for longer than a few calls") func outlier() {
        var pace = CallPace()
        for _ in 1...100 { pace.note(60_000) }
        pace.note(.max)
        var calls = 0
        while pace.patience == nil {
            pace.note(60_000)
            calls += 1
        }
        #expect(calls < 10)
    }
}
