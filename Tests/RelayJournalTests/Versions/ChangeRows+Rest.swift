import RelayCore
import RelayTestKit

@testable import RelayJournal

/// The release before `Before`.
enum Earlier {
    enum Shop1: EventInterface {
        static let name = "org.example.Changes1"
        static var contract: Contract<Self> { Forgot.self }
    }
    struct Forgot: DomainEvent, Equatable {
        typealias Interface = Shop1
        var a: Int64, b: String
    }
}

/// The rows about more than a member's fields.
extension ChangeRows {
    static let others = [forgot, guarded, unkeyed, readOnly, durability]

    /// What a release before both left in the journal.
    static func prepare(_ folder: TestFolder, on bus: PrivateBus) async throws {
        let journal = try EventJournal(directory: folder.path)
        let service = try EventService(
            name: ChangeWorld.name, on: bus.bus, exporting: Earlier.Shop1.self, journal: journal)
        try await service.publish(Earlier.Forgot(a: 1, b: "x"))
        journal.close()
    }

    private static let forgot = ChangeRow(
        change: "a former name is dropped", member: "Forgot", entry: "field: a former name dropped",
        oldFrontEnd: .works, newFrontEnd: .works, journal: .unread
    ) { world in
        try await world.service.publish(Before.Forgot(a: 2, c: "y"))
        let seen = try await world.first(2, After.Forgot.self, by: world.new)
        guard case .event(After.Forgot(a: 2, c: "y"), _) = seen[1] else { return .wrong }
        return .works
    } after: { world in
        try await world.service.publish(After.Forgot(a: 3, c: "z"))
        let old = try await world.first(3, Before.Forgot.self, by: world.old)
        let isOldRight = old.compactMap(\.payload) == [.init(a: 1, c: "x"), .init(a: 2, c: "y"), .init(a: 3, c: "z")]
        let new = try await world.first(3, After.Forgot.self, by: world.new)
        let isNewRight = new.compactMap(\.payload) == [.init(a: 2, c: "y"), .init(a: 3, c: "z")]
        guard isNewRight, case .gap(let gap) = new[0], gap.reason == .schemaMismatch else { return (.wrong, .wrong) }
        return (isOldRight ? .works : .wrong, .unread)
    }
    private static let guarded = ChangeRow(
        change: "fewer peers are permitted", member: "Guarded", entry: "rest: fewer peers permitted",
        oldFrontEnd: .notPermitted, newFrontEnd: .works, journal: .none
    ) { world in
        guard try await world.new.call(After.Guarded()).number == 1 else { return .wrong }
        return .works
    } after: { world in
        guard case .failed(let error) = await world.old.outcome(of: Before.Guarded()) else { return (.wrong, .none) }
        let hasRun = world.take(After.Guarded.self) != nil
        return (error.code == .notPermitted && !error.mayHaveRun && !hasRun ? .notPermitted : .wrong, .none)
    }
    /// What becomes of a call and its repetition.
    private static func twice<C: IdempotentCommand>(
        _ command: C, by relay: EventRelay, ran: () -> Bool
    ) async throws -> Bool {
        for _ in 0..<2 {
            _ = try await relay.call(command)
            if !ran() { return false }
        }
        return true
    }
    private static let unkeyed = ChangeRow(
        change: "an idempotency key is dropped", member: "Unkeyed",
        entry: "rest: an idempotency key dropped, or another field", oldFrontEnd: .runsAgain, newFrontEnd: .works,
        journal: .none
    ) { world in
        guard try await world.new.call(After.Unkeyed(a: 1, idempotencyKey: nil)).number == 1 else { return .wrong }
        return world.take(Before.Unkeyed.self) == .init(a: 1) ? .works : .wrong
    } after: { world in
        let runsAgain = try await twice(Before.Unkeyed(a: 2, idempotencyKey: "k"), by: world.old) {
            world.take(After.Unkeyed.self) != nil
        }
        return (runsAgain ? .runsAgain : .wrong, .none)
    }
    private static let readOnly = ChangeRow(
        change: "a document is no longer editable", member: "Board", entry: "rest: a document is no longer editable",
        oldFrontEnd: .readOnly, newFrontEnd: .works, journal: .works
    ) { world in
        let present = try await world.old.snapshot(of: Before.Board.self)
        try await world.old.submit(Before.Board(title: "first"), basedOn: present.version)
        guard try await world.new.snapshot(of: After.Board.self).state == After.Board(title: "first") else {
            return .wrong
        }
        return .works
    } after: { world in
        let isRead = try world.service.document(After.Board.self).state == After.Board(title: "first")
        let present = try await world.old.snapshot(of: Before.Board.self)
        let error = await error { try await world.old.submit(Before.Board(title: "second"), basedOn: present.version) }
        let isRefused = error?.code == .notPermitted || error?.code == .notFound
        let isUnchanged = try world.service.document(After.Board.self).state == After.Board(title: "first")
        return (
            present.state.title == "first" && isRefused && error?.mayHaveRun == false && isUnchanged
                ? .readOnly : .wrong, isRead ? .works : .wrong
        )
    }
    private static let durability = ChangeRow(
        change: "a durable interface becomes volatile", member: Before.Hall1.name,
        entry: "rest: from durable to volatile", oldFrontEnd: .loses, newFrontEnd: .works, journal: .unread
    ) { world in
        try await world.service.publish(Before.Rang(number: 1))
        let seen = try await world.first(1, After.Rang.self, by: world.new)
        guard case .event(After.Rang(number: 1), _) = seen[0] else { return .wrong }
        return .works
    } after: { world in
        // Published before anybody follows: nobody gets it any more, nor what the old service has committed.
        try world.service.publish(After.Rang(number: 2))
        func isLost<E: DomainEvent & Equatable>(_ last: E, by relay: EventRelay) async throws -> Bool {
            let stream = try relay.events(of: E.self, from: .beginning)
            try await relay.barrier()
            try world.service.publish(After.Rang(number: 3))
            var events: [E] = []
            for await delivery in stream {
                if case .event(let event, _) = delivery { events.append(event) }
                if events.last == last { break }
            }
            return events == [last]
        }
        return (
            try await isLost(Before.Rang(number: 3), by: world.old) ? .loses : .wrong,
            try await isLost(After.Rang(number: 3), by: world.new) ? .unread : .wrong
        )
    }
    private static func error(_ body: () async throws -> some Any) async -> RelayError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? RelayError
        }
    }
}

extension EventOrGap {
    fileprivate var payload: Payload? { if case .event(let event, _) = self { event } else { nil } }
}
