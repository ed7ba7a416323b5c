import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

enum Kiosk1: EventInterface {
    static let name = "org.example.Kiosk1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Vended.self
        Sell.self
    }
}
struct Vended: DomainEvent, Equatable {
    typealias Interface = Kiosk1
    var number: Int64
}
struct Sell: Command {
    typealias Interface = Kiosk1
    var number: Int64
    struct Reply: Codable, Sendable { var number: Int64 }
}

/// A service that ends by itself.
private final class Kiosk: Sendable {
    private struct State {
        var sold: [Int64] = []
        var isStopping = false
        var doors: [CheckedContinuation<Void, Never>] = []
    }
    private final class Book: Sendable { let state = Mutex(State()) }

    static let name = "org.example.Kiosk"
    static let path = "/org/example/Kiosk1"
    let service: EventService
    private let running: Task<Void, any Error>
    private let book: Book
    var sold: [Int64] { book.state.withLock { $0.sold } }
    var isStopping: Bool { book.state.withLock { $0.isStopping } }

    /// - Parameter onStopping: is called when the end was decided.
    init(
        _ bus: Bus, idleExit: Duration = .zero,
        onStopping: @escaping @Sendable (EventService) async -> Void = { _ in }
    ) async throws {
        let service = try EventService(name: Self.name, on: bus, exporting: Kiosk1.self)
        let book = Book()
        service.handle(Sell.self) { command, _ in
            // A negative one waits at the door.
            if command.number < 0 {
                await withCheckedContinuation { door in book.state.withLock { $0.doors.append(door) } }
            }
            book.state.withLock { $0.sold.append(command.number) }
            return Sell.Reply(number: command.number)
        }
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        running = Task {
            defer { isReady.finish() }
            try await service.run(idleExit: idleExit) {
                isReady.finish()
            } onStopping: {
                book.state.withLock { $0.isStopping = true }
                await onStopping(service)
            }
        }
        (self.service, self.book) = (service, book)
        for await _ in ready {}
    }
    /// Lets those in that wait, once there are so many.
    func open(_ count: Int) async {
        #expect(await eventually { book.state.withLock { $0.doors.count } == count })
        for door in book.state.withLock({ $0.doors }) { door.resume() }
    }
    func end() async throws { try await running.value }
    func cancel() { running.cancel() }
}

