import Glibc
import RelayCore
import TestTraits
import Testing

/// A reader whose events come at given times, as a calculation: no clock, no thread.
private struct SimulatedReader {
    /// How it waits.
    enum Way: CaseIterable { case rule, spinning, sleeping }
    /// From an event to the reader that was asleep, and the time an event takes to be handled: in nanoseconds.
    private static let (waking, handling) = (20_000, 200)

    /// Nanoseconds of processor time that an event costs, but for its handling.
    static func cost(of arrivals: [Int], _ way: Way) -> Double {
        var (rule, now, next, cost) = (SpinRule(), 0, 0, 0)
        while true {
            while next < arrivals.count, arrivals[next] <= now {
                next += 1
                now += handling
            }
            guard next < arrivals.count else { return Double(cost) / Double(arrivals.count) }
            let most =
                switch way {
                case .rule: rule.begin().nanoseconds
                case .spinning: Int.max
                case .sleeping: 0
                }
            let length = arrivals[next] - now
            if length <= most {
                rule.met(after: length)
                (now, cost) = (arrivals[next], cost + length)
            } else {
                rule.slept(length + waking)
                (now, cost) = (arrivals[next] + waking, cost + most + SpinRule.sleep)
            }
        }
    }
}

/// When events come: always the same for the same arguments.
private enum Arrivals: String, CaseIterable, CustomTestStringConvertible {
    case fixed, uneven, poisson, pairs, bursts, longBursts
    var testDescription: String { rawValue }

    static let count = 12_000
    func times(perSecond rate: Int) -> [Int] {
        var random = SplitMix(state: UInt64(rate))
        let gap = 1e9 / Double(rate)
        func bursts(of size: Int, _ inner: Double) -> [Double] {
            (0..<Self.count).map { number in
                gap * Double(number - number % size) + inner * Double(number % size)
            }
        }
        let times: [Double]
        switch self {
        case .fixed: times = (1...Self.count).map { gap * Double($0) }
        case .uneven: times = (1...Self.count).map { gap * (Double($0) + 0.6 * random.unit()) }
        case .poisson:
            var time = 0.0
            times = (1...Self.count).map { _ in
                time += -gap * log(1 - random.unit())
                return time
            }
        case .pairs: times = bursts(of: 2, 3_000)
        case .bursts: times = bursts(of: 8, 3_000)
        case .longBursts: times = bursts(of: 32, 5_000)
        }
        return times.map { Int($0) }.sorted()
    }
}

private struct SplitMix {
    var state: UInt64
    mutating func unit() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((mixed ^ (mixed >> 31)) >> 11) / Double(1 << 53)
    }
}

@Suite("How long a reader spins before it sleeps", .tags(.g4)) struct SpinRuleTests {
    @Test(
        "costs at most 1.3 times the better of always spinning and always sleeping",
        arguments: Arrivals.allCases,
        [
            1_000, 2_000, 3_000, 5_000, 7_000, 10_000, 12_000, 15_000, 18_000, 20_000, 22_000, 25_000, 28_000, 30_000,
            33_000, 36_000, 40_000, 43_000, 46_000, 49_000,
        ])
    fileprivate func cost(arrivals: Arrivals, rate: Int) {
        let times = arrivals.times(perSecond: rate)
        let (rule, spinning, sleeping) = (
            SimulatedReader.cost(of: times, .rule), SimulatedReader.cost(of: times, .spinning),
            SimulatedReader.cost(of: times, .sleeping)
        )
        #expect(rule <= 1.3 * min(spinning, sleeping))
    }
    @Test(
        "spins where the next event comes within a sleep's cost, though a late reader would have several at once",
        arguments: [Arrivals.fixed, .uneven], [52_000, 60_000, 80_000, 100_000, 200_000, 1_000_000])
    fileprivate func latency(arrivals: Arrivals, rate: Int) {
        let times = arrivals.times(perSecond: rate)
        #expect(SimulatedReader.cost(of: times, .rule) <= 1.05 * SimulatedReader.cost(of: times, .spinning))
    }
    @Test("learns a new rate within some dozens of events, in both directions") func change() {
        var rule = SpinRule()
        func wait(_ length: Int) -> SpinRule.Limit {
            let limit = rule.begin()
            if length <= limit.nanoseconds { rule.met(after: length) } else { rule.slept(length + 20_000) }
            return limit
        }
        for _ in 0..<100 { _ = wait(5_000_000) }
        #expect(wait(5_000_000) == .none)
        for _ in 0..<100 { _ = wait(10_000) }
        #expect((0..<100).allSatisfy { _ in wait(10_000) != .none })
        for _ in 0..<4 { _ = wait(5_000_000) }
        #expect(wait(5_000_000) == .none)
    }
    @Test("a quiet stream never spins: no wait is spent on finding out") func quiet() {
        var rule = SpinRule()
        for _ in 0..<10 {
            _ = rule.begin()
            rule.slept(250_000_000)
        }
        #expect(
            (0..<1_000).allSatisfy { _ in
                defer { rule.slept(250_000_000) }
                return rule.begin() == .none
            })
    }
    @Test("lengths of any size do no harm") func extremes() {
        var rule = SpinRule()
        for length in [0, 1, Int.max, -1, Int.min / 2, 40_000, 40_001] {
            _ = rule.begin()
            rule.met(after: length)
            _ = rule.begin()
            rule.slept(length)
        }
        #expect(SpinRule.Limit.allCases.contains(rule.begin()))
    }
}
