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
    @Test("after any faults in any order the mirror has what the origin has, but for what was lost")
    func schedules() {
        var generator = SeededGenerator(seed: 31)
        for round in 0..<TestForm.rounds(3_000, soak: 1_000_000) {
            var (world, path) = (MirrorWorld(), [MirrorWorld.Input]())
            for _ in 0..<60 where world.faults.isEmpty {
                guard let input = MirrorWorld.Input.usual.randomElement(using: &generator) else { return }
                if world.apply(input) { path.append(input) }
            }
            if world.faults.isEmpty { world.finish() }
            if !world.faults.isEmpty {
                Issue.record("\(round): \(path.map { "\($0)" }.joined(separator: " ")): \(world.faults)")
                return
            }
        }
    }
}

extension MirrorWorld.Input {
    /// Each as often as it should happen: work more often than faults.
    fileprivate static let usual: [Self] =
        allCases + [Self](repeating: .commit, count: 4) + [Self](repeating: .export, count: 12)
        + [Self](repeating: .mirror, count: 10) + [Self](repeating: .subscribe, count: 10) + [.sync, .sync]
}
