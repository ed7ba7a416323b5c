import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

private enum Clock1: EventInterface {
    static let name = "org.example.Clock1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Ticked.self }
    struct Ticked: DomainEvent {
        typealias Interface = Clock1
        var number: Int64
    }
}

@Suite("A service's life", .heavy, .tags(.g1, .g6)) struct ServiceLifeTests {
    @Test("a name that is taken is a conflict which says who has it") func conflict() async throws {
        let desk = try await Desk()
        let second = try EventService(name: Desk.name, on: desk.bus.bus, exporting: Plain1.self)
        do {
            try await second.run()
            Issue.record("ran")
        } catch let error as RelayError {
            #expect(error.code == .conflict)
            #expect(error.message.contains(Desk.name) && error.message.contains("process \(getpid())"), "\(error)")
        }
        try await desk.stop()
    }
    @Test("a command without a handler, and a handler without a command, are told before anything runs")
    func handlers() async throws {
        let bus = try PrivateBus()
        let bare = try EventService(name: Desk.name, on: bus.bus, exporting: Desk1.self)
        await #expect(throws: RelayError.self) { try await bare.run() }
        let stray = try EventService(name: Desk.name, on: bus.bus, exporting: Plain1.self)
        stray.handle(Echo.self) { command, _ in Echo.Reply(text: command.text) }
        await #expect(throws: RelayError.self) { try await stray.run() }
    }
    @Test("a service runs once") func once() async throws {
        let desk = try await Desk()
        try await desk.stop()
        await #expect(throws: RelayError.self) { try await desk.service.run() }
    }
    @Test("its own publishing ends before it does: the end waits for onStopping, and the last event precedes `End`")
    func ownPublishing() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: Desk.name, on: bus.bus, exporting: Clock1.self)
        let (listening, hasPublished) = (try await BusStranger.join(bus.bus), Log<Bool>())
        try await listening.listen(Stream1.name)
        try await listening.listen(Clock1.name)
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let running = Task {
            try await service.run {
                isReady.finish()
            } onStopping: {
                // In a cancelled task: what it waits for is another one.
                await Task.detached { try? await Task.sleep(for: .milliseconds(20)) }.value
                hasPublished.add((try? service.publish(Clock1.Ticked(number: 7))) != nil)
            }
        }
        for await _ in ready {}
        running.cancel()
        try await running.value
        #expect(hasPublished.values == [true])
        #expect(throws: RelayError.self) { try service.publish(Clock1.Ticked(number: 8)) }
        #expect(await eventually { listening.signals.contains { $0.member == "End" } })
        let members = listening.signals.map(\.member)
        let (ticked, end) = (members.firstIndex(of: "Ticked"), members.firstIndex(of: "End"))
        #expect(ticked != nil && end != nil && (ticked ?? 0) < (end ?? 0), "\(members)")
    }
    @Test("work beside it begins when the name is owned, ends before it, and its last event precedes `End`")
    func alongside() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: Desk.name, on: bus.bus, exporting: Clock1.self)
        let listening = try await BusStranger.join(bus.bus)
        try await listening.listen(Stream1.name)
        try await listening.listen(Clock1.name)
        let (begun, isBegun) = AsyncStream.makeStream(of: Void.self)
        let running = Task {
            try await service.run(alongside: {
                isBegun.finish()
                do { try await Task.sleep(for: .seconds(3_600)) } catch {
                    try service.publish(Clock1.Ticked(number: 7))
                    throw error
                }
            })
        }
        for await _ in begun {}
        running.cancel()
        // It was asked to end: that its work has thrown is no failure.
        try await running.value
        #expect(await eventually { listening.signals.contains { $0.member == "End" } })
        let members = listening.signals.map(\.member)
        let (ticked, end) = (members.firstIndex(of: "Ticked"), members.firstIndex(of: "End"))
        #expect(ticked != nil && end != nil && (ticked ?? 0) < (end ?? 0), "\(members)")
    }
    @Test("work beside it that fails ends it with its error, and work that returns does not") func failingWork()
        async throws
    {
        struct Broken: Error {}
        let bus = try PrivateBus()
        let service = try EventService(name: Desk.name, on: bus.bus, exporting: Clock1.self)
        await #expect(throws: Broken.self) { try await service.run(alongside: { throw Broken() }) }
        #expect(throws: RelayError.self) { try service.publish(Clock1.Ticked(number: 8)) }
        let next = try EventService(name: Desk.name, on: bus.bus, exporting: Clock1.self)
        let (done, isDone) = AsyncStream.makeStream(of: Void.self)
        let running = Task { try await next.run(alongside: { isDone.finish() }) }
        for await _ in done {}
        try next.publish(Clock1.Ticked(number: 9))
        running.cancel()
        try await running.value
    }
    @Test("work beside it may stop it, and what it throws when it was asked to end is not lost") func endingWork()
        async throws
    {
        struct Lost: Error {}
        let bus = try PrivateBus()
        let first = try EventService(name: Desk.name, on: bus.bus, exporting: Clock1.self)
        try await first.run(alongside: { try await first.stop() })
        let second = try EventService(name: Desk.name, on: bus.bus, exporting: Clock1.self)
        let (begun, isBegun) = AsyncStream.makeStream(of: Void.self)
        let running = Task {
            try await second.run(alongside: {
                isBegun.finish()
                do { try await Task.sleep(for: .seconds(3_600)) } catch { throw Lost() }
            })
        }
        for await _ in begun {}
        running.cancel()
        await #expect(throws: Lost.self) { try await running.value }
    }
    @Test("onStopping may stop it, and is not waited for by that") func stoppedTwice() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: Desk.name, on: bus.bus, exporting: Clock1.self)
        let (stops, ready) = (Log<Bool>(), Log<Bool>())
        let running = Task {
            try await service.run(
                onReady: { ready.add(true) },
                onStopping: {
                    try? await service.stop()
                    stops.add(true)
                })
        }
        #expect(await eventually { ready.count == 1 })
        running.cancel()
        try #require(await eventually { stops.count == 1 })
        try await running.value
    }
    @Test("work beside it that ignores its cancellation is left behind") func stubbornWork() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: Desk.name, on: bus.bus, exporting: Clock1.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let (begun, isBegun) = AsyncStream.makeStream(of: Void.self)
        let running = Task {
            try await service.run(
                patience: .zero,
                alongside: {
                    isBegun.finish()
                    await Task.detached { for await _ in released {} }.value
                })
        }
        for await _ in begun {}
        running.cancel()
        try await running.value
        release.finish()
    }
    @Test("a service that follows another one runs its relay, and ends with the relay's error") func following()
        async throws
    {
        let bus = try PrivateBus()
        let service = try EventService(name: Desk.name, on: bus.bus, exporting: Clock1.self)
        let other = try EventService(name: "org.example.Other", on: bus.bus, exporting: Clock1.self)
        let relay = try EventRelay(
            following: Desk.name, on: bus.bus, interfaces: Clock1.self, timing: RelayTiming { $0.handlerRetries = [] })
        try await service.start()
        let ticks = Log<Int64>()
        let subscription = try relay.subscribe(to: Clock1.Ticked.self) { tick in
            ticks.add(tick.number)
            if tick.number == 2 { throw RelayError(.conflict, "no more") }
        } onGap: { _ in
        }
        let running = Task { try await other.run(following: relay, keeping: subscription) }
        try await relay.ready()
        try await relay.barrier()
        for number in 1...2 { try service.publish(Clock1.Ticked(number: Int64(number))) }
        let error = await #expect(throws: RelayError.self) { try await running.value }
        #expect(error?.code == .conflict && ticks.values == [1, 2])
        try await service.stop()
    }
    @Test("the end of the bus ends the service, with the reason") func busGone() async throws {
        let desk = try await Desk()
        desk.bus.process.signal(SIGKILL)
        do {
            try await desk.end()
            Issue.record("ended without a reason")
        } catch .unavailable {}
    }
    @Test("stopping finishes what runs, says the last word, then gives the name up") func orderlyEnd() async throws {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        try await peer.listen(Stream1.name)
        try await peer.listen("org.freedesktop.DBus")
        async let waits = peer.call(Desk.name, Desk.path, Desk1.name, "Wait", [.int64(1)])
        #expect(await eventually { desk.notes == ["wait 1"] })
        desk.cancel()
        let other = try await BusStranger.join(desk.bus.bus)
        #expect(await eventually { desk.service.core.queues.isHolding })
        // What comes from here on waits until the last word is out, but for what answers about itself.
        let late = try other.begin(Desk.name, Desk.path, Desk1.name, "Echo", [.string("late")])
        _ = try await other.call(Desk.name, Desk.path, "org.freedesktop.DBus.Peer", "Ping")
        try desk.service.publish(Torn(number: 1))
        await desk.open(1)
        #expect(try await waits.isEmpty)
        // Nothing volatile can be published any more: it is told so, and has not run.
        await #expect { try await late.value } throws: { .unavailable ~= $0 }
        #expect(!desk.notes.contains("echo late"))
        try await desk.end()
        #expect(
            await eventually {
                peer.signals.contains { $0.member == "NameOwnerChanged" && $0.values.first == .string(Desk.name) }
            })
        let members = peer.signals.map(\.member)
        let end = members.firstIndex(of: "End")
        let left = peer.signals.firstIndex {
            $0.member == "NameOwnerChanged" && $0.values.first == .string(Desk.name) && $0.values.last == .string("")
        }
        #expect(end != nil && left != nil && (end ?? 0) < (left ?? 0), "\(members)")
        if let end { #expect(peer.signals[end].values[1] == .uint64(1)) }
        #expect(throws: RelayError.self, "nothing may follow the last word") {
            try desk.service.publish(Torn(number: 2))
        }
    }
    @Test("the bus gets all that was published before the end, and in order, whatever threads publish")
    func saturation() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: Desk.name, on: bus.bus, exporting: Plain1.self)
        let seen = Mutex<(count: Int, next: UInt64, faults: Int, isActive: Bool)>((0, 1, 0, false))
        let follower = try ServiceFollower(service: Desk.name, on: bus.bus) { output in
            seen.withLock { seen in
                switch output {
                case .event(let envelope):
                    if envelope.stamp.sequence != seen.next { seen.faults += 1 }
                    seen.next = envelope.stamp.sequence + 1
                    seen.count += 1
                case .gap: seen.faults += 1
                case .state(.active): seen.isActive = true
                case .state: break
                }
            }
        }
        follower.follow(interface: Plain1.name, names: nil)
        follower.activate()
        let ready = Atomic<Bool>(false)
        let running = Task { try await service.run { ready.store(true, ordering: .releasing) } }
        #expect(await eventually { ready.load(ordering: .acquiring) })
        // What is published before the follower has found the service is not for it.
        #expect(await eventually { seen.withLock { $0.isActive } })
        #if DEBUG
            let perThread = 5_000
        #else
            let perThread = 10_000
        #endif
        await withTaskGroup { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<perThread {
                        try? service.publish(Said(thread: Int32(thread), number: Int64(number)))
                    }
                }
            }
        }
        running.cancel()
        try await running.value
        #expect(await eventually { seen.withLock { $0.count } == 8 * perThread })
        #expect(seen.withLock { $0.faults } == 0)
    }
    @Test("what cannot be sent is refused, and takes no place in the sequence") func refused() async throws {
        let desk = try await Desk()
        #expect(throws: RelayError.self) { try desk.service.publish(Noted(text: "a\0b", number: 1)) }
        do {
            try desk.service.publish(Noted(text: String(repeating: "x", count: 1 << 20), number: 1))
            Issue.record("was published")
        } catch .tooLarge {}
        #expect(throws: RelayError.self, "not exported") { try desk.service.publish(Said(thread: 1, number: 1)) }
        let peer = try await BusStranger.join(desk.bus.bus)
        let value = try await peer.call(
            Desk.name, Desk.path, "org.freedesktop.DBus.Properties", "Get",
            [.string(Stream1.name), .string("Sequence")])
        #expect(value == [.variant(.uint64(0))])
        try await desk.stop()
    }
    @Test("a service that is let go leaves nothing behind, though its handlers kept it") func release() async throws {
        let bus = try PrivateBus()
        weak var released: EventService?
        do {
            let service = try EventService(name: Desk.name, on: bus.bus, exporting: Keeper1.self)
            service.handle(Keep.self) { _, _ in withExtendedLifetime(service) {} }
            let running = Task { try await service.run() }
            running.cancel()
            try await running.value
            released = service
        }
        #expect(await eventually { released == nil })
    }
    @Test("a restricted interface tells only those who attached, and may") func restricted() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: Desk.name, on: bus.bus, exporting: Closed1.self)
        let ready = Atomic<Bool>(false)
        let running = Task { try await service.run { ready.store(true, ordering: .releasing) } }
        #expect(await eventually { ready.load(ordering: .acquiring) })
        let (stranger, member) = (try await BusStranger.join(bus.bus), try await BusStranger.join(bus.bus))
        for peer in [stranger, member] { try await peer.listen(Closed1.name) }
        let path = Stream1.path(of: Closed1.name)
        func attach(_ names: [String]) async throws {
            _ = try await member.call(
                Desk.name, path, Stream1.name, "Attach",
                [.uint64(0), .uint64(0), .array(.string, names.map { .string($0) }), AttachOptions().value])
        }
        try await attach(["*"])
        try service.publish(Whispered(number: 1))
        func whispers(_ peer: BusStranger) -> Int { peer.signals.filter { $0.member == "Whispered" }.count }
        #expect(await eventually { whispers(member) == 1 })
        try await attach([])
        try service.publish(Whispered(number: 2))
        for peer in [stranger, member] { _ = try await peer.call(Desk.name, "/", "org.freedesktop.DBus.Peer", "Ping") }
        #expect(whispers(member) == 1 && whispers(stranger) == 0)
        running.cancel()
        try await running.value
    }
}

enum Plain1: EventInterface {
    static let name = "org.example.Plain1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.unlimited
    static var contract: Contract<Self> { Said.self }
}
struct Said: DomainEvent, Equatable {
    typealias Interface = Plain1
    var thread: Int32, number: Int64
}
enum Keeper1: EventInterface {
    static let name = "org.example.Keeper1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Keep.self }
}
struct Keep: Command {
    typealias Interface = Keeper1
}
/// For the user of this process by name, which no bus of an address guarantees.
enum Closed1: EventInterface {
    static let name = "org.example.Closed1"
    static let durability = Volatile()
    static var requirement: PeerRequirement { .sameUser || .user("root") }
    static var contract: Contract<Self> { Whispered.self }
}
struct Whispered: DomainEvent {
    typealias Interface = Closed1
    var number: Int64
}
