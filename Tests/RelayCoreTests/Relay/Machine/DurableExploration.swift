import Glibc
import TestTraits
import Testing

@testable import RelayCore

/// All that can happen to a stream from some state on, up to so many steps.
struct DurableExploration: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What the service had published, and how much of it is in the backup.
    let before: [String]
    let backedUp: Int
    let start: StreamStart
    /// What was done first.
    let inputs: [DurableWorld.Input]
    /// What may follow, and how much of it.
    let free: [DurableWorld.Input]
    let depth: Int
    var hasRings = false
    var isRestricted = false

    /// What can befall a stream whose wants stay as they are.
    static let anything: [DurableWorld.Input] = [
        .publishA, .publishB, .loseA, .commitA, .start, .crash, .cut, .reconnect, .head, .tick, .serve, .bring, .swap,
        .duplicate, .timeout, .prune, .restore, .full, .room,
    ]
    static let scopes: [(name: String, input: DurableWorld.Input)] = [("one", .wantA), ("all", .wantBoth)]
    static let beginnings: [(name: String, start: StreamStart)] = [
        ("now", .now), ("oldest", .oldest), ("after", .after(epoch: 1, sequence: 1)), ("at", .at(2)),
    ]
    /// From a service that is stopped, with a subscriber that waits.
    static let waiting = scopes.flatMap { scope in
        beginnings.map { beginning in
            Self(
                testDescription: "\(beginning.name), \(scope.name)", before: ["A", "B", "A"], backedUp: 2,
                start: beginning.start, inputs: [scope.input], free: anything,
                // Hardly another than `after`.
                depth: beginning.name == "at" ? 6 : 7)
        }
    }
    /// From the middle of things.
    static let live: [DurableWorld.Input] = [.start, .bring, .serve, .bring, .publishA, .publishB, .bring]
    static let restored: [DurableWorld.Input] = [.restore, .bring, .serve, .bring, .publishA, .bring]
    private static let busyStarts: [(name: String, inputs: [DurableWorld.Input])] = [
        ("live, in a second run", live), ("a hole, asked for", live + [.loseA, .publishA, .bring]),
        ("a page on its way", live + [.loseA, .publishA, .bring, .serve]),
        ("cut off from a second run", live + [.cut]), ("on a restored backup", live + restored),
    ]
    static let busy = scopes.flatMap { scope in
        busyStarts.map { name, inputs in
            Self(
                testDescription: "\(name), \(scope.name)", before: ["A", "B", "A"], backedUp: 3, start: .now,
                inputs: [scope.input] + inputs, free: anything + [.stop, .undoRestore], depth: 5)
        }
    }
    /// What can befall a stream whose wants change.
    static let changes: [DurableWorld.Input] = [
        .publishA, .publishB, .publishC, .loseA, .loseB, .start, .crash, .cut, .reconnect, .head, .tick, .serve, .bring,
        .wantNone, .wantA, .wantBoth, .wantAll,
    ]
    static let wanting = [
        ("nothing wanted", [DurableWorld.Input]()), ("one wanted", [.wantA]), ("one wanted, live", [.wantA] + live),
        ("one wanted, and a hole", [.wantA] + live + [.loseA, .publishA, .bring]),
        ("both wanted, live", [.wantBoth] + live),
        ("both wanted, and a hole", [.wantBoth] + live + [.loseA, .publishA, .bring]),
        ("widening", [.wantA] + live + [.loseA, .wantBoth]),
    ]
    .map { name, inputs in
        Self(
            testDescription: name, before: ["A", "B"], backedUp: 2, start: .now, inputs: inputs, free: changes, depth: 5
        )
    }
    // The same with a ring.
    static let ringed: [DurableWorld.Input] = [
        .publishA, .publishB, .skipA, .commitA, .start, .crash, .stop, .cut, .reconnect, .head, .tick, .serve, .bring,
        .timeout, .prune, .full, .room, .fetch, .fetchAnyway, .lap, .fault,
    ]
    static let ringedChanges: [DurableWorld.Input] = [
        .publishA, .publishB, .publishC, .start, .crash, .cut, .reconnect, .head, .serve, .bring, .fetch, .fetchAnyway,
        .lap, .fault, .wantNone, .wantA, .wantBoth, .wantAll,
    ]
    static let opened: [DurableWorld.Input] = [.start, .bring, .serve, .bring]
    static let onRing = opened + [.serve, .bring, .publishA, .publishB, .fetch]
    private static let ringStarts: [(name: String, inputs: [DurableWorld.Input])] = [
        ("a ring, and a service to come", []), ("a ring, just opened", opened + [.publishA]),
        ("on the ring", onRing), ("on the ring, lapped", onRing + [.publishA, .publishB, .lap]),
        ("on the ring, cut off", onRing + [.publishA, .cut, .publishB]),
    ]
    private static let ringWants: [(name: String, inputs: [DurableWorld.Input])] = [
        ("a ring, nothing wanted", []), ("on the ring, one wanted", [.wantA] + onRing),
        ("on the ring, both wanted, and a hole", [.wantBoth] + onRing + [.publishA, .lap, .publishB]),
        ("on the ring, widening", [.wantA] + onRing + [.publishB, .wantBoth, .publishA]),
    ]
    static let rings =
        scopes.flatMap { scope in
            ringStarts.map { name, inputs in
                Self(
                    testDescription: "\(name), \(scope.name)", before: ["A", "B", "A"], backedUp: 3, start: .now,
                    inputs: [scope.input] + inputs, free: ringed, depth: 4, hasRings: true)
            }
        }
        + ringWants.map { name, inputs in
            Self(
                testDescription: name, before: ["A", "B"], backedUp: 2, start: .now, inputs: inputs,
                free: ringedChanges, depth: 5, hasRings: true)
        }
    // The same with a service that ends rings and attachments.
    static let ended: [DurableWorld.Input] = [
        .publishA, .publishB, .loseA, .commitA, .crash, .start, .head, .tick, .serve, .bring, .timeout, .full, .room,
        .fetch, .fetchAnyway, .lap, .fault, .replaceRing, .replaceUnheard, .detach, .note,
    ]
    private static let endedStarts: [(name: String, inputs: [DurableWorld.Input], hasRings: Bool)] = [
        ("attached, without a ring", [.start, .bring, .serve, .bring, .publishA, .bring], false),
        (
            "detached while it reads", [.start, .bring, .serve, .bring, .loseA, .publishA, .bring, .serve, .detach],
            false
        ),
        ("on the ring", onRing, true), ("the ring replaced", onRing + [.publishA, .replaceRing, .publishB], true),
        ("the ring replaced, and attached", onRing + [.replaceRing, .publishA, .bring, .serve], true),
        (
            "on the ring, lapped, and read",
            onRing + [.publishA, .publishA, .lap, .lap, .fetch, .serve, .replaceRing],
            true
        ),
        ("on the ring, unheard", onRing + [.replaceUnheard, .publishA], true),
    ]
    static let ends = scopes.flatMap { scope in
        endedStarts.map { name, inputs, hasRings in
            Self(
                testDescription: "\(name), \(scope.name), of a restricted interface", before: ["A", "B", "A"],
                backedUp: 3, start: .now, inputs: [scope.input] + inputs, free: ended, depth: 4, hasRings: hasRings,
                isRestricted: true)
        }
    }
    // The same with a mirror, whose journal lacks events, and is rebuilt.
    static let mirrored: [DurableWorld.Input] = [
        .publishA, .publishB, .loseA, .miss, .crash, .start, .cut, .reconnect, .head, .tick, .serve, .bring, .timeout,
        .prune, .full, .room, .rebuild, .catchUp, .closeRun,
    ]
    private static let mirrorStarts: [(name: String, inputs: [DurableWorld.Input])] = [
        ("a mirror", []), ("a mirror, live", live + [.miss]),
        ("a mirror, and a gap in a hole", live + [.miss, .publishA, .bring]),
        ("a mirror that is rebuilt", live + [.publishA, .bring, .rebuild]),
        (
            "a mirror that is rebuilt, waited for",
            live + [.miss, .publishA, .bring, .serve, .bring, .rebuild, .bring, .serve, .bring]
        ),
        ("a mirror that is rebuilt, cut off", live + [.cut, .publishA, .rebuild]),
    ]
    static let mirrors = scopes.flatMap { scope in
        mirrorStarts.flatMap { name, inputs in
            [1, 3].map { backedUp in
                Self(
                    testDescription: "\(name), \(scope.name), from \(backedUp)", before: ["A", "B", "A"],
                    backedUp: backedUp, start: .now, inputs: [scope.input] + inputs, free: mirrored, depth: 5)
            }
        }
    }
    static let all = waiting + busy + wanting + rings + ends + mirrors

    /// What went wrong, each with the steps that lead to it; and how many states were seen.
    ///
    /// Equal states are looked at once: what follows is the same. They are told apart by their hashes: of a million states two
    /// have the same with a probability of 1 to 30 million, and one of them would be passed over.
    func run() -> (faults: [String], states: Int) {
        var first = DurableWorld(
            before, backedUp: backedUp, from: start, hasRings: hasRings, isRestricted: isRestricted)
        for input in inputs where !first.apply(input) { return (["\(input) does nothing"], 0) }
        var (seen, finished): (Set<Int>, Set<Int>) = ([first.hashValue], [])
        var level = [(world: first, path: [DurableWorld.Input]())]
        var faults: [String] = []
        // Each step more takes about seven times as long.
        let depth = TestForm.rounds(depth > 5 ? 5 : min(depth, 4), soak: depth + 1)
        for step in 1...depth {
            var next: [(world: DurableWorld, path: [DurableWorld.Input])] = []
            for (world, path) in level {
                for input in free where faults.count < 5 {
                    var world = world
                    if !world.apply(input) || !seen.insert(world.hashValue).inserted { continue }
                    if step < depth && world.faults.isEmpty { next.append((world, path + [input])) }
                    if world.faults.isEmpty {
                        world.beginFinish()
                        // Most come to rest from the same few states.
                        if finished.insert(world.hashValue).inserted { world.finish() }
                    }
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
