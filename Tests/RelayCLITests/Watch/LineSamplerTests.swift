import Testing

@testable import relay_cli

@Suite("Which events a terminal is shown") struct LineSamplerTests {
    private static let second: UInt64 = 1_000_000
    /// How many of each name are shown a second, of so many, once the first ones are over.
    private func shown(_ rates: [String: UInt64], of perSecond: UInt64) -> [String: Double] {
        var sampler = LineSampler(perSecond: perSecond)
        var shown: [String: Int] = [:]
        for time in stride(from: UInt64(0), to: 9 * Self.second, by: 1_000) {
            for (name, rate) in rates where time % (Self.second / rate) == 0 {
                if sampler.takes("a.b", name, now: 7 + time), time >= 5 * Self.second { shown[name, default: 0] += 1 }
            }
        }
        return shown.mapValues { Double($0) / 4 }
    }

    @Test("all of what comes no faster is shown") func slow() {
        #expect(shown(["A": 40], of: 40)["A"] == 40)
        #expect(shown(["A": 10, "B": 5], of: 40) == ["A": 10, "B": 5])
    }
    @Test("of what comes faster, about as many as were asked for") func fast() {
        let many = shown(["A": 1_000], of: 40)["A"] ?? 0
        #expect(39...41 ~= many, "\(many)")
    }
    @Test("rare names are shown whole among frequent ones, which share the rest alike") func fair() {
        let lines = shown(["A": 1_000, "B": 500, "C": 2], of: 40)
        #expect(lines["C"] == 2)
        for name in ["A", "B"] { #expect(12...14 ~= lines[name] ?? 0, "\(lines)") }
    }
    @Test("a burst is shown whole, if it is no longer than four seconds' lines") func burst() {
        var sampler = LineSampler(perSecond: 40)
        let lines = (0..<1_000).count { _ in sampler.takes("a.b", "A", now: 5) }
        #expect(lines == 160)
        #expect(sampler.takeSkipped(now: 5).isEmpty, "not yet")
        let skipped = sampler.takeSkipped(now: 5 + Self.second)
        #expect(skipped.map(\.count) == [840] && skipped.map(\.interface) == ["a.b"])
        #expect(sampler.reportsAt == nil && sampler.takeSkipped(now: .max).isEmpty)
    }
    @Test("what was skipped is reported by interface, once a second, and at the end at once") func reporting() {
        var sampler = LineSampler(perSecond: 1)
        for _ in 0..<10 {
            _ = sampler.takes("b.b", "A", now: 100)
            _ = sampler.takes("a.a", "A", now: 100)
        }
        #expect(sampler.reportsAt == 100 + Self.second)
        let skipped = sampler.takeSkipped(now: 101, isLast: true)
        #expect(skipped.map(\.interface) == ["a.a", "b.b"] && skipped.map(\.count) == [6, 6])
    }
    @Test("a clock that is set back or far ahead stops nothing, and the largest figures do not trap") func clocks() {
        var sampler = LineSampler(perSecond: .max)
        for time in [UInt64.max, 0, 5, .max, 1, 1 << 62, 3] {
            let isTaken = sampler.takes("a.b", "A", now: time)
            #expect(isTaken)
        }
        var slow = LineSampler(perSecond: 0)
        for _ in 0..<100 { _ = slow.takes("a.b", "A", now: 1 << 40) }
        let skipped = slow.takeSkipped(now: 0)
        #expect(skipped.map(\.count) == [96])
    }
}

@Suite("How many lines a watch shows") struct LinesPerSecondTests {
    @Test("a terminal is sampled, unless what was kept is asked for; a pipe is not, unless asked for") func defaults() {
        #expect(Watch().linesPerSecond(isTerminal: true) == 40)
        #expect(Watch().linesPerSecond(isTerminal: false) == nil)
        #expect(Watch(start: .since(.oldest)).linesPerSecond(isTerminal: true) == 40)
        #expect(Watch(start: .since(.oldest), sample: 5).linesPerSecond(isTerminal: true) == 5)
        #expect(Watch(start: .resuming(name: "a", folder: nil)).linesPerSecond(isTerminal: true) == nil)
        #expect(Watch(sample: 0).linesPerSecond(isTerminal: true) == nil)
        #expect(Watch(sample: 7).linesPerSecond(isTerminal: false) == 7)
    }
}
