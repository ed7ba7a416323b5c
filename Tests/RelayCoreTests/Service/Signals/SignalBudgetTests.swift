import CDBus
import Dispatch
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

enum Rations1: EventInterface {
    static let name = "org.example.Rations1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.perSecond(50, burst: 20)
    static var contract: Contract<Self> {
        Rationed.self
        Ration.self
    }
}
/// Publishes so many.
struct Ration: Command {
    typealias Interface = Rations1
    var count: Int32
}
struct Rationed: DomainEvent {
    typealias Interface = Rations1
    var number: Int64
}
/// The same, for those of one group only.
enum RestrictedRations1: EventInterface {
    static let name = "org.example.RestrictedRations1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.perSecond(50, burst: 20)
    static var requirement: PeerRequirement { .group(String(cString: getgrgid(getgid()).pointee.gr_name)) }
    static var contract: Contract<Self> { RestrictedRationed.self }
}
struct RestrictedRationed: DomainEvent {
    typealias Interface = RestrictedRations1
    var number: Int64
}
enum Poured1: EventInterface {
    static let name = "org.example.Poured1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.unlimited
    static var contract: Contract<Self> { Poured.self }
}
struct Poured: DomainEvent {
    typealias Interface = Poured1
    var bytes: [UInt8]
}

@Suite("The signal budget, on a bus", .heavy, .tags(.g3, .g4)) struct SignalBudgetTests {
    /// A service of all three, and a peer that hears what the bus brings.
    private final class Place: Sendable {
        let bus: PrivateBus
        let service: EventService
        let peer: BusStranger
        private let running: Task<Void, any Error>

        init(_ bus: PrivateBus? = nil, timing: ServiceTiming = ServiceTiming()) async throws {
            let bus = try bus ?? PrivateBus()
            self.bus = bus
            let service = try EventService(
                "org.example.Budget", bus.bus, [Rations1.self, RestrictedRations1.self, Poured1.self], journal: nil,
                timing: timing
            ) { _ in }
            self.service = service
            service.handle(Ration.self) { command, _ in
                for number in 0..<Int64(command.count) { try service.publish(Rationed(number: number)) }
            }
            peer = try await BusStranger.join(bus.bus)
            for interface in [Rations1.name, RestrictedRations1.name, Stream1.name] { try await peer.listen(interface) }
            let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
            running = Task {
                defer { isReady.finish() }
                try await service.run { isReady.finish() }
            }
            for await _ in ready {}
        }
        func stop() async throws {
            running.cancel()
            try await running.value
        }
        func attach(_ peer: BusStranger, to interface: String) async throws {
            let arguments: [DBusValue] = [
                .uint64(0), .uint64(0), .array(.string, [.string("*")]), AttachOptions().value,
            ]
            _ = try await peer.call(
                "org.example.Budget", Stream1.path(of: interface), Stream1.name, "Attach", arguments)
        }
    }
    /// What a peer heard, in order: an event's sequence, or how far a `Head` says that the interface has come.
    private enum Heard: Equatable { case event(UInt64), head(UInt64) }
    private func heard(_ peer: BusStranger, _ event: String) -> [Heard] {
        peer.signals.compactMap { signal in
            if signal.member == event, case .uint64(let sequence) = signal.values[signal.values.count - 3] {
                return .event(sequence)
            }
            if signal.member == "Head", case .uint64(let sequence) = signal.values[1], sequence > 0 {
                return .head(sequence)
            }
            return nil
        }
    }
    /// Publishes ten a second until the peer has heard an event past this one; its place in what was heard.
    private func nextEvent(
        _ peer: BusStranger, _ event: String, past last: UInt64, _ publish: () throws -> Void
    ) async throws -> Int? {
        var next = ContinuousClock.now
        func place() -> Int? {
            heard(peer, event).firstIndex { if case .event(let sequence) = $0 { sequence > last } else { false } }
        }
        _ = try await eventually {
            if ContinuousClock.now >= next {
                next += .milliseconds(100)
                try publish()
            }
            return place() != nil
        }
        return place()
    }

    @Test("past the budget signals pause and Head tells how far; after a calm second they go on, the range told first")
    func pause() async throws {
        let place = try await Place()
        for number in 1...100 as ClosedRange<Int64> { try place.service.publish(Rationed(number: number)) }
        #expect(await eventually { heard(place.peer, "Rationed").contains(.head(100)) })
        let count = sent(heard(place.peer, "Rationed"))
        let found = try await nextEvent(place.peer, "Rationed", past: count) {
            try place.service.publish(Rationed(number: 0))
        }
        let index = try #require(found)
        let all = heard(place.peer, "Rationed")
        guard case .event(let sequence) = all[index] else { return }
        #expect(all[index - 1] == .head(sequence - 1), "\(all)")
        let event = place.peer.signals.first { $0.member == "Rationed" && $0.values[1] == .uint64(sequence) }
        #expect(event?.values[2] == .uint64(sequence - 1), "previous is the event that was left out")
        try await place.stop()
    }
    /// How many events came before the first head: the burst, and what time gave for as long as the publishing took.
    private func sent(_ all: [Heard]) -> UInt64 {
        let events = all.prefix { if case .event = $0 { true } else { false } }
        #expect(20..<100 ~= events.count && Array(events) == (1...events.count).map { .event(UInt64($0)) }, "\(all)")
        return UInt64(events.count)
    }
    @Test("while signals are paused, a reply to a subscriber comes after a Head of what was published before it")
    func reply() async throws {
        let place = try await Place()
        try await place.attach(place.peer, to: Rations1.name)
        var last: UInt64 = 0
        // Each is more than the budget has: a pause may be over by the time of the next.
        for count in [100, 101, 103] as [Int32] {
            last += UInt64(count)
            let path = Stream1.path(of: Rations1.name)
            _ = try await place.peer.call("org.example.Budget", path, Rations1.name, "Ration", [.int32(count)])
            // Without waiting: what the peer had heard when the reply came.
            #expect(heard(place.peer, "Rationed").contains(.head(last)))
        }
        try await place.stop()
    }
    @Test("a restricted interface's signals and heads go to those attached alone, paused or not")
    func restricted() async throws {
        let place = try await Place()
        let attached = try await BusStranger.join(place.bus.bus)
        try await place.attach(attached, to: RestrictedRations1.name)
        for number in 1...100 as ClosedRange<Int64> { try place.service.publish(RestrictedRationed(number: number)) }
        #expect(await eventually { heard(attached, "RestrictedRationed").contains(.head(100)) })
        let count = sent(heard(attached, "RestrictedRationed"))
        let index = try await nextEvent(attached, "RestrictedRationed", past: count) {
            try place.service.publish(RestrictedRationed(number: 0))
        }
        #expect(index != nil)
        #expect(heard(place.peer, "RestrictedRationed").isEmpty, "it did not attach")
        try await place.stop()
    }
    @Test("a restricted interface sends no signals to a peer that reads its ring, and does again when that is closed")
    func restrictedRing() async throws {
        let place = try await Place()
        let (other, onRing) = (try await BusStranger.join(place.bus.bus), try await RingPeer.join(place.bus.bus))
        var ring = try await onRing.openRing("org.example.Budget", RestrictedRations1.name)
        for peer in [other, onRing.stranger] { try await place.attach(peer, to: RestrictedRations1.name) }
        let path = Stream1.path(of: RestrictedRations1.name)
        for number in 1...100 as ClosedRange<Int64> { try place.service.publish(RestrictedRationed(number: number)) }
        #expect(try await onRing.drain(&ring, to: 100).count == 100)
        #expect(await eventually { heard(other, "RestrictedRationed").contains(.head(100)) })
        _ = try await onRing.stranger.call("org.example.Budget", "/", "org.freedesktop.DBus.Peer", "Ping")
        #expect(heard(onRing.stranger, "RestrictedRationed").isEmpty, "neither an event nor a Head")
        for _ in 1...2 { _ = try await onRing.stranger.call("org.example.Budget", path, Stream1.name, "CloseRing") }
        let next = try await nextEvent(onRing.stranger, "RestrictedRationed", past: 100) {
            try place.service.publish(RestrictedRationed(number: 0))
        }
        #expect(next != nil)
        try await place.stop()
        #expect(await eventually { onRing.stranger.signals.contains { $0.member == "End" } })
    }
    @Test("a peer that has closed its ring gets a Head before a reply, as those without one") func closedRing()
        async throws
    {
        let place = try await Place()
        let peer = try await RingPeer.join(place.bus.bus)
        let path = Stream1.path(of: Rations1.name)
        try await peer.stranger.listen(Stream1.name)
        _ = try await peer.call("org.example.Budget", Rations1.name)
        _ = try await peer.stranger.call("org.example.Budget", path, Stream1.name, "CloseRing")
        try await place.attach(peer.stranger, to: Rations1.name)
        var last: UInt64 = 0
        // Each is more than the budget has: a pause may be over by the time of the next.
        for count in [100, 101, 103] as [Int32] {
            last += UInt64(count)
            _ = try await peer.stranger.call("org.example.Budget", path, Rations1.name, "Ration", [.int32(count)])
            #expect(heard(peer.stranger, "Rationed").contains(.head(last)))
        }
        try await place.stop()
    }
    enum Change: CaseIterable, Sendable { case attach, closeRing }
    @Test(
        "during a pause Head is rare while the ring serves all that attached, and soon for one that it does not serve",
        arguments: Change.allCases)
    func servedByRing(_ change: Change) async throws {
        let timing = ServiceTiming {
            $0.signals.soon = .milliseconds(5)
            $0.signals.late = .seconds(3_600)
        }
        let place = try await Place(timing: timing)
        let (other, onRing) = (try await BusStranger.join(place.bus.bus), try await RingPeer.join(place.bus.bus))
        let ring = try await onRing.openRing("org.example.Budget", Rations1.name)
        try await place.attach(onRing.stranger, to: Rations1.name)
        try await place.attach(other, to: RestrictedRations1.name)
        func heads() -> [Heard] {
            heard(place.peer, "Rationed").filter { if case .head = $0 { true } else { false } }
        }
        for number in 1...100 as ClosedRange<Int64> { try place.service.publish(Rationed(number: number)) }
        // A plain client learns of the pause.
        #expect(await eventually { !heads().isEmpty })
        for number in 101...200 as ClosedRange<Int64> { try place.service.publish(Rationed(number: number)) }
        // Each waits for a look at a pause, which comes as often as it would here.
        for round in 1...5 as ClosedRange<UInt64> {
            for number in 1...100 as ClosedRange<Int64> {
                try place.service.publish(RestrictedRationed(number: number))
            }
            #expect(await eventually { heard(other, "RestrictedRationed").contains(.head(100 * round)) })
        }
        #expect(heads().count == 1, "\(heads())")
        switch change {
        case .attach: try await place.attach(other, to: Rations1.name)
        case .closeRing:
            _ = try await onRing.stranger.call(
                "org.example.Budget", Stream1.path(of: Rations1.name), Stream1.name, "CloseRing")
        }
        #expect(await eventually { heads().last == .head(200) })
        try await place.stop()
        withExtendedLifetime(ring) {}
    }
    @Test(
        "a subscriber that takes nothing pauses all interfaces, far from the bus's limits; when it reads, they go on",
        arguments: BusFiguresTests.Kind.allCases)
    func pressure(_ kind: BusFiguresTests.Kind) async throws {
        let place = try await Place(kind.bus())
        let stopped = try RawPeer(place.bus.address)
        dbus_bus_add_match(stopped.pointer, "interface='\(Poured1.name)'", nil)
        dbus_connection_flush(stopped.pointer)
        // Three times what dbus-broker has room for here, more than dbus-daemon's limit.
        for _ in 0..<400 { try place.service.publish(Poured(bytes: [UInt8](repeating: 1, count: 500_000))) }
        try place.service.publish(Rationed(number: 1))
        #expect(await eventually { heard(place.peer, "Rationed").contains(.head(400)) }, "of the one that pours")
        #expect(await eventually { heard(place.peer, "Rationed").contains(.head(1)) }, "of the other")
        #expect(!heard(place.peer, "Rationed").contains(.event(1)))
        let owner = try await place.peer.call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner",
            [.string("org.example.Budget")])
        guard case .string(let name)? = owner.first else { return }
        let question = try BusFigures.question(to: kind.source, by: name)
        let figures = try BusFigures(try await place.peer.connection.call(question), from: kind.source)
        #expect(figures.held > 4 << 20, "the subscriber took it all")
        #expect(figures.held < 34 << 20)
        let reading = Reading(stopped)
        reading.start()
        let index = try await nextEvent(place.peer, "Rationed", past: 1) {
            try place.service.publish(Rationed(number: 2))
        }
        #expect(index != nil)
        reading.stop()
        try await place.stop()
    }
    /// Reads on a thread of its own: it waits there, and tasks' threads are few.
    private final class Reading: @unchecked Sendable {  // The peer is used on that thread only, once it runs.
        private let peer: RawPeer
        private let isOver = Atomic<Bool>(false)
        private let hasEnded = DispatchSemaphore(value: 0)

        init(_ peer: RawPeer) { self.peer = peer }
        func start() {
            DispatchQueue(label: "reading").async { [self] in
                while !isOver.load(ordering: .relaxed), dbus_connection_read_write(peer.pointer, 10) != 0 {
                    while let message = dbus_connection_pop_message(peer.pointer) { dbus_message_unref(message) }
                }
                hasEnded.signal()
            }
        }
        func stop() {
            isOver.store(true, ordering: .relaxed)
            hasEnded.wait()
        }
    }
}
