import RelayCore
import RelayTestKit
import Synchronization

@testable import RelayJournal

/// What a change of a contract does to somebody.
enum ChangeCell: String, Sendable {
    case works, nothing, gap, unknown, refused, refusedWithValue, refusedWithCase, ran, undeclared, noMember
    case notPermitted, runsAgain, readOnly, loses, unread
    /// Nobody is concerned.
    case none
    /// Another value than was sent, or another end than this change should have.
    case wrong

    /// Whether a cell of EVOLUTION's table says it.
    func isSaid(by words: String) -> Bool {
        if words == "–" { return true }
        let words = words.lowercased()
        func has(_ parts: String...) -> Bool { parts.contains { words.contains($0) } }
        return switch self {
        case .works: !has("**") && has("work", "ignore it", "read nil", "is read")
        case .nothing: has("wait")
        case .gap: has("gap")
        case .unknown: has("gap", "unknown")
        case .refused: has("**", "refused") && has("refused")
        case .refusedWithValue, .refusedWithCase: has("refused")
        case .ran: has("gap", "reply", "has run")
        case .undeclared: has("an error without a case")
        case .noMember: has("notfound")
        case .notPermitted: has("notpermitted")
        case .runsAgain: has("runs again")
        case .readOnly: has("submissions are refused")
        case .loses: has("lose what they miss")
        case .unread: has("not read")
        case .none: true
        case .wrong: false
        }
    }
    /// Whether something fails that worked.
    var breaks: Bool {
        switch self {
        case .gap, .refused, .refusedWithCase, .noMember, .nothing: true
        case .notPermitted, .runsAgain, .readOnly, .loses, .unread: true
        default: false
        }
    }
}

/// One change of a member, and what it does: as it should be, and as it is tried.
struct ChangeRow: Sendable {
    let change, member: String
    /// The first cell of its row in EVOLUTION's table.
    let entry: String
    /// Of an old front end with the new service, of a new front end with the old service, and of what is kept.
    let oldFrontEnd, newFrontEnd, journal: ChangeCell
    /// With the old service: what a new front end sees.
    let before: @Sendable (ChangeWorld) async throws -> ChangeCell
    /// With the new service: what an old front end sees, and what becomes of what is kept.
    let after: @Sendable (ChangeWorld) async throws -> (oldFrontEnd: ChangeCell, journal: ChangeCell)
}

/// A service of one of the two releases, on the journal of both, and a front end of each.
final class ChangeWorld: Sendable {
    static let name = "org.example.Changes"
    let service: EventService
    let journal: EventJournal
    let old, new: EventRelay
    /// What handlers got, the last one of each type.
    private let received = Mutex<[ObjectIdentifier: any Sendable]>([:])

    init(
        _ interfaces: [any EventInterface.Type], on bus: PrivateBus, _ folder: TestFolder,
        handle: (ChangeWorld) -> Void
    ) async throws {
        journal = try EventJournal(directory: folder.path)
        service = try EventService(name: Self.name, on: bus.bus, exporting: interfaces, journal: journal)
        old = try EventRelay(following: Self.name, on: bus.bus, interfaces: Before.Shop1.self, Before.Hall1.self)
        new = try EventRelay(following: Self.name, on: bus.bus, interfaces: After.Shop1.self, After.Hall1.self)
        handle(self)
        try await service.start()
        old.activate()
        new.activate()
    }
    func end() async throws {
        old.invalidate()
        new.invalidate()
        try await service.stop()
        journal.close()
    }

    // MARK: Events

    /// The first deliveries of a type, from the beginning of the journal.
    func first<E: DomainEvent>(_ count: Int, _ type: E.Type, by relay: EventRelay) async throws -> [EventOrGap<E>] {
        var found: [EventOrGap<E>] = []
        for await delivery in try relay.events(of: type, from: .beginning) {
            found.append(delivery)
            if found.count == count { break }
        }
        return found
    }

    // MARK: Commands

    func answer<C: Command>(_ type: C.Type, _ answer: @escaping @Sendable (C) throws -> C.Reply) {
        service.handle(type) { [weak self] command, _, _ in
            self?.received.withLock { $0[ObjectIdentifier(type)] = command }
            return try answer(command)
        }
    }
    /// What the handler got since the last time.
    func take<C: Command>(_ type: C.Type) -> C? {
        received.withLock { $0.removeValue(forKey: ObjectIdentifier(type)) as? C }
    }
}

// MARK: Events

