import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

enum Older: Sendable {
    /// `Shop1` as it was before it had `Restocked`.
    enum Shop1: EventInterface {
        static let name = "org.example.Shop1"
        static let durability = Volatile()
        static var contract: Contract<Self> { Sold.self }
    }
    struct Sold: DomainEvent {
        typealias Interface = Shop1
        var item: String, price: Double, tags: [String]
    }
}

/// What the present service lacks, or has in another shape: told once to each subscription, and mended by the next service.
@Suite("Interfaces and events that a service lacks", .heavy, .tags(.g2)) struct LackingTests {
    private static let name = "org.example.Shop"
    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func note(_ line: String) { lines.withLock { $0.append(line) } }
        func count(_ line: String) -> Int { all.filter { $0 == line }.count }
        func wait(for line: String, count: Int = 1) async -> Bool { await eventually { self.count(line) >= count } }
        func states(_ relay: EventRelay) -> Subscription {
            relay.publisher.subscribe(to: EventRelay.State.self, delivery: .immediate) { [self] state in
                if case .invalidated(let error) = state { note("invalidated \(error)") } else { note("\(state)") }
            } onGap: { _ in
            }
        }
        func interfaces(_ relay: EventRelay) -> Subscription {
            relay.publisher.subscribe(to: EventRelay.InterfaceChange.self, delivery: .immediate) {
                [self] change in
                let name = change.interface.split(separator: ".").last ?? ""
                switch change.state {
                case .unknown: note("\(name) unknown")
                case .available: note("\(name) available")
                case .missing: note("\(name) missing")
                }
            } onGap: { _ in
            }
        }
        func events<E: DomainEvent>(_ relay: EventRelay, _ type: E.Type, _ tag: String = "") -> Subscription {
            relay.publisher.subscribe(to: type, delivery: .immediate) { [self] _ in
                note("\(tag)\(E.name)")
            } onGap: { [self] gap in
                note("\(tag)\(E.name): \(gap.reason.rawValue) \(gap.detail ?? "")")
            }
        }
    }
    private func running(_ service: EventService) async -> Task<Void, any Error> {
        let ready = Atomic<Bool>(false)
        let running = Task { try await service.run { ready.store(true, ordering: .releasing) } }
        #expect(await eventually { ready.load(ordering: .acquiring) })
        return running
    }

    @Test("an interface that the service lacks is missing until a service comes that has it") func interface()
        async throws
    {
        let bus = try PrivateBus()
        let (log, later) = (Log(), Log())
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Plain1.self, Older.Shop1.self)
        var subscriptions = [
            log.states(relay), log.interfaces(relay), log.events(relay, Said.self), log.events(relay, Older.Sold.self),
        ]
        #expect(relay.availability(of: Plain1.self) == .unknown && relay.availability(of: Older.Shop1.self) == .unknown)
        relay.activate()
        let old = try EventService(name: Self.name, on: bus.bus, exporting: Older.Shop1.self)
        let first = await running(old)
        // The connection is as it should be.
        #expect(await log.wait(for: "Plain1 missing"))
        #expect(await log.wait(for: "active"))
        #expect(await log.wait(for: "Shop1 available"))
        guard case .missing(let reason) = relay.availability(of: Plain1.self) else {
            Issue.record("\(relay.availability(of: Plain1.self))")
            return
        }
        #expect(reason.contains(Plain1.name) && relay.availability(of: Older.Shop1.self) == .available)
        let told = log.all.filter { $0.hasPrefix("Said: schemaMismatch") }
        #expect(told.count == 1 && told[0].contains(Plain1.name), "\(log.all)")
        // The rest goes on.
        #expect(
            await eventually {
                try? old.publish(Older.Sold(item: "pen", price: 1, tags: []))
                return log.count("Sold") > 0
            })
        #expect(log.count("interrupted") == 0)
        // Who comes later hears of it, too, and only that one.
        subscriptions.append(later.events(relay, Said.self))
        #expect(await eventually { later.all.count == 1 })
        #expect(later.all == told && log.all.filter { $0.hasPrefix("Said: schemaMismatch") } == told)
        first.cancel()
        try await first.value
        #expect(await log.wait(for: "interrupted"))
        #expect(log.count("Plain1 unknown") == 1 && log.count("Shop1 unknown") == 1)
        #expect(relay.availability(of: Plain1.self) == .unknown)
        let new = try EventService(name: Self.name, on: bus.bus, exporting: Plain1.self, Older.Shop1.self)
        let second = await running(new)
        #expect(await log.wait(for: "active", count: 2))
        #expect(await log.wait(for: "Plain1 available"))
        #expect(relay.availability(of: Plain1.self) == .available && log.count("Plain1 missing") == 1)
        try new.publish(Said(thread: 0, number: 1))
        #expect(await log.wait(for: "Said"))
        #expect(await later.wait(for: "Said"))
        #expect(!log.all.contains { $0.hasPrefix("invalidated") })
        second.cancel()
        try await second.value
        withExtendedLifetime(subscriptions) {}
    }
    @Test("of a service that leaves before the relay is in step with it nothing is known any more") func early()
        async throws
    {
        let bus = try PrivateBus()
        let log = Log()
        let relay = try EventRelay(following: Desk.name, on: bus.bus, interfaces: Plain1.self)
        let subscriptions = [log.states(relay), log.interfaces(relay), log.events(relay, Said.self)]
        let service = try await FakeService.start(
            Desk.name, Plain1.name, on: bus.bus, epoch: 1, schemas: FollowingTests.schemas)
        service.ignoreAttaches()
        relay.activate()
        #expect(await log.wait(for: "Plain1 available"))
        #expect(relay.availability(of: Plain1.self) == .available)
        service.vanish()
        #expect(await log.wait(for: "Plain1 unknown"))
        #expect(relay.availability(of: Plain1.self) == .unknown)
        // The relay's own state is what it was.
        #expect(log.count("active") == 0 && log.count("interrupted") == 0)
        withExtendedLifetime(subscriptions) {}
    }
    @Test("what is lacking keeps nobody from being in step with the rest") func unsubscribing() async throws {
        let bus = try PrivateBus()
        let log = Log()
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Plain1.self, Older.Shop1.self)
        let rest = [log.states(relay), log.interfaces(relay), log.events(relay, Older.Sold.self)]
        let lacking = log.events(relay, Said.self)
        relay.activate()
        let service = await running(try EventService(name: Self.name, on: bus.bus, exporting: Older.Shop1.self))
        #expect(await log.wait(for: "Plain1 missing"))
        #expect(await log.wait(for: "active"))
        lacking.cancel()
        #expect(log.count("interrupted") == 0)
        service.cancel()
        try await service.value
        withExtendedLifetime(rest) {}
    }
    @Test("an event that the service lacks is told to its subscriptions, and the interface's others come") func event()
        async throws
    {
        let bus = try PrivateBus()
        let (log, later) = (Log(), Log())
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Shop1.self)
        var subscriptions = [log.states(relay), log.events(relay, Sold.self), log.events(relay, Restocked.self)]
        relay.activate()
        let old = try EventService(name: Self.name, on: bus.bus, exporting: Older.Shop1.self)
        let first = await running(old)
        #expect(await log.wait(for: "active"))
        try old.publish(Older.Sold(item: "pen", price: 1, tags: []))
        #expect(await log.wait(for: "Sold"))
        subscriptions.append(later.events(relay, Restocked.self))
        #expect(await eventually { !later.all.isEmpty })
        let gap = "Restocked: schemaMismatch \(Self.name) has no event Restocked in \(Shop1.name)"
        #expect(later.all == [gap] && log.count(gap) == 1 && log.count("Sold") == 1, "\(log.all)")
        #expect(!log.all.contains { $0.hasPrefix("Sold: ") }, "\(log.all)")
        first.cancel()
        try await first.value
        let new = try EventService(name: Self.name, on: bus.bus, exporting: Shop1.self)
        new.handle(Order.self) { _, _ in Order.Reply(orderID: 1) }
        new.handle(Clear.self) { _, _ in }
        let second = await running(new)
        #expect(await log.wait(for: "active", count: 2))
        try new.publish(Restocked(item: "pen", count: 1))
        #expect(await log.wait(for: "Restocked"))
        second.cancel()
        try await second.value
        withExtendedLifetime(subscriptions) {}
    }
    @Test("a single event that the service lacks is told, too, and no reason to give up") func singleEvent()
        async throws
    {
        let bus = try PrivateBus()
        let log = Log()
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Shop1.self)
        let subscriptions = [log.states(relay), log.events(relay, Restocked.self)]
        relay.activate()
        let service = await running(try EventService(name: Self.name, on: bus.bus, exporting: Older.Shop1.self))
        #expect(
            await log.wait(for: "Restocked: schemaMismatch \(Self.name) has no event Restocked in \(Shop1.name)"))
        #expect(await log.wait(for: "active"))
        service.cancel()
        try await service.value
        withExtendedLifetime(subscriptions) {}
    }
    @Test("a mismatch is told once to each subscription, also to one that comes later") func laterSubscriber()
        async throws
    {
        let bus = try PrivateBus()
        let (log, later) = (Log(), Log())
        let relay = try EventRelay(following: Desk.name, on: bus.bus, interfaces: Plain1.self)
        var subscriptions = [log.states(relay), log.events(relay, Said.self)]
        relay.activate()
        let other = EventSchema(
            event: "Said", fields: [WireField(name: "thread", type: .int32, swiftType: "Int32")])
        let service = try await FakeService.start(Desk.name, Plain1.name, on: bus.bus, epoch: 1, schemas: [other])
        #expect(await log.wait(for: "active"))
        // One only: when it has been told, none is under way that the later ones could be told of.
        try service.publish("Said", [.int32(1)])
        #expect(await eventually { log.all.contains { $0.hasPrefix("Said: schemaMismatch Said, field 'number'") } })
        subscriptions.append(later.events(relay, Said.self))
        let stream = relay.publisher.events(of: Said.self)
        for _ in 1...3 { try service.publish("Said", [.int32(1)]) }
        #expect(await eventually { !later.all.isEmpty })
        for _ in 1...3 { try service.publish("Said", [.int32(1)]) }
        var iterator = stream.makeAsyncIterator()
        guard case .gap(let gap)? = await iterator.next() else {
            Issue.record("the stream was told nothing")
            return
        }
        #expect(gap.reason == .schemaMismatch && gap.sequences == 2...UInt64.max)
        service.vanish()
        #expect(await log.wait(for: "interrupted"))
        #expect(log.all.filter { $0.hasPrefix("Said: schemaMismatch") }.count == 1, "\(log.all)")
        #expect(later.all.filter { $0.hasPrefix("Said: schemaMismatch") }.count == 1, "\(later.all)")
        withExtendedLifetime(subscriptions) {}
    }
    @Test("after invalidate() no event comes from the bus, though many are under way") func invalidation() async throws
    {
        let bus = try PrivateBus()
        let seen = Mutex<[Int64]>([])
        let relay = try EventRelay(following: Desk.name, on: bus.bus, interfaces: Plain1.self)
        let log = Log()
        let subscriptions = [
            log.states(relay),
            relay.publisher.subscribe(to: Said.self, delivery: .immediate) { [weak relay] event in
                seen.withLock { $0.append(event.number) }
                if event.number == 50 { relay?.invalidate() }
            } onGap: { _ in
            },
        ]
        relay.activate()
        let service = await running(try EventService(name: Desk.name, on: bus.bus, exporting: Plain1.self))
        #expect(await log.wait(for: "active"))
        service.cancel()
        try await service.value
        let fields = [
            WireField(name: "thread", type: .int32, swiftType: "Int32"),
            WireField(name: "number", type: .int64, swiftType: "Int64"),
        ]
        let fake = try await FakeService.start(
            Desk.name, Plain1.name, on: bus.bus, epoch: 1, schemas: [EventSchema(event: "Said", fields: fields)])
        // The first service's events came by its ring: those of this one come once the bus has the rule for them again.
        #expect(await log.wait(for: "active", count: 2))
        for number in 1...2_000 { try fake.publish("Said", [.int32(0), .int64(Int64(number))]) }
        #expect(await eventually { seen.withLock { $0.contains(50) } })
        // Ends when the relay's thread has let go of the bus.
        _ = try? await relay.follower.call(interface: Plain1.name, member: "Nothing")
        #expect(seen.withLock { $0 } == Array(1...50))
        fake.vanish()
        withExtendedLifetime(subscriptions) {}
    }
}