@Suite("The end of a service that nobody uses", .heavy, .tags(.g6)) struct IdleExitTests {
    private func sell(_ peer: BusStranger, _ number: Int64) throws -> Task<[DBusValue], any Error> {
        try peer.begin(Kiosk.name, Kiosk.path, Kiosk1.name, "Sell", [.int64(number)])
    }

    @Test("with no time it ends behind the last answer, and says so before the name is free") func atOnce() async throws
    {
        let bus = try PrivateBus()
        let peer = try await BusStranger.join(bus.bus)
        let kiosk = try await Kiosk(bus.bus)
        #expect(!kiosk.isStopping, "nobody has used it yet")
        #expect(try await sell(peer, 7).value == [.int64(7)])
        try await kiosk.end()
        #expect(kiosk.isStopping && kiosk.sold == [7])
        #expect(try await !peer.hasOwner(Kiosk.name))
    }
    @Test("calls that run or wait keep it") func calls() async throws {
        let bus = try PrivateBus()
        let (one, other) = (try await BusStranger.join(bus.bus), try await BusStranger.join(bus.bus))
        let kiosk = try await Kiosk(bus.bus)
        let waiting = [try sell(one, -1), try sell(one, 2)]
        let quick = try sell(other, 3)
        #expect(try await quick.value == [.int64(3)])
        // A round trip behind what has ended: had it decided, the name would be free.
        #expect(try await other.hasOwner(Kiosk.name))
        #expect(!kiosk.isStopping)
        await kiosk.open(1)
        for call in waiting { _ = try await call.value }
        try await kiosk.end()
        #expect(kiosk.sold == [3, -1, 2])
    }
    @Test("a relay on the ring keeps it, and its departure ends it") func relay() async throws {
        let bus = try PrivateBus()
        let peer = try await BusStranger.join(bus.bus)
        let kiosk = try await Kiosk(bus.bus)
        let relay = try EventRelay(following: Kiosk.name, on: bus.bus, interfaces: Kiosk1.self)
        let seen = Mutex<[Int64]>([])
        let subscription = relay.publisher.subscribe(to: Vended.self, delivery: .immediate) { event in
            seen.withLock { $0.append(event.number) }
        } onGap: { _ in
        }
        relay.activate()
        // Attached, and with its ring.
        #expect(await eventually { kiosk.service.core.interfaces[0].stream.users == 2 })
        _ = try await sell(peer, 1).value
        try kiosk.service.publish(Vended(number: 1))
        #expect(await eventually { seen.withLock { $0 } == [1] })
        #expect(!kiosk.isStopping)
        subscription.cancel()
        relay.invalidate()
        try await kiosk.end()
    }
    @Test("a relay that lives on without a subscription does not keep it", arguments: [true, false])
    func unsubscribed(usesRings: Bool) async throws {
        let bus = try PrivateBus()
        let peer = try await BusStranger.join(bus.bus)
        let kiosk = try await Kiosk(bus.bus)
        let relay = try EventRelay(
            following: Kiosk.name, on: bus.bus, interfaces: Kiosk1.self, usesRings: usesRings)
        let subscription = relay.publisher.subscribe(to: Vended.self, delivery: .immediate) { _ in
        } onGap: { _ in
        }
        relay.activate()
        #expect(await eventually { kiosk.service.core.interfaces[0].stream.users == (usesRings ? 2 : 1) })
        _ = try await sell(peer, 1).value
        #expect(!kiosk.isStopping)
        subscription.cancel()
        #expect(await eventually { kiosk.isStopping })
        try await kiosk.end()
        relay.invalidate()
    }
    @Test("a peer that attached keeps it, until it leaves or is gone", arguments: [true, false])
    func attached(leaves: Bool) async throws {
        let bus = try PrivateBus()
        let (peer, subscriber) = (try await BusStranger.join(bus.bus), try await BusStranger.join(bus.bus))
        let kiosk = try await Kiosk(bus.bus)
        func attach(_ names: [String]) async throws {
            _ = try await subscriber.call(
                Kiosk.name, Kiosk.path, Stream1.name, "Attach",
                [.uint64(0), .uint64(0), .array(.string, names.map { .string($0) }), AttachOptions().value])
        }
        try await attach(["Vended"])
        _ = try await sell(peer, 1).value
        #expect(try await peer.hasOwner(Kiosk.name))
        #expect(!kiosk.isStopping)
        if leaves { try await attach([]) } else { subscriber.connection.close() }
        try await kiosk.end()
    }
    @Test("a token keeps it until it is ended, or released") func tokens() async throws {
        let bus = try PrivateBus()
        let peer = try await BusStranger.join(bus.bus)
        for isReleased in [true, false] {
            let kiosk = try await Kiosk(bus.bus)
            var (one, other): (ActivityToken?, ActivityToken) = (
                kiosk.service.beginActivity(), kiosk.service.beginActivity()
            )
            _ = try await sell(peer, 1).value
            other.end()
            other.end()
            // Behind a look.
            _ = try await sell(peer, 2).value
            #expect(try await peer.hasOwner(Kiosk.name))
            #expect(!kiosk.isStopping)
            if isReleased { one = nil } else { one?.end() }
            try await kiosk.end()
            other = kiosk.service.beginActivity()
            withExtendedLifetime((one, other)) {}
        }
    }
    @Test("who attaches while the end is under way has it announced, and the bus starts the next run for it")
    func attachesAtTheEnd() async throws {
        let site = try await WatchedStarts()
        let peer = try await BusStranger.join(site.bus.bus)
        // One that starts nothing by itself.
        let relay = try EventRelay(
            following: Kiosk.name, on: site.bus.bus, interfaces: Kiosk1.self, activation: .ifRunning)
        relay.activate()
        let (seen, gaps, holder) = (Log<Int64>(), Log<Gap>(), Holder<Subscription>())
        let kiosk = try await Kiosk(site.bus.bus) { service in
            holder.hold(
                relay.publisher.subscribe(to: Vended.self, delivery: .immediate) {
                    seen.add($0.number)
                } onGap: {
                    gaps.add($0)
                })
            // Attached, and with its ring.
            _ = await eventually { service.core.interfaces[0].stream.users == 2 }
            try? service.publish(Vended(number: 1))
        }
        _ = try await sell(peer, 1).value
        try await kiosk.end()
        try await site.settle(peer)
        #expect(site.count(Kiosk.name) == 1)
        // The next run: nothing is missing in between.
        let next = try await Kiosk(site.bus.bus, idleExit: .seconds(86_400))
        #expect(await eventually { next.service.core.interfaces[0].stream.users == 2 })
        try next.service.publish(Vended(number: 2))
        #expect(await eventually { seen.values == [1, 2] })
        #expect(gaps.values.isEmpty)
        holder.hold(nil)
        relay.invalidate()
        next.cancel()
        try await next.end()
        await site.end()
    }
    @Test("a service that leaves as soon as a relay first subscribes is started again, however long it was there")
    func subscribesTooLate() async throws {
        let site = try await WatchedStarts()
        // An owner that answers nothing.
        let owner = try await BusStranger.join(site.bus.bus)
        let bus = "org.freedesktop.DBus"
        _ = try await owner.call(bus, "/org/freedesktop/DBus", bus, "RequestName", [.string(Kiosk.name), .uint32(4)])
        let relay = try EventRelay(following: Kiosk.name, on: site.bus.bus, interfaces: Kiosk1.self)
        relay.activate()
        let core = relay.follower.core
        #expect(await eventually { core.loop.withTurn { core.owner.name != nil } })
        // As if it had been found long ago.
        core.loop.withTurn { core.state.onLoop.departsUntil = 0 }
        let subscription = relay.publisher.subscribe(to: Vended.self, delivery: .immediate) { _ in
        } onGap: { _ in
        }
        #expect(await eventually { core.loop.withTurn { core.streams.areWanted } })
        owner.connection.close()
        let peer = try await BusStranger.join(site.bus.bus)
        #expect(
            try await eventually {
                try await site.settle(peer)
                return site.count(Kiosk.name) == 1
            })
        subscription.cancel()
        relay.invalidate()
        await site.end()
    }
    @Test(
        "who attaches when the name is given up is sent to the next run, which the bus starts unless none is wanted",
        arguments: [true, false])
    func attachesTooLate(isTold: Bool) async throws {
        let site = try await WatchedStarts()
        let (peer, late) = (try await BusStranger.join(site.bus.bus), try await BusStranger.join(site.bus.bus))
        let tokens = Holder<ActivityToken>()
        // It keeps the service until it is ended, though the name is free.
        let kiosk = try await Kiosk(site.bus.bus) { service in tokens.hold(service.beginActivity()) }
        let core = kiosk.service.core
        let name = try #require(core.loop.withTurn { core.connection.onLoop?.uniqueName })
        _ = try await sell(peer, 1).value
        #expect(await eventually { (try? await peer.hasOwner(Kiosk.name)) == false })
        let refusal = await late.refusal(
            name, Kiosk.path, Stream1.name, "Attach",
            [.uint64(0), .uint64(0), .array(.string, [.string("*")]), AttachOptions().value])
        #expect(refusal?.name == "org.eventrelay.Error.Unavailable", "\(String(describing: refusal))")
        #expect(await late.refusal(name, Kiosk.path, Stream1.name, "OpenRing") != nil)
        #expect(kiosk.service.core.interfaces[0].stream.users == 0)
        // Asked to end meanwhile, it does not want a next run.
        if isTold { kiosk.cancel() }
        tokens.value?.end()
        try await kiosk.end()
        try await site.settle(peer)
        #expect(site.count(Kiosk.name) == (isTold ? 0 : 1))
        await site.end()
    }
    @Test("an end by a signal does not wait for a token") func cancelled() async throws {
        let bus = try PrivateBus()
        let kiosk = try await Kiosk(bus.bus, idleExit: .seconds(86_400))
        let token = kiosk.service.beginActivity()
        kiosk.cancel()
        try await kiosk.end()
        withExtendedLifetime(token) {}
    }
    private static let nobody = [
        "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
    ]
    @Test("every call to the name is answered by the run that has it, or was never brought to it: none is lost")
    func race() async throws {
        let bus = try PrivateBus()
        var peers: [BusStranger] = []
        for _ in 0..<4 { peers.append(try await BusStranger.join(bus.bus)) }
        var count = 0
        for _ in 0..<TestForm.rounds(20, soak: 400) {
            let kiosk = try await Kiosk(bus.bus)
            let sold = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for (index, peer) in peers.enumerated() {
                    group.addTask {
                        var sold: [Int64] = []
                        // Four that never pause could keep it for ever.
                        while sold.count < 200 {
                            let number = Int64(index * 10_000 + sold.count)
                            do {
                                _ = try await self.sell(peer, number).value
                                sold.append(number)
                            } catch {
                                // There is nobody: the bus would start the next one.
                                let name = ((error as? RelayError)?.cause as? RemoteError)?.name ?? ""
                                #expect(Self.nobody.contains(name), "\(error)")
                                break
                            }
                        }
                        return sold
                    }
                }
                var sold: [Int64] = []
                for try await one in group { sold += one }
                return sold
            }
            count += sold.count
            try await kiosk.end()
            #expect(kiosk.sold.sorted() == sold.sorted(), "each once, and none without its answer")
        }
        #expect(count > 0)
    }
    @Test("a call that comes while a durable service ends in good order is answered by it") func held() async throws {
        let bus = try PrivateBus()
        let (one, other) = (try await BusStranger.join(bus.bus), try await BusStranger.join(bus.bus))
        let service = try EventService(
            name: Kiosk.name, on: bus.bus, exporting: Till1.self, journal: MemoryLog())
        let door = Mutex<CheckedContinuation<Void, Never>?>(nil)
        service.handle(Pay.self) { command, _ in
            if command.number == 1 { await withCheckedContinuation { next in door.withLock { $0 = next } } }
            try await service.publish(Paid(number: command.number))
        }
        let running = Task { try await service.run() }
        #expect(await eventually { (try? await one.hasOwner(Kiosk.name)) == true })
        func pay(_ peer: BusStranger, _ number: Int64) throws -> Task<[DBusValue], any Error> {
            try peer.begin(Kiosk.name, Stream1.path(of: Till1.name), Till1.name, "Pay", [.int64(number)])
        }
        let first = try pay(one, 1)
        #expect(await eventually { door.withLock { $0 != nil } })
        running.cancel()
        let late = try pay(other, 2)
        // It has come: this is answered behind it.
        _ = try await other.call(Kiosk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        door.withLock { $0 }?.resume()
        _ = try await first.value
        _ = try await late.value
        try await running.value
    }
}

/// A bus, and what it is asked to start.
final class WatchedStarts: Sendable {
    let bus: PrivateBus
    private let monitor: RunningProgram

    init() async throws {
        bus = try PrivateBus()
        monitor = try RunningProgram(
            "dbus-monitor", ["--address", bus.address, "type='method_call',member='StartServiceByName'"])
        try await monitor.line(containing: "NameLost")
    }
    func count(_ name: String) -> Int { monitor.output.count { $0.contains("string \"\(name)\"") } }
    /// All that was asked for before this has been counted when it returns.
    func settle(_ peer: BusStranger) async throws {
        let mark = "org.example.Mark\(UInt64.random(in: .min ... .max))"
        _ = await peer.refusal(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "StartServiceByName",
            [.string(mark), .uint32(0)])
        try await monitor.line(containing: mark)
    }
    func end() async {
        _ = await monitor.terminate()
        await bus.stop()
    }
}

enum Till1: EventInterface {
    static let name = "org.example.Till1"
    static var contract: Contract<Self> {
        Paid.self
        Pay.self
    }
}
struct Paid: DomainEvent {
    typealias Interface = Till1
    var number: Int64
}
struct Pay: Command {
    typealias Interface = Till1
    var number: Int64
}