extension ChangeRow {
    /// A change of an event.
    ///
    /// - Parameters:
    ///   - old: what the old service publishes; the new front end reads it as `newReads`, or finds a gap.
    ///   - new: what the new service publishes; the old front end reads it as `oldReads`, or finds a gap.
    static func event<O: DomainEvent & Equatable, N: DomainEvent & Equatable>(
        _ change: String, in entry: String, _ old: O, _ new: N, oldReads: O?, newReads: N?,
        cells: (oldFrontEnd: ChangeCell, newFrontEnd: ChangeCell)
    ) -> Self where O.Interface == Before.Shop1, N.Interface == After.Shop1 {
        Self(
            change: change, member: O.name, entry: entry, oldFrontEnd: cells.oldFrontEnd,
            newFrontEnd: cells.newFrontEnd, journal: cells.newFrontEnd
        ) { world in
            try await world.service.publish(old)
            let seen = try await world.first(1, N.self, by: world.new)
            return cell(seen[0], newReads, cells.newFrontEnd)
        } after: { world in
            try await world.service.publish(new)
            // Its own release's is the first.
            let seen = try await world.first(2, O.self, by: world.old)
            let kept = try await world.first(1, N.self, by: world.new)
            return (cell(seen[1], oldReads, cells.oldFrontEnd), cell(kept[0], newReads, cells.newFrontEnd))
        }
    }
    private static func cell<E: Equatable>(
        _ delivery: EventOrGap<E>, _ expected: E?, _ word: ChangeCell
    ) -> ChangeCell {
        switch (delivery, expected) {
        case (.event(let event, _), let expected?): event == expected ? word : .wrong
        case (.gap(let gap), nil): gap.reason == .schemaMismatch ? word : .wrong
        case (.event, nil), (.gap, _?): .wrong
        }
    }

    // MARK: Commands

    /// What becomes of a call.
    enum Call<Sent: Command & Sendable, Got: Command & Equatable>: Sendable where Sent.Reply: Equatable {
        /// The handler gets this command, and the caller this reply.
        case runs(Sent, as: Got, reply: Sent.Reply)
        /// Nothing runs.
        case refused(Sent)
        /// The handler gets this command, and the caller cannot read the reply.
        case ran(Sent, as: Got)

        /// Whether it ends so.
        func holds(_ world: ChangeWorld, by relay: EventRelay) async -> Bool {
            switch self {
            case .runs(let sent, let got, let reply):
                guard case .success(let answer) = await relay.outcome(of: sent) else { return false }
                return world.take(Got.self) == got && answer == reply
            case .refused(let sent):
                guard case .failed(let error) = await relay.outcome(of: sent) else { return false }
                return error.code == .schemaMismatch && !error.mayHaveRun && world.take(Got.self) == nil
            case .ran(let sent, let got):
                guard case .failed(let error) = await relay.outcome(of: sent) else { return false }
                return error.code == .schemaMismatch && error.mayHaveRun && world.take(Got.self) == got
            }
        }
    }
    /// What becomes of a call that the old front end made of the old service, when the new one repeats it with its key.
    enum Repetition<Sent: Command & Sendable>: Sendable where Sent.Reply: Equatable {
        /// The kept reply.
        case gets(Sent, Sent.Reply)
        case fails(Sent, RelayError.Code)

        func holds(_ world: ChangeWorld) async -> Bool {
            switch self {
            case .gets(let sent, let kept):
                guard case .success(let reply) = await world.new.outcome(of: sent) else { return false }
                return reply == kept
            case .fails(let sent, let code):
                guard case .failed(let error) = await world.new.outcome(of: sent) else { return false }
                return error.code == code
            }
        }
    }
    /// A change of a command.
    ///
    /// - Parameters:
    ///   - old: calls of the old front end, of the new service.
    ///   - new: calls of the new front end, of the old service.
    ///   - keyed: a call with a key, which the old front end makes of the old service; `again` is its repetition.
    static func command<O: IdempotentCommand & Equatable, N: IdempotentCommand & Equatable>(
        _ change: String, in entry: String, old: [Call<O, N>], new: [Call<N, O>], keyed: O, again: Repetition<N>,
        cells: (oldFrontEnd: ChangeCell, newFrontEnd: ChangeCell, journal: ChangeCell)
    ) -> Self where O.Interface == Before.Shop1, N.Interface == After.Shop1, O.Reply: Equatable, N.Reply: Equatable {
        Self(
            change: change, member: O.name, entry: entry, oldFrontEnd: cells.oldFrontEnd,
            newFrontEnd: cells.newFrontEnd, journal: cells.journal
        ) { world in
            for call in new where await !call.holds(world, by: world.new) { return .wrong }
            _ = try await world.old.call(keyed)
            return world.take(O.self) == keyed ? cells.newFrontEnd : .wrong
        } after: { world in
            var cell = cells.oldFrontEnd
            for call in old where await !call.holds(world, by: world.old) { cell = .wrong }
            let isRight = await again.holds(world)
            return (cell, isRight && world.take(N.self) == nil ? cells.journal : .wrong)
        }
    }
}
