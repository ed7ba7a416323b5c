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
            let contents = try await commands.handle(Contents())
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
    private static func isSound(_ contents: Contents.Reply) -> Bool {
        let items = contents.boxes.flatMap(\.items).map(\.itemID)
        return Set(items).count == items.count && rises(contents.boxes.map(\.boxID))
            && contents.boxes.allSatisfy { $0.items.count <= Int($0.capacity) && rises($0.items.map(\.itemID)) }
    }
    private static func rises(_ ids: [Int64]) -> Bool { zip(ids, ids.dropFirst()).allSatisfy(<) }
}
