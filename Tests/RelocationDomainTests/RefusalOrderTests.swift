import Relocation
import RelocationDomain
import TestSupport
import TestTraits
import Testing

@Suite("The events of a refusal", .heavy, .tags(.g5))
struct RefusalOrderTests {
    /// Runs another command right after each unit of work: what a concurrent caller does at the worst moment.
    private struct InterruptedStore: RelocationStore {
        let base: TestedStore
        let other: OrderBox
        func stock(after place: Contents.Place, count: Int) async throws -> Stock {
            try await base.stock(after: place, count: count)
        }
        func perform<Work: RelocationWork>(_ work: Work) async throws -> Work.Outcome {
            do {
                let outcome = try await base.perform(work)
                _ = try await base.perform(Ordering(other))
                return outcome
            } catch {
                _ = try await base.perform(Ordering(other))
                throw error
            }
        }
    }

    @Test(
        "follow from the events before them, although a box is ordered right after the refused unit",
        arguments: TestedStore.Kind.allCases)
    func interrupted(kind: TestedStore.Kind) async throws {
        let base = try await TestedStore(kind)
        let commands = RelocationCommands(store: InterruptedStore(base: base, other: OrderBox(label: "x", capacity: 5)))
        await #expect(throws: DistributeItem.Refusal.noRoom) { try await commands.handle(DistributeItem(title: "a")) }
        await #expect(throws: RemoveBox.Refusal.unknownBox) { try await commands.handle(RemoveBox(boxID: 2)) }
        var replay = Replay()
        for event in base.events { replay.apply(event) }
        #expect(replay.contradictions == [])
        #expect(base.events.count == 4)
    }

    @Test("follow from the events before them when many tasks run commands at the same time")
    func concurrent() async throws {
        let store = try await TestedStore(.journal)
        let commands = RelocationCommands(store: store)
        await withTaskGroup { group in
            for seed in 1...8 as ClosedRange<UInt64> {
                group.addTask {
                    var random = SeededGenerator(seed: seed)
                    for _ in 0..<100 {
                        let request = NaiveModel.Request.random(using: &random, boxes: 12, items: 80)
                        _ = await request.run(on: commands)
                    }
                }
            }
        }
        var replay = Replay()
        for event in store.events { replay.apply(event) }
        #expect(replay.contradictions == [])
        #expect(replay.contents == (try await store.contents))
    }
}
