import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

private enum Till1: EventInterface {
    static let name = "org.example.Till1"
    static var contract: Contract<Self> {
        Sold.self
        Sell.self
    }
}
private struct Sold: DomainEvent, Equatable {
    typealias Interface = Till1
    var item: String
}
private struct Sell: Command {
    typealias Interface = Till1
    var item: String
}
private enum Bell1: EventInterface {
    static let name = "org.example.Bell1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Rung.self
        Ring.self
    }
}
private struct Rung: DomainEvent, Equatable {
    typealias Interface = Bell1
    var times: Int32
}
private struct Ring: Command {
    typealias Interface = Bell1
    var times: Int32
}

@Suite("A service and its journal", .heavy, .tags(.g5)) struct ServiceUnitTests {
    private static let name = "org.example.Till"

    @Test("handlers publish through their context, and the service runs units of work of its journal") func context()
        async throws
    {
        let folder = try TestFolder()
        let bus = try PrivateBus()
        let journal = try EventJournal(directory: folder.path)
        let service = try EventService(
            name: Self.name, on: bus.bus, exporting: Till1.self, Bell1.self, journal: journal)
        service.handle(Sell.self) { sell, context in try await context.publish(Sold(item: sell.item)) }
        service.handle(Ring.self) { ring, context in try context.publish(Rung(times: ring.times)) }
        try await service.start()
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Till1.self, Bell1.self)
        let (sold, rung) = (Log<Sold>(), Log<Rung>())
        let subscriptions = [
            try relay.subscribe(to: Sold.self) {
                sold.add($0)
            } onGap: { _ in
            },
            try relay.subscribe(to: Rung.self) {
                rung.add($0)
            } onGap: { _ in
            },
        ]
        relay.activate()
        try await relay.ready()
        try await relay.call(Sell(item: "tea"))
        try await relay.call(Ring(times: 3))
        try await service.unitOfWork { unit in try unit.publish(Sold(item: "cup")) }
        #expect(await eventually { sold.count == 2 && rung.count == 1 })
        #expect(sold.values == [Sold(item: "tea"), Sold(item: "cup")] && rung.values == [Rung(times: 3)])
        withExtendedLifetime(subscriptions) {}
        try await service.stop()
    }
    @Test("a context of a test records what its handler publishes") func recorded() async throws {
        let published = Log<String>()
        let context = CommandContext(peer: Peer(userID: 1), onPublish: { published.add("\($0)") })
        try await context.publish(Sold(item: "tea"))
        try context.publish(Rung(times: 2))
        #expect(published.values == ["\(Sold(item: "tea"))", "\(Rung(times: 2))"])
    }
    @Test("a unit of work without a journal is refused before the service starts") func without() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: Self.name, on: bus.bus, exporting: Bell1.self)
        service.handle(Ring.self) { _, _, unit in try unit.publish(Rung(times: 1)) }
        let error = await #expect(throws: RelayError.self) { try await service.unitOfWork { _ in } }
        #expect(error?.code == .invalidArgument && error?.message.contains("EventJournal") == true)
        let unstarted = await #expect(throws: RelayError.self) { try await service.start() }
        #expect(unstarted?.code == .notFound && unstarted?.message.contains("EventJournal") == true)
    }
}
