import RelayCore
import Relocation
import RelocationDomain
import Synchronization
import TestSupport
import TestTraits
import Testing

@Suite("A store, in memory and in the journal", .heavy, .tags(.g5))
struct StoreTests {
    struct Abandoned: Error {}

    /// A box "A" with an item "a" in it.
    struct Beginning: RelocationWork {
        func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws {
            _ = try unit.addItem(title: title("a"), boxID: unit.addBox(title: title("A"), capacity: .small).id)
        }
    }

    struct Committing: RelocationWork {
        let log: @Sendable () -> [any RelocationEvent]
        func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws {
            let box = try unit.addBox(title: title("A"), capacity: .small)
            try unit.publish(BoxProvisioned(boxID: box.id, capacity: 5, title: "A"))
            try unit.publish(BoxRemoved(boxID: 77))
            #expect(log().isEmpty)
        }
    }
    @Test(
        "emits a unit's events in order, after its state is committed and before the unit returns",
        arguments: TestedStore.Kind.allCases)
    func commits(kind: TestedStore.Kind) async throws {
        let store = try await TestedStore(kind)
        try await store.perform(Committing { store.events })
        #expect(same(store.events, [BoxProvisioned(boxID: 1, capacity: 5, title: "A"), BoxRemoved(boxID: 77)]))
        #expect(try await store.contents.boxes.map(\.boxID) == [1])
    }

    struct Failing: RelocationWork {
        func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws {
            let box = try unit.addBox(title: title("B"), capacity: .small)
            try unit.moveItem(1, toBox: box.id)
            _ = try unit.addItem(title: title("b"), boxID: box.id)
            try unit.removeItem(1)
            try unit.removeBox(1)
            try unit.publish(BoxRemoved(boxID: 1))
            throw Abandoned()
        }
    }
    @Test(
        "rolls back state, ids and events if the unit throws at its end, and rethrows that error",
        arguments: TestedStore.Kind.allCases)
    func rollsBack(kind: TestedStore.Kind) async throws {
        let store = try await TestedStore(kind)
        try await store.perform(Beginning())
        let before = try await store.contents
        await #expect(throws: Abandoned.self) { try await store.perform(Failing()) }
        #expect(try await store.contents == before)
        #expect(store.events.isEmpty)
        #expect(try await store.perform(Ordering(OrderBox(label: "B", capacity: 5))).id == 2)
    }

    struct Replacing: RelocationWork {
        func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws {
            try unit.removeItem(1)
            try unit.removeBox(1)
            let second = try unit.addBox(title: title("B"), capacity: .small)
            #expect(second.id == 2)
            #expect(try unit.addItem(title: title("b"), boxID: second.id).id == 2)
        }
    }
    @Test("never gives an id a second time", arguments: TestedStore.Kind.allCases)
    func freshIDs(kind: TestedStore.Kind) async throws {
        let store = try await TestedStore(kind)
        try await store.perform(Beginning())
        try await store.perform(Replacing())
        #expect(try await store.contents.boxes.map(\.boxID) == [2])
    }

    @Test("refuses with storageFull, and changes nothing, when ids run out", arguments: TestedStore.Kind.allCases)
    func idsRunOut(kind: TestedStore.Kind) async throws {
        let store = try await TestedStore(kind, lastBoxID: .max - 1, lastItemID: .max)
        let commands = RelocationCommands(store: store)
        #expect(try await commands.handle(OrderBox(label: "last", capacity: 5)).boxID == .max)
        let before = try await store.contents
        await #expect { try await commands.handle(OrderBox(label: "one more", capacity: 5)) } throws: {
            .storageFull ~= $0
        }
        await #expect { try await commands.handle(DistributeItem(title: "one more")) } throws: { .storageFull ~= $0 }
        #expect(try await store.contents == before)
        #expect(store.events.count == 1)
    }

    struct Breaking: RelocationWork {
        func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws {
            func code(_ body: () throws -> Void) -> RelayError.Code? {
                do { try body() } catch { return (error as? RelayError)?.code }
                return nil
            }
            #expect(code { try unit.removeBox(1) } == .conflict)
            #expect(code { try unit.removeBox(2) } == .notFound)
            #expect(code { _ = try unit.addItem(title: try title("b"), boxID: 2) } == .notFound)
            #expect(code { try unit.moveItem(1, toBox: 2) } == .notFound)
            #expect(code { try unit.moveItem(2, toBox: 1) } == .notFound)
            #expect(code { try unit.removeItem(2) } == .notFound)
        }
    }
    @Test(
        "refuses what would break the state: unknown ids, and a box removed with its items",
        arguments: TestedStore.Kind.allCases)
    func guardsItsState(kind: TestedStore.Kind) async throws {
        let store = try await TestedStore(kind)
        try await store.perform(Beginning())
        let before = try await store.contents
        try await store.perform(Breaking())
        #expect(try await store.contents == before)
    }

    struct Straying: RelocationWork {
        func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws {
            try unit.publish(BoxRemoved(boxID: 1))
            try unit.publish(Foreign1.Happened())
        }
    }
    @Test("refuses an event that nobody exports, which rolls the unit back", arguments: TestedStore.Kind.allCases)
    func foreignEvent(kind: TestedStore.Kind) async throws {
        let store = try await TestedStore(kind)
        await #expect { try await store.perform(Straying()) } throws: { .notFound ~= $0 }
        #expect(store.events.isEmpty)
    }

    @Test(
        "emits in the order of commits when many tasks run units at the same time", arguments: TestedStore.Kind.allCases
    )
    func concurrent(kind: TestedStore.Kind) async throws {
        let store = try await TestedStore(kind)
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<250 { _ = try await store.perform(Ordering(OrderBox(label: "box", capacity: 5))) }
                }
            }
            try await group.waitForAll()
        }
        // Ids are given in commit order, so that emission order shows in them.
        #expect(store.events.compactMap { ($0 as? BoxProvisioned)?.boxID } == Array(1...2000))
    }
}

private enum Foreign1: EventInterface {
    static let name = "org.example.Foreign1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Happened.self }
    struct Happened: DomainEvent { typealias Interface = Foreign1 }
}
