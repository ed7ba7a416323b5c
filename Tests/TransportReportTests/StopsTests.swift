import TransportReport
import Testing

@Suite("Bench probe of the machine")
struct StopsTests {
    @Test("stops are summed up as the longest and the share of the time")
    func sums() {
        let stops = Stops([2_000, 8_000, 5_000], in: 1_000_000)
        #expect(stops.longest == 8_000)
        #expect(stops.share == 1.5)
        let none = Stops([], in: 1_000_000)
        #expect(none.longest == 0 && none.share == 0 && none.best(0.999) == 0)
        #expect(stops.figures.keys.count == 4)
    }
    @Test("one stop of 2 % of the time makes one event of a hundred wait for half of it")
    func oneStop() {
        let stops = Stops([20_000], in: 1_000_000)
        #expect(abs(stops.best(0.99) - 10_000) < 1e-6)
        #expect(abs(stops.best(0.999) - 19_000) < 1e-6)
        #expect(stops.best(0.98) == 0 && stops.best(0.5) == 0)
    }
    @Test("the best percentile is that of events which wait for the rest of each stop", arguments: [0.9, 0.99, 0.999])
    func simulated(_ part: Double) throws {
        // Spread over the time, which is a million nanoseconds, with an event in each.
        let lengths: [UInt64] = [1_000, 9_000, 4_000, 4_000, 2_500, 1_200, 30_000]
        let time = 1_000_000
        var times = [UInt64](repeating: 1, count: time)
        for (place, length) in lengths.enumerated() {
            let start = 100_000 * (place + 1)
            for offset in 0..<Int(length) { times[start + offset] = length - UInt64(offset) }
        }
        let simulated = try #require(Statistics.lateness(part, of: times))
        #expect(abs(Stops(lengths, in: Double(time)).best(part) - simulated) <= 2)
    }
}
