import RelayCore
import Relocation
import RelocationDomain
import Synchronization
import Testing

@Suite("The memory store")
struct MemoryStoreTests {
    struct Abandoned: Error {}

    @Test("emits a unit's events in order, after its state is committed and before the unit returns")
    func commits() throws {
        let log = EventLog()
        let store = MemoryStore { log.append($0) }
        try store.unitOfWork { unit in
            let box = try unit.addBox(title: title("A"), capacity: .small)
            try unit.publish(BoxProvisioned(boxID: box.id, capacity: 5, title: "A"))
            try unit.publish(BoxRemoved(boxID: 77))
            #expect(log.events.isEmpty)
        }
        #expect(same(log.events, [BoxProvisioned(boxID: 1, capacity: 5, title: "A"), BoxRemoved(boxID: 77)]))
        #expect(try store.unitOfWork { $0.boxes().map(\.id) } == [1])
    }

    @Test("rolls back state, ids and events if the unit throws at its end, and rethrows that error")
    func rollsBack() throws {
        let log = EventLog()
        let store = MemoryStore { log.append($0) }
        try store.unitOfWork { unit in
            _ = try unit.addItem(title: title("a"), boxID: unit.addBox(title: title("A"), capacity: .small).id)
        }
        let before = store.state
        #expect(throws: Abandoned.self) {
            try store.unitOfWork { unit in
                let box = try unit.addBox(title: title("B"), capacity: .small)
                try unit.moveItem(1, toBox: box.id)
                _ = try unit.addItem(title: title("b"), boxID: box.id)
                try unit.removeItem(1)
                try unit.removeBox(1)
                try unit.publish(BoxRemoved(boxID: 1))
                throw Abandoned()
            }
        }
        #expect(store.state == before)
        #expect(log.events.isEmpty)
    }

    @Test("never gives an id a second time")
    func freshIDs() throws {
        let store = MemoryStore { _ in }
        try store.unitOfWork { unit in
            let first = try unit.addBox(title: title("A"), capacity: .small)
            let item = try unit.addItem(title: title("a"), boxID: first.id)
            try unit.removeItem(item.id)
            try unit.removeBox(first.id)
            let second = try unit.addBox(title: title("B"), capacity: .small)
            #expect(second.id == 2)
            #expect(try unit.addItem(title: title("b"), boxID: second.id).id == 2)
        }
    }

    @Test("refuses with storageFull, and changes nothing, when ids run out")
    func idsRunOut() async throws {
        let store = MemoryStore(MemoryState(lastBoxID: .max - 1, lastItemID: .max)) { _ in }
        let commands = RelocationCommands(store: store)
        #expect(try await commands.handle(OrderBox(label: "last", capacity: 5)).boxID == .max)
        let before = store.state
        await #expect { try await commands.handle(OrderBox(label: "one more", capacity: 5)) } throws: {
            .storageFull ~= $0
        }
        await #expect { try await commands.handle(DistributeItem(title: "one more")) } throws: { .storageFull ~= $0 }
        #expect(store.state == before)
    }

    @Test("refuses what would break the state: unknown ids, and a box removed with its items")
    func guardsItsState() throws {
        let store = MemoryStore { _ in }
        try store.unitOfWork { unit in
            _ = try unit.addItem(title: title("a"), boxID: unit.addBox(title: title("A"), capacity: .small).id)
            #expect { try unit.removeBox(1) } throws: { .conflict ~= $0 }
            #expect { try unit.removeBox(2) } throws: { .notFound ~= $0 }
            #expect { try unit.addItem(title: try title("b"), boxID: 2) } throws: { .notFound ~= $0 }
            #expect { try unit.moveItem(1, toBox: 2) } throws: { .notFound ~= $0 }
            #expect { try unit.moveItem(2, toBox: 1) } throws: { .notFound ~= $0 }
            #expect { try unit.removeItem(2) } throws: { .notFound ~= $0 }
        }
        #expect(try store.unitOfWork { $0.items(inBox: 1).map(\.id) } == [1])
    }

    @Test("refuses an event of another interface, which rolls the unit back")
    func foreignEvent() throws {
        let log = EventLog()
        let store = MemoryStore { log.append($0) }
        #expect {
            try store.unitOfWork { unit in
                try unit.publish(BoxRemoved(boxID: 1))
                try unit.publish(Foreign1.Happened())
            }
        } throws: {
            .invalidArgument ~= $0
        }
        #expect(log.events.isEmpty)
    }

    @Test("emits in the order of commits when many tasks run units at the same time")
    func concurrent() async throws {
        let log = EventLog()
        let store = MemoryStore { log.append($0) }
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<250 { _ = try store.perform(Ordering(OrderBox(label: "box", capacity: 5))) }
                }
            }
            try await group.waitForAll()
        }
        // Ids are given in commit order, so that emission order shows in them.
        #expect(log.events.compactMap { ($0 as? BoxProvisioned)?.boxID } == Array(1...2000))
    }
}

private enum Foreign1: EventInterface {
    static let name = "org.example.Foreign1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Happened.self }
    struct Happened: DomainEvent { typealias Interface = Foreign1 }
}
