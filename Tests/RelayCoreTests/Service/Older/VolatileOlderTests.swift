import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

private enum Feed1: EventInterface {
    static let name = "org.example.Feed1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Sample.self
        Reset.self
        Level.self
        Limit.self
        Secret.self
    }
    struct Sample: DomainEvent, Equatable {
        typealias Interface = Feed1
        let number: Int64
    }
    struct Reset: Command { typealias Interface = Feed1 }
    struct Level: DomainDocument {
        typealias Interface = Feed1
        var value: Int64
        static let initial = Self(value: 0)
    }
    struct Limit: EditableDocument {
        typealias Interface = Feed1
        var value: Int64
        static let initial = Self(value: 0)
    }
    struct Secret: EditableDocument {
        typealias Interface = Feed1
        var value: Int64
        static let initial = Self(value: 0)
    }
}
private enum Feed2: EventInterface {
    static let name = "org.example.Feed2"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Sample.self
        Lost.self
        Reset.self
        Level.self
        Limit.self
        Secret.self
    }
    struct Sample: FixedLayoutEvent, Equatable {
        typealias Interface = Feed2
        let number: UInt64, copies: UInt64
    }
    struct Lost: DomainEvent { typealias Interface = Feed2 }
    struct Reset: Command {
        typealias Interface = Feed2
        static let requirement = PeerRequirement.user("nobody")
    }
    struct Level: DomainDocument {
        typealias Interface = Feed2
        var parts: [Int64]
        static let initial = Self(parts: [])
    }
    struct Limit: EditableDocument {
        typealias Interface = Feed2
        var low: Int64, high: Int64
        static let initial = Self(low: 1, high: 10)
    }
    struct Secret: EditableDocument {
        typealias Interface = Feed2
        var value: Int64
        static let initial = Self(value: 0)
        static let submitRequirement = PeerRequirement.user("nobody")
    }
    static var servingFirst: OlderInterface {
        serving(Feed1.self) { older in
            older.event(Sample.self) { sample, older in
                for _ in 0..<sample.copies { try older.publish(Feed1.Sample(number: Int64(sample.number))) }
            }
            older.nothing(for: Lost.self)
            older.document(Level.self) { Feed1.Level(value: $0.parts.reduce(0, +)) }
            older.document(Limit.self) {
                Feed1.Limit(value: $0.high)
            } submitting: {
                Limit(low: $1.low, high: $0.value)
            }
            older.document(Secret.self) {
                Feed1.Secret(value: $0.value)
            } submitting: { old, _ in
                Secret(value: old.value)
            }
            older.command(Feed1.Reset.self) { _ in Reset() }
        }
    }
}

