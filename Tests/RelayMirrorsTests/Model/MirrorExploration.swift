import TestTraits
import Testing
/// All that can happen to a mirror from some state on, up to so many steps.
struct MirrorExploration: Sendable, CustomTestStringConvertible {
    typealias Input = MirrorWorld.Input
    let testDescription: String
    let inputs: [Input]
    /// Of nothing but these.
    var free = Input.allCases
    let depth: Int

    /// The origin's events reach the subscriber.
    private static func bring(_ count: Int) -> [Input] {
        [Input](repeating: .commit, count: count) + settle
    }
    private static let settle =
        [Input](
            repeating: .export, count: 4) + [Input](repeating: .mirror, count: 4)
        + [Input](repeating: .subscribe, count: 5)
    private static let restored = [.commit, .backUp] + bring(2) + [.sync, .restore, .commit]
    static let all = [
        Self(testDescription: "nothing", inputs: [], depth: 6),
        Self(testDescription: "events on their way", inputs: [.commit, .commit, .commit, .export, .export], depth: 5),
        Self(testDescription: "everybody is up to date", inputs: bring(3), depth: 5),
        Self(testDescription: "synced, and more is not", inputs: bring(2) + [.sync] + bring(2), depth: 5),
        Self(testDescription: "another run begins", inputs: bring(2) + [.sync, .restart, .commit], depth: 5),
        Self(testDescription: "two runs at once", inputs: bring(2) + [.restart, .commit, .restart, .commit], depth: 5),
        Self(testDescription: "a backup was restored", inputs: restored, depth: 5),
        Self(testDescription: "a backup was restored, and exported", inputs: restored + settle, depth: 5),
        Self(
            testDescription: "restoring was undone", inputs: restored + settle + [.sync, .restore, .commit], depth: 5),
        Self(
            testDescription: "the mirror is rebuilt", inputs: bring(3) + [.loseFile, .mirror, .mirror, .subscribe],
            depth: 5),
        Self(
            testDescription: "the mirror's file is older", inputs: bring(2) + [.copyFile] + bring(2) + [.oldFile],
            depth: 5),
        Self(
            testDescription: "the channel was deleted", inputs: bring(2) + [.restart] + bring(2) + [.delete], depth: 5),
        Self(
            testDescription: "the origin removes what was not exported",
            inputs: bring(2) + [.commit, .commit, .prune, .prune, .prune], depth: 5),
        Self(
            testDescription: "the carrier removes what was not read",
            inputs: bring(2) + [.commit, .commit, .export, .export, .restart, .commit, .export, .export, .export]
                + [Input](repeating: .expire, count: 4), depth: 5),
    ]

    /// What went wrong, each with the steps that lead to it; and how many states were seen.
    ///
    /// Equal states are looked at once, and are told apart by their hashes: what follows is the same.
    func run(without rule: Rule? = nil, most faultLimit: Int = 5) -> (faults: [String], states: Int) {
        var first = MirrorWorld(without: rule)
        for input in inputs { _ = first.apply(input) }
        var (seen, finished): (Set<Int>, Set<Int>) = ([first.hashValue], [])
        var level = [(world: first, path: [Input]())]
        var faults: [String] = first.faults
        let depth = TestForm.rounds(depth - 1, soak: depth)
        for step in 1...depth {
            var next: [(world: MirrorWorld, path: [Input])] = []
            for (world, path) in level {
                for input in free where faults.count < faultLimit {
                    var world = world
                    if !world.apply(input) || !seen.insert(world.hashValue).inserted { continue }
                    if step < depth && world.faults.isEmpty { next.append((world, path + [input])) }
                    if world.faults.isEmpty && finished.insert(world.hashValue).inserted { world.finish() }
                    if !world.faults.isEmpty {
                        faults.append("\((path + [input]).map { "\($0)" }.joined(separator: " ")): \(world.faults)")
                    }
                }
            }
            level = next
        }
        return (faults, seen.count)
    }
}
