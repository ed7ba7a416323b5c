import RelayCore
import RelayTestKit
import TestTraits
import Testing
import RelayInspection

/// As the service has it.
private enum Parcels1: EventInterface {
    static let name = "org.example.Parcels1"
    static var contract: Contract<Self> {
        Sent.self
        SetPriority.self
    }
    struct Sent: DomainEvent {
        typealias Interface = Parcels1
        var number: Int64
    }
    struct SetPriority: Command {
        typealias Interface = Parcels1
        var priority: Priority
        enum Priority: Int32, Codable, CaseIterable, Sendable { case low, high }
    }
}
/// As a later program has it: of the events of the service it can read none.
private enum LaterParcels1: EventInterface {
    static let name = Parcels1.name
    static var contract: Contract<Self> {
        Sent.self
        SetPriority.self
    }
    struct Sent: DomainEvent {
        typealias Interface = LaterParcels1
        var number: Int64, weight: Double
    }
    /// Takes values that the service knows nothing of.
    struct SetPriority: Command {
        typealias Interface = LaterParcels1
        var priority: Int32
    }
}
/// As a program has it that sends other fields.
private enum OtherParcels1: EventInterface {
    static let name = Parcels1.name
    static var contract: Contract<Self> { SetPriority.self }
    struct SetPriority: Command {
        typealias Interface = OtherParcels1
        var priority: String
    }
}
private enum Beats1: EventInterface {
    static let name = "org.example.Beats1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Beat.self }
    struct Beat: DomainEvent {
        typealias Interface = Beats1
        var number: Int64
    }
}

@Suite("Every drop is counted somewhere", .heavy, .tags(.g2)) struct DropCountTests {
    private static let name = "org.example.Post"
    private let harness = TestHarness()

    private func service() async throws -> EventService {
        let service = try EventService(
            name: Self.name, on: harness.bus, exporting: Parcels1.self, Beats1.self, journal: MemoryLog())
        service.handle(Parcels1.SetPriority.self) { _, _ in }
        try await harness.start(service)
        return service
    }

    @Test("events that cannot be decoded: live ones once, and once more for each subscription from a position")
    func unreadable() async throws {
        let service = try await service()
        for number in Int64(1)...4 { try await service.publish(Parcels1.Sent(number: number)) }
        let relay = try EventRelay(following: Self.name, on: harness.bus, interfaces: LaterParcels1.self)
        let recorder = EventRecorder(relay.publisher, of: LaterParcels1.self)
        relay.activate()
        try await harness.settle()
        #expect(relay.metrics.streams.map(\.unreadable) == [0])
        for number in Int64(5)...7 { try await service.publish(Parcels1.Sent(number: number)) }
        try await harness.settle()
        // One gap for the subscriber, since it lasts; but three events.
        #expect(recorder.events.isEmpty && recorder.gaps.map(\.reason) == [.schemaMismatch])
        var stream = try #require(relay.metrics.streams.first)
        #expect((stream.unreadable, stream.events, stream.gaps.count) == (3, 3, 0))

        let subscription = try relay.subscribe(to: LaterParcels1.Sent.self, from: .beginning) { _ in
        } onGap: { _ in
        }
        try await harness.settle()
        stream = try #require(relay.metrics.streams.first)
        #expect(subscription.missed == 7 && stream.unreadable == 3 + 7)
        #expect(relay.metrics.overflowed == 0)
    }
    @Test("events for which a buffer had no room: the publisher's, and those of a position")
    func overflow() async throws {
        let service = try await service()
        let relay = try EventRelay(following: Self.name, on: harness.bus, interfaces: Beats1.self)
        let live = relay.publisher.events(of: Beats1.Beat.self, buffer: .bufferingNewest(2))
        relay.activate()
        try await harness.settle()
        for number in Int64(1)...10 { try service.publish(Beats1.Beat(number: number)) }
        try await harness.settle()
        #expect((relay.metrics.overflowed, relay.publisher.overflowed, live.missed) == (8, 8, 8))
        live.cancel()
        let positioned = try relay.events(of: Beats1.Beat.self, from: .now, buffer: .bufferingOldest(3))
        try await harness.settle()
        for number in Int64(11)...20 { try service.publish(Beats1.Beat(number: number)) }
        try await harness.settle()
        #expect((relay.metrics.overflowed, relay.publisher.overflowed, positioned.missed) == (8 + 7, 8, 7))
        #expect(relay.metrics.streams.map(\.unreadable) == [0])
    }
    @Test("calls with a value that cannot be decoded; what the contract rules out is not sent") func commands()
        async throws
    {
        let service = try await service()
        let later = try EventRelay(following: Self.name, on: harness.bus, interfaces: LaterParcels1.self)
        let other = try EventRelay(following: Self.name, on: harness.bus, interfaces: OtherParcels1.self)
        for relay in [later, other] { relay.activate() }
        try await later.call(LaterParcels1.SetPriority(priority: 1))
        await #expect(throws: RelayError.self) { try await later.call(LaterParcels1.SetPriority(priority: 7)) }
        #expect(service.metrics.commands.unreadable == 1)
        await #expect(throws: RelayError.self) { try await other.call(OtherParcels1.SetPriority(priority: "high")) }
        let commands = service.metrics.commands
        #expect((commands.replied, commands.failed, commands.unreadable) == (1, 0, 1))
    }
}