@Suite("An older version of a volatile interface", .heavy, .tags(.g1)) struct VolatileOlderTests {
    private let bus: PrivateBus
    init() throws { bus = try PrivateBus() }

    private func start() async throws -> EventService {
        let service = try EventService(
            name: "org.example.Feed", on: bus.bus, exporting: Feed2.self, older: Feed2.servingFirst)
        service.handle(Feed2.Reset.self) { _, _ in }
        try await service.start()
        return service
    }
    @Test("events of both versions come in one order when several tasks publish") func order() async throws {
        let service = try await start()
        let relay = try EventRelay(following: "org.example.Feed", on: bus.bus, interfaces: Feed1.self, Feed2.self)
        let old = EventRecorder(relay.publisher, of: Feed1.self)
        let new = EventRecorder(relay.publisher, of: Feed2.self)
        relay.activate()
        try await relay.ready()
        await withTaskGroup { group in
            for task: UInt64 in 0..<4 {
                group.addTask {
                    for number in 0..<100 as Range<UInt64> {
                        try? service.publish(Feed2.Sample(number: task * 1_000 + number, copies: number % 3))
                        if number == 50 { try? service.publish(Feed2.Lost()) }
                    }
                }
            }
        }
        try await relay.barrier()
        let published = new.events(of: Feed2.Sample.self)
        let expected = published.flatMap { sample in (0..<sample.copies).map { _ in Int64(sample.number) } }
        #expect(published.count == 400 && old.events(of: Feed1.Sample.self).map(\.number) == expected)
        #expect(old.gaps.isEmpty && new.gaps.isEmpty)
        try await service.stop()
        #expect(throws: RelayError.self) { try service.publish(Feed2.Sample(number: 1, copies: 1)) }
    }
    @Test("the document of the old version ends as the new one's says when several tasks set it") func documents()
        async throws
    {
        let service = try await start()
        let (old, new) = (try service.document(Feed1.Level.self), try service.document(Feed2.Level.self))
        try new.set(Feed2.Level(parts: [1, 2]))
        #expect(old.state.value == 3)
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for number: Int64 in 0..<50 { try? new.update { $0.parts.append(number) } } }
            }
        }
        #expect(new.state.parts.count == 202 && old.state.value == new.state.parts.reduce(0, +))
        try await service.stop()
    }
    @Test("a caller of an old command has to meet the requirement of the new one, too") func requirement() async throws
    {
        let service = try await start()
        let relay = try EventRelay(following: "org.example.Feed", on: bus.bus, interfaces: Feed1.self)
        relay.activate()
        let error = await #expect(throws: RelayError.self) { try await relay.call(Feed1.Reset()) }
        #expect(error?.code == .notPermitted)
        relay.invalidate()
        try await service.stop()
    }
    @Test("the old document begins as the new one's says, and is submitted as a change of that") func submissions()
        async throws
    {
        let service = try await start()
        let relay = try EventRelay(following: "org.example.Feed", on: bus.bus, interfaces: Feed1.self, Feed2.self)
        relay.activate()
        let first = try await relay.snapshot(of: Feed1.Limit.self)
        #expect(first.state.value == 10 && first.version.sequence == 0)
        let second = try await relay.submit(Feed1.Limit(value: 20), basedOn: first.version, idempotencyKey: "k")
        #expect(try await relay.submit(Feed1.Limit(value: 20), basedOn: first.version, idempotencyKey: "k") == second)
        #expect(await relay.outcome(ofSubmitting: Feed1.Limit(value: 30), basedOn: first.version) == .conflict)
        #expect(try service.document(Feed2.Limit.self).state == Feed2.Limit(low: 1, high: 20))
        #expect(try await relay.snapshot(of: Feed1.Limit.self) == .init(Feed1.Limit(value: 20), version: second))
        // Of the new document alone.
        try await relay.update(Feed2.Limit.self) { $0.low = 5 }
        #expect(try await relay.snapshot(of: Feed1.Limit.self).version == second)
        try await relay.submit(Feed1.Limit(value: 7), basedOn: second)
        #expect(try service.document(Feed2.Limit.self).state == Feed2.Limit(low: 5, high: 7))
        let error = await #expect(throws: RelayError.self) {
            try await relay.submit(Feed1.Secret(value: 1), basedOn: DocumentVersion(epoch: second.epoch, sequence: 0))
        }
        #expect(error?.code == .notPermitted)
        relay.invalidate()
        try await service.stop()
    }
    private func refusal(_ older: OlderInterface, exporting interfaces: any EventInterface.Type...) -> String {
        let error = #expect(throws: RelayError.self) {
            _ = try EventService(name: "org.example.Feed", on: bus.bus, exporting: interfaces, older: [older])
        }
        #expect(error?.code == .invalidArgument)
        return error?.message ?? ""
    }
    @Test("what is not mapped, or mapped twice, is refused by its name") func unmapped() {
        let nothing = refusal(Feed2.serving(Feed1.self) { _ in }, exporting: Feed2.self)
        for name in ["Feed2.Sample", "Feed2.Lost", "Feed2.Level", "Feed1.Reset"] {
            #expect(nothing.contains("org.example.\(name)"), "\(nothing)")
        }
        let twice = refusal(
            Feed2.serving(Feed1.self) { older in
                older.nothing(for: Feed2.Sample.self)
                older.nothing(for: Feed2.Sample.self)
                older.nothing(for: Feed2.Lost.self)
                older.nothing(for: Feed2.Limit.self)
                older.nothing(for: Feed2.Secret.self)
                older.ownHandler(for: Feed1.Reset.self)
            }, exporting: Feed2.self)
        #expect(twice.contains("Sample is mapped twice"))
        #expect(refusal(Feed2.servingFirst).contains("does not export org.example.Feed2"))
        #expect(refusal(Feed2.servingFirst, exporting: Feed1.self, Feed2.self).contains("twice"))
    }
}
