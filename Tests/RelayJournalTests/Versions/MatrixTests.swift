import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

/// The table of docs/EVOLUTION.md, cell by cell: front ends of one release with a service of another.
@Suite("What each change of a contract breaks", .heavy, .tags(.g2, .g6)) struct MatrixTests {
    private static let name = "org.example.Matrix"
    private let bus: PrivateBus
    private let folder: TestFolder
    init() throws { (bus, folder) = (try PrivateBus(), try TestFolder()) }

    // MARK: Events

    /// An event before and after its change, and what those of the one read of the other: nil for a gap.
    private struct Row: Sendable {
        let name: String
        let publishBefore: @Sendable (EventService) async throws -> Void
        let publishAfter: @Sendable (EventService) async throws -> Void
        /// The deliveries from the journal's beginning.
        let readBefore: @Sendable (Bus, Int) async throws -> [String?]
        let readAfter: @Sendable (Bus, Int) async throws -> [String?]
        let old: String?
        let new: String?

        init<B: DomainEvent, A: DomainEvent>(_ before: B, _ after: A, old: String?, new: String?)
        where B.Interface == Before.Matrix1, A.Interface == After.Matrix1 {
            name = B.name
            publishBefore = { try await $0.publish(before) }
            publishAfter = { try await $0.publish(after) }
            readBefore = { try await MatrixTests.read($1, B.self, on: $0) }
            readAfter = { try await MatrixTests.read($1, A.self, on: $0) }
            (self.old, self.new) = (old.map { "\(B.name)(\($0))" }, new.map { "\(A.name)(\($0))" })
        }
    }
    private static let module = String(reflecting: Before.self).prefix { $0 != "." } + "."
    private static func read<E: DomainEvent>(_ count: Int, _ type: E.Type, on bus: Bus) async throws -> [String?] {
        let relay = try EventRelay(following: name, on: bus, interfaces: E.Interface.self)
        let stream = try relay.events(of: E.self, from: .beginning)
        relay.activate()
        var found: [String?] = []
        for await delivery in stream {
            switch delivery {
            case .event(let event, _):
                // Without the names of the types around it.
                found.append("\(event)".replacing(module, with: ""))
            case .gap(let gap):
                #expect(gap.reason == .schemaMismatch, "\(gap)")
                found.append(nil)
            }
            if found.count == count { break }
        }
        relay.invalidate()
        return found
    }
    private static let rows: [Row] = [
        Row(Before.Reordered(a: 1, b: 2), After.Reordered(b: 2, a: 1), old: "a: 1, b: 2", new: "b: 2, a: 1"),
        Row(Before.OptionalAdded(a: 1), After.OptionalAdded(a: 1, b: "x"), old: "a: 1", new: "a: 1, b: nil"),
        Row(Before.OptionalRemoved(a: 1, b: "x"), After.OptionalRemoved(a: 1), old: "a: 1, b: nil", new: "a: 1"),
        Row(Before.RequiredAdded(a: 1), After.RequiredAdded(a: 1, b: "x"), old: "a: 1", new: nil),
        Row(Before.RequiredRemoved(a: 1, b: "x"), After.RequiredRemoved(a: 1), old: nil, new: "a: 1"),
        Row(Before.Renamed(a: 1), After.Renamed(b: 2), old: "a: 2", new: "b: 1"),
        Row(Before.RenamedSilently(a: 1), After.RenamedSilently(b: 2), old: nil, new: nil),
        Row(Before.Retyped(a: 1), After.Retyped(a: "x"), old: nil, new: nil),
        Row(Before.CaseAdded(a: .open), After.CaseAdded(a: .paid), old: nil, new: "a: Before.State.open"),
        Row(Before.CaseRemoved(a: .paid), After.CaseRemoved(a: .open), old: "a: Before.State.open", new: nil),
        Row(
            Before.VariantAdded(a: .idle), After.VariantAdded(a: .printing(page: 3)), old: nil, new: "a: After.Job.idle"
        ),
        Row(
            Before.Nested(boxes: [.init(boxID: 1)]), After.Nested(boxes: [.init(label: "x", boxID: 2)]),
            old: "boxes: [Before.Box(boxID: 2)]", new: "boxes: [After.Box(label: nil, boxID: 1)]"),
    ]
    private func serve(
        _ interface: any EventInterface.Type, _ prepare: (EventService) -> Void,
        _ body: (EventService) async throws -> Void
    ) async throws {
        let journal = try EventJournal(directory: folder.path)
        let service = try EventService(name: Self.name, on: bus.bus, exporting: interface, journal: journal)
        prepare(service)
        try await service.start()
        try await body(service)
        try await service.stop()
        journal.close()
    }
    @Test("events: old and new front ends, and the journal") func events() async throws {
        try await serve(Before.Matrix1.self, Self.handleBefore) { service in
            for row in Self.rows { try await row.publishBefore(service) }
            try await service.publish(Before.Removed(a: 1))
            for row in Self.rows {
                let found = try await row.readAfter(bus.bus, 1)
                #expect(found == [row.new], "new front ends: \(row.name)")
            }
        }
        try await serve(After.Matrix1.self, Self.handleAfter) { service in
            for row in Self.rows { try await row.publishAfter(service) }
            try await service.publish(After.Added(a: 1))
            for row in Self.rows {
                let old = try await row.readBefore(bus.bus, 2)
                #expect(old.last == row.old && old.first != .some(nil), "old front ends: \(row.name)")
                let kept = try await row.readAfter(bus.bus, 2)
                #expect(kept.first == row.new && kept.last != .some(nil), "the journal: \(row.name)")
            }
            // What is gone stays until it expires; what is new is ignored by those who do not know it.
            #expect(try await Self.read(1, Before.Removed.self, on: bus.bus) == ["Removed(a: 1)"])
            #expect(try await Self.read(1, After.Added.self, on: bus.bus) == ["Added(a: 1)"])
        }
    }

    // MARK: Commands

    private static func handleBefore(_ service: EventService) {
        service.handle(Before.ReorderedArguments.self) { command, _ in Before.Number(a: command.a - command.b) }
        service.handle(Before.OptionalArgument.self) { command, _ in Before.Number(a: command.a) }
        service.handle(Before.RequiredArgument.self) { command, _ in Before.Number(a: command.a) }
        service.handle(Before.RenamedArgument.self) { command, _ in Before.Number(a: command.a) }
        service.handle(Before.RequiredReply.self) { command, _ in Before.Number(a: command.a) }
        service.handle(Before.OptionalReply.self) { command, _ in Before.Number(a: command.a) }
        service.handle(Before.ReplyVariant.self) { _, _ in Before.ReplyVariant.Reply(job: .idle) }
        service.handle(Before.RemovedCommand.self) { _, _ in }
    }
    private static func handleAfter(_ service: EventService) {
        service.handle(After.ReorderedArguments.self) { command, _ in After.Number(a: command.a - command.b) }
        service.handle(After.OptionalArgument.self) { command, _ in After.Number(a: command.a) }
        service.handle(After.RequiredArgument.self) { command, _ in After.Number(a: command.a) }
        service.handle(After.RenamedArgument.self) { command, _ in After.Number(a: command.b) }
        service.handle(After.RequiredReply.self) { command, _ in After.RequiredReply.Reply(b: "x", a: command.a) }
        service.handle(After.OptionalReply.self) { command, _ in After.OptionalReply.Reply(b: "x", a: command.a) }
        service.handle(After.ReplyVariant.self) { _, _ in After.ReplyVariant.Reply(job: .printing(page: 1)) }
        service.handle(After.AddedCommand.self) { _, _ in }
    }
    /// The reply, or the code of the failure, with a '!' if the command may have run.
    private func outcome<C: Command>(_ command: C, _ relay: EventRelay) async -> String {
        switch await relay.outcome(of: command) {
        case .success(let reply): "\(reply)".split(separator: "(").last.map { "\($0.dropLast())" } ?? ""
        case .refused(let refusal): "\(refusal)"
        case .failed(let error): error.code.rawValue + (error.mayHaveRun ? "!" : "")
        }
    }
    @Test("commands: front ends of the old contract, with a service of the new one") func oldFrontEnds() async throws {
        try await serve(After.Matrix1.self, Self.handleAfter) { _ in
            let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Before.Matrix1.self)
            relay.activate()
            #expect(await outcome(Before.ReorderedArguments(a: 5, b: 3), relay) == "a: 2")
            #expect(await outcome(Before.OptionalArgument(a: 1), relay) == "a: 1")
            #expect(await outcome(Before.RequiredArgument(a: 1), relay) == "SchemaMismatch")
            #expect(await outcome(Before.RenamedArgument(a: 1), relay) == "a: 1")
            #expect(await outcome(Before.RequiredReply(a: 1), relay) == "a: 1")
            #expect(await outcome(Before.OptionalReply(a: 1), relay) == "a: 1")
            #expect(await outcome(Before.ReplyVariant(), relay) == "SchemaMismatch!")
            #expect(await outcome(Before.RemovedCommand(), relay) == "NotFound")
            relay.invalidate()
        }
    }
    @Test("commands: front ends of the new contract, with a service of the old one") func newFrontEnds() async throws {
        try await serve(Before.Matrix1.self, Self.handleBefore) { _ in
            let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: After.Matrix1.self)
            relay.activate()
            #expect(await outcome(After.ReorderedArguments(b: 3, a: 5), relay) == "a: 2")
            #expect(await outcome(After.OptionalArgument(b: nil, a: 1), relay) == "a: 1")
            #expect(await outcome(After.OptionalArgument(b: "x", a: 1), relay) == "SchemaMismatch")
            #expect(await outcome(After.RequiredArgument(b: "x", a: 1), relay) == "SchemaMismatch")
            #expect(await outcome(After.RenamedArgument(b: 1), relay) == "a: 1")
            #expect(await outcome(After.RequiredReply(a: 1), relay) == "SchemaMismatch")
            #expect(await outcome(After.OptionalReply(a: 1), relay) == "b: nil, a: 1")
            #expect(await outcome(After.ReplyVariant(), relay).contains("idle"))
            #expect(await outcome(After.AddedCommand(), relay) == "NotFound")
            relay.invalidate()
        }
    }
    @Test("the comparison finds what the table says") func comparison() throws {
        let old = try ContractText(of: Before.Matrix1.self)
        let changes = try old.changes(to: ContractText(of: After.Matrix1.self))
        let broken = Dictionary(
            uniqueKeysWithValues: changes.map { change in
                (change.member, Set(change.effects.filter(\.breaks).map(\.party)))
            })
        for row in Self.rows {
            let expected: Set<ContractChange.Party> = Set(
                (row.old == nil && !row.name.hasSuffix("Added") ? [.oldFrontEnds] : [])
                    + (row.new == nil ? [.newFrontEnds, .journal] : []))
            #expect(broken[row.name] ?? [] == expected, "\(row.name)")
        }
    }
}
