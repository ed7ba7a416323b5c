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
    /// So many schedules from each seed: 100,200 in all.
    private static let rounds = 33_400

    @Test(
        "once all is well and quiet, the mirror has what the origin has, but for what was lost",
        arguments: 31...33 as ClosedRange<UInt64>)
    func schedules(_ seed: UInt64) {
        let fault = Self.fault(from: seed, rounds: Self.rounds)
        #expect(fault == nil)
    }
    @Test("without any one of the three rules that is not so", arguments: Rule.allCases) func without(_ rule: Rule) {
        let fault = Self.fault(from: 31, rounds: Self.rounds, without: rule)
        #expect(fault != nil, "no schedule notices that the rule '\(rule)' is missing")
    }
    /// The first schedule that goes wrong, of those that follow from a seed: 30 to 80 steps each.
    private static func fault(from seed: UInt64, rounds: Int, without rule: Rule? = nil) -> String? {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<rounds {
            var (world, path) = (MirrorWorld(without: rule), [MirrorWorld.Input]())
            for _ in 0..<Int.random(in: 30...80, using: &generator) where world.faults.isEmpty {
                guard let input = MirrorWorld.Input.usual.randomElement(using: &generator) else { break }
                if world.apply(input) { path.append(input) }
            }
            if world.faults.isEmpty { world.finish(isHealed: true) }
            if !world.faults.isEmpty {
                return "\(round): \(path.map { "\($0)" }.joined(separator: " ")): \(world.faults)"
            }
        }
        return nil
    }
}

extension MirrorWorld.Input {
    /// Each as often as it should happen: work more often than faults.
    fileprivate static let usual: [Self] =
        allCases + [Self](repeating: .commit, count: 4) + [Self](repeating: .export, count: 12)
        + [Self](repeating: .mirror, count: 10) + [Self](repeating: .subscribe, count: 10) + [.sync, .sync]
}
