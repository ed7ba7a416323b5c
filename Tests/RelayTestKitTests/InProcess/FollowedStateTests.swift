import RelayCore
import RelayJournal
import RelayTestKit
import Synchronization
import TestTraits
import Testing

private enum Chores1: EnumInterface {
    case added(ChoreAdded)

    static let name = "org.example.Chores1"
    static var contract: Contract<Self> {
        added
        AddChore.self
        ListChores.self
    }
}
private struct ChoreAdded: DomainEvent {
    typealias Interface = Chores1
    let title: String
}
private struct AddChore: Command {
    typealias Interface = Chores1
    let title: String
}
private struct ListChores: Command {
    typealias Interface = Chores1
    typealias Failure = Never
    struct Reply: SnapshotReply {
        let epoch: UInt64, sequence: UInt64
        let titles: [String]
    }
}

/// A service whose state is followed in a harness.
private final class Household: Sendable {
    static let name = "org.example.Household"
    let harness = TestHarness()
    private let folder: TestFolder
    private let journal: EventJournal
    /// What is added to the epoch of each reply.
    let wrong = Atomic<UInt64>(0)
    let fails = Atomic(false)
    let states = Log<[String]>()
    let changes = Log<String>()
    let failures = Log<RelayError.Code>()

    init() async throws {
        folder = try TestFolder()
        journal = try EventJournal(directory: folder.path)
        try await journal.migrate(
            "chores", by: [Migration("chores", "CREATE TABLE chores (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")])
    }
    func start() async throws {
        let service = try EventService(
            name: Self.name, on: harness.bus, exporting: Chores1.self, journal: journal)
        service.handle(AddChore.self) { chore, _, unit in
            try unit.execute("INSERT INTO chores (title) VALUES (\(chore.title))")
            try unit.publish(ChoreAdded(title: chore.title))
        }
        service.handle(ListChores.self) { [journal, weak self] _, _ in
            if self?.fails.load(ordering: .relaxed) == true { throw RelayError(.conflict, "not now") }
            let wrong = self?.wrong.load(ordering: .relaxed) ?? 0
            return try await journal.read { snapshot in
                let position = try snapshot.position(of: Chores1.self)
                let titles: [String] = try snapshot.query("SELECT title FROM chores ORDER BY id") { try $0[0] }
                return ListChores.Reply(epoch: position.epoch &+ wrong, sequence: position.sequence, titles: titles)
            }
        }
        try await harness.start(service)
    }
    func relay() throws -> EventRelay {
        let relay = try EventRelay(following: Self.name, on: harness.bus, interfaces: Chores1.self)
        relay.activate()
        return relay
    }
    func follow(_ relay: EventRelay) throws -> Subscription {
        try relay.follow(Chores1.self, asking: ListChores()) { [states] in
            states.add($0.titles)
        } then: { [changes] change in
            if case .added(let chore) = change { changes.add(chore.title) }
        } onFailure: { [failures] in
            failures.add($0.code)
        }
    }
}

@Suite("A followed state in a harness", .heavy, .tags(.g2)) struct FollowedStateTests {
    @Test("settle() waits for the state, and for each change behind it") func settles() async throws {
        let house = try await Household()
        try await house.start()
        let relay = try house.relay()
        for round in 1...30 {
            let subscription = try house.follow(relay)
            try await house.harness.settle()
            #expect(house.states.count == round && house.states.values.last?.count == round - 1)
            try await relay.call(AddChore(title: "\(round)"))
            try await house.harness.settle()
            #expect(house.changes.values == (1...round).map { "\($0)" })
            subscription.cancel()
        }
        #expect(house.failures.values == [])
    }
    @Test("settle() does not wait for a service that is not there; the state comes with the service")
    func away() async throws {
        let house = try await Household()
        let relay = try house.relay()
        let subscription = try house.follow(relay)
        try await house.harness.settle()
        #expect(house.states.values == [] && house.failures.values == [])
        try await house.start()
        try await house.harness.settle()
        #expect(house.states.values == [[]])
        withExtendedLifetime(subscription) {}
    }
    @Test("settle() does not wait for a query that fails: its failure has been reported") func failing() async throws {
        let house = try await Household()
        house.fails.store(true, ordering: .relaxed)
        try await house.start()
        let relay = try house.relay()
        let subscription = try house.follow(relay)
        try await house.harness.settle()
        #expect(house.states.values == [] && house.failures.values == [.conflict])
        house.fails.store(false, ordering: .relaxed)
        #expect(await eventually { house.states.values == [[]] })
        withExtendedLifetime(subscription) {}
    }
    @Test("a reply that names another run is a failure, and not a state behind which nothing comes")
    func wrongRun() async throws {
        let house = try await Household()
        house.wrong.store(1, ordering: .relaxed)
        try await house.start()
        let relay = try house.relay()
        let subscription = try house.follow(relay)
        try await house.harness.settle()
        try await relay.call(AddChore(title: "tea"))
        try await house.harness.settle()
        #expect(house.states.values == [] && house.failures.values == [.conflict])
        house.wrong.store(0, ordering: .relaxed)
        #expect(await eventually { house.states.values == [["tea"]] })
        try await relay.call(AddChore(title: "cup"))
        try await house.harness.settle()
        #expect(house.changes.values == ["cup"])
        withExtendedLifetime(subscription) {}
    }
}
