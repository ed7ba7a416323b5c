import TestTraits
import Testing
@Suite("A mirror, in every interleaving with all that it rests on", .computing, .tags(.g1, .g2, .g6))
struct MirrorExplorationTests {
    @Test(
        "a subscriber gets the origin's events in order, or a gap that names what was lost",
        arguments: MirrorExploration.all)
    func explore(_ exploration: MirrorExploration) {
        let (faults, states) = exploration.run()
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
        #expect(states > 1_000, "\(states)")
    }
    @Test("without any one of the three rules that is not so", arguments: Rule.allCases) func without(_ rule: Rule) {
        let fault = MirrorExploration.all.lazy.compactMap { $0.run(without: rule, most: 1).faults.first }.first
        #expect(fault != nil, "the exploration does not notice that the rule '\(rule)' is missing")
    }
}

@Suite("A mirror, after schedules of faults", .computing, .tags(.g1, .g2, .g6)) struct MirrorScheduleTests {
    /// So many schedules from each seed: 100,200 in all, and 1,002,000 in soak.
    private static let rounds = TestForm.rounds(33_400, soak: 334_000)

    @Test(
        "once all is well and quiet, the mirror has what the origin has, but for what was lost",
        arguments: 1...3 as ClosedRange<UInt64>)
    func schedules(_ seed: UInt64) {
        let fault = Self.fault(from: seed, rounds: Self.rounds)
        #expect(fault == nil)
    }
    @Test("without any one of the three rules that is not so", arguments: Rule.allCases) func without(_ rule: Rule) {
        let fault = Self.fault(from: 1, rounds: Self.rounds, without: rule)
        #expect(fault != nil, "no schedule notices that the rule '\(rule)' is missing")
    }
    /// The first schedule that goes wrong, of those that follow from a seed: 30 to 80 steps each. Without the steps that
    /// it goes wrong without, too.
    private static func fault(from seed: UInt64, rounds: Int, without rule: Rule? = nil) -> String? {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<rounds {
            let path = (0..<Int.random(in: 30...80, using: &generator)).map { _ in
                MirrorWorld.Input.usual[Int.random(in: 0..<MirrorWorld.Input.usual.count, using: &generator)]
            }
            if faults(path, rule).isEmpty { continue }
            let shortest = shortened(path, rule)
            return "\(round): \(shortest.map { "\($0)" }.joined(separator: " ")): \(faults(shortest, rule).first ?? "")"
        }
        return nil
    }
    private static func faults(_ path: [MirrorWorld.Input], _ rule: Rule?) -> [String] {
        var world = MirrorWorld(without: rule)
        for input in path where world.faults.isEmpty { _ = world.apply(input) }
        if world.faults.isEmpty { world.finish() }
        return world.faults
    }
    private static func shortened(_ path: [MirrorWorld.Input], _ rule: Rule?) -> [MirrorWorld.Input] {
        var path = path
        var index = 0
        while index < path.count {
            var shorter = path
            shorter.remove(at: index)
            if faults(shorter, rule).isEmpty {
                index += 1
            } else {
                (path, index) = (shorter, 0)
            }
        }
        return path
    }
}

extension MirrorWorld.Input {
    /// Each as often as it should happen: work more often than faults.
    fileprivate static let usual: [Self] =
        allCases + [Self](repeating: .commit, count: 4) + [Self](repeating: .export, count: 12)
        + [Self](repeating: .mirror, count: 10) + [Self](repeating: .subscribe, count: 10) + [.sync, .sync]
}
