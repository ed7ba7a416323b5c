import Relocation
import RelocationDomain
import TestSupport
import TestTraits
import Testing

@Suite("Thousands of random commands", .heavy, .tags(.g5))
struct RandomCommandsTests {
    @Test(
        "agree with a naive model in replies, refusals and state, keep every rule, and can be replayed from their events",
        arguments: TestedStore.Kind.allCases, 1...UInt64(TestForm.rounds(3, soak: 6)))
    func agree(kind: TestedStore.Kind, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let store = try await TestedStore(kind)
        let commands = RelocationCommands(store: store)
        var model = NaiveModel()
        let steps = TestForm.rounds(400, soak: 1_500)
        for step in 0..<steps {
            let command = NaiveModel.Request.random(using: &random, boxes: model.lastBoxID, items: model.lastItemID)
            let expected = model.run(command)
            let outcome = await command.run(on: commands)
            let contents = try await store.contents
            guard outcome == expected, contents == model.contents, Self.isSound(contents) else {
                Issue.record("seed \(seed), step \(step), \(command): \(outcome), not \(expected); \(contents)")
                return
            }
        }
        var replay = Replay()
        for event in store.events { replay.apply(event) }
        #expect(replay.contents == model.contents, "seed \(seed)")
        #expect(replay.contradictions.isEmpty, "seed \(seed)")
        #expect(store.events.count > steps / 2, "seed \(seed): the commands did hardly anything")
    }

    /// No box over its capacity, every item in exactly one box, everything by rising id.
    private static func isSound(_ contents: Warehouse) -> Bool {
        var counts: [Int64: Int] = [:]
        for item in contents.items { counts[item.boxID, default: 0] += 1 }
        return rises(contents.items.map(\.itemID)) && rises(contents.boxes.map(\.boxID))
            && contents.boxes.allSatisfy { (counts.removeValue(forKey: $0.boxID) ?? 0) <= Int($0.capacity) }
            && counts.isEmpty
    }
    private static func rises(_ ids: [Int64]) -> Bool { zip(ids, ids.dropFirst()).allSatisfy(<) }
}
