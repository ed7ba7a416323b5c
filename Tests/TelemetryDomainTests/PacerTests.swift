import Testing

@testable import TelemetryDomain

@Suite("When samples are due") struct PacerTests {
    static let second: UInt64 = 1_000_000_000

    @Test("samples keep their places, however long each one took", arguments: [0.1, 3, 7, 1_000, 9_999, 10_000])
    func places(_ rate: Double) {
        var pacer = Pacer(rate: rate, now: 5 * Self.second)
        for number in 0..<20_000 {
            let place = 5e9 + Double(number) / rate * 1e9
            #expect(abs(Double(pacer.deadline) - place) <= place * 1e-15 + 2)
            // Late by up to most of the time there is.
            let lateness = min(0.9e9 / rate, 90e6) * Double(number * 7_919 % 1_000) / 1_000
            pacer.took(1, now: pacer.deadline + UInt64(lateness))
        }
        let report = pacer.report(now: 1 << 62)
        #expect(report == nil)
    }
    @Test("what is a little late is made up for") func madeUp() {
        var pacer = Pacer(rate: 1_000, now: 0)
        for _ in 0..<50 { pacer.took(1, now: 99_000_000) }
        #expect(pacer.deadline == 50_000_000)
        let report = pacer.report(now: 2 * Self.second)
        #expect(report == nil)
    }
    @Test("what is later is left out and counted, and the next is due at once") func leftOut() throws {
        var pacer = Pacer(rate: 1_000, now: 0)
        pacer.took(1, now: 600_000)
        pacer.took(1, now: 502_000_000)
        #expect(pacer.deadline == 502_000_000)
        pacer.took(1, now: 502_100_000)
        #expect(pacer.deadline == 503_000_000)
        let early = pacer.report(now: 900_000_000)
        #expect(early == nil)
        let told = pacer.report(now: Self.second)
        let report = try #require(told)
        #expect(report == Pacer.Report(taken: 3, missed: 500, nanoseconds: Self.second))
        #expect(report.text.contains("500 of 503 samples were left out in 1 s"))
        // Said once, and then at most every ten seconds.
        pacer.took(1, now: 4 * Self.second)
        let later = [10, 11, 30].map { pacer.report(now: $0 * Self.second)?.missed }
        #expect(later == [nil, 3_496, nil])
    }
    @Test("a reading of several counts as so many") func several() {
        var pacer = Pacer(rate: 10, now: 0)
        pacer.took(4, now: 10)
        #expect(pacer.deadline == 400_000_000)
    }
}
