import Dispatch
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

/// What handlers do around the end of their relay.
private final class EndWatch: Sendable {
    private let over = Atomic<Bool>(false)
    private let calls = Mutex<[String: Int]>([:])
    private let late = Mutex<Set<String>>([])

    /// A handler's call, which takes a moment.
    func call(_ kind: String, isWaitedFor: Bool = true) {
        if isWaitedFor { note(kind) }
        calls.withLock { $0[kind, default: 0] += 1 }
        usleep(20)
        if isWaitedFor { note(kind) }
    }
    private func note(_ kind: String) {
        if over.load(ordering: .sequentiallyConsistent) { _ = late.withLock { $0.insert(kind) } }
    }
    func end() { over.store(true, ordering: .sequentiallyConsistent) }
    func count(_ kind: String) -> Int { calls.withLock { $0[kind] ?? 0 } }
    /// The kinds of handlers that ran too late.
    var tooLate: Set<String> { late.withLock { $0 } }
}
@MainActor private final class Watcher {
    let watch: EndWatch
    init(_ watch: EndWatch) { self.watch = watch }
}
private actor Keeper {
    private let watch: EndWatch
    private var subscription: Subscription?
    init(_ watch: EndWatch) { self.watch = watch }
    func begin(_ relay: EventRelay) {
        let watch = watch
        subscription = relay.publisher.subscribe(to: Said.self) { [self] _ in
            assertIsolated()
            watch.call("actor")
        } onGap: { _ in
        }
    }
}

@Suite("The end of a relay, and of a service", .heavy, .tags(.g4)) struct InvalidationTests {
    private static let name = "org.example.Ending"
    private static let kinds = [
        "immediate", "background", "queue", "main", "actor", "object", "positioned", "positioned main",
        "positioned immediate",
    ]

    private func service(_ bus: Bus) async throws -> EventService {
        let service = try EventService(name: Self.name, on: bus, exporting: Plain1.self)
        try await service.start()
        return service
    }
    private func relay(_ bus: Bus, delivery: DeliveryTarget = .background) throws -> EventRelay {
        try EventRelay(following: Self.name, on: bus, interfaces: Plain1.self, delivery: delivery)
    }
    /// Handlers of all kinds.
    @MainActor private func subscribe(
        _ relay: EventRelay, _ immediate: EventRelay, _ watch: EndWatch, _ watcher: Watcher
    ) throws -> [Subscription] {
        let publisher = relay.publisher
        let queue = DispatchQueue(label: "ending")
        publisher.subscribe(watcher, to: Said.self) { me, _ in
            me.watch.call("object", isWaitedFor: false)
        } onGap: { _, _ in
        }
        return [
            publisher.subscribe(to: Said.self, delivery: .immediate) { _ in
                watch.call("immediate")
            } onGap: { _ in
            },
            publisher.subscribe(to: Said.self, delivery: .background) { _ in
                watch.call("background")
            } onGap: { _ in
            },
            publisher.subscribe(to: Said.self, delivery: .queue(queue)) { _ in
                watch.call("queue")
            } onGap: { _ in
            },
            publisher.subscribe(to: Said.self) { @MainActor _ in
                watch.call("main")
            } onGap: { _ in
            },
            try relay.subscribe(to: Said.self) { @Sendable _ in
                watch.call("positioned")
            } onGap: { _ in
            },
            try relay.subscribe(to: Said.self) { @MainActor _ in
                watch.call("positioned main")
            } onGap: { _ in
            },
            try immediate.subscribe(to: Said.self) { @Sendable _ in
                watch.call("positioned immediate")
            } onGap: { _ in
            },
        ]
    }

    /// A handler of one kind.
    private func subscribe(
        _ handler: @escaping @Sendable (Said) -> Void, _ relay: EventRelay, _ kind: String
    ) throws -> Subscription {
        switch kind {
        case "immediate": relay.publisher.subscribe(to: Said.self, delivery: .immediate, handler, onGap: { _ in })
        case "background": relay.publisher.subscribe(to: Said.self, delivery: .background, handler, onGap: { _ in })
        default: try relay.subscribe(to: Said.self, handler, onGap: { _ in })
        }
    }

    @Test("no handler of any kind runs after invalidate() has returned, though many events are under way")
    func nothingLater() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus.bus)
        let witness = try relay(bus.bus)
        let heard = Atomic<Int>(0)
        let witnessing = witness.publisher.subscribe(to: Said.self, delivery: .immediate) { _ in
            heard.add(1, ordering: .relaxed)
        } onGap: { _ in
        }
        witness.activate()
        try await witness.ready()
        let isOver = Atomic<Bool>(false)
        let publishing = Task.detached {
            var number: Int64 = 0
            while !isOver.load(ordering: .relaxed) {
                for _ in 1...20 {
                    number += 1
                    try service.publish(Said(thread: 0, number: number))
                }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        for _ in 0..<TestForm.rounds(5, soak: 200) {
            let watch = EndWatch()
            let (relay, immediate) = (try relay(bus.bus), try self.relay(bus.bus, delivery: .immediate))
            let (watcher, keeper) = (await Watcher(watch), Keeper(watch))
            let subscriptions = try await subscribe(relay, immediate, watch, watcher)
            await keeper.begin(relay)
            for relay in [relay, immediate] { relay.activate() }
            #expect(
                await eventually { Self.kinds.allSatisfy { watch.count($0) > 20 } },
                "\(Self.kinds.map { "\($0) \(watch.count($0))" })")
            await Task.detached {
                relay.invalidate()
                immediate.invalidate()
                watch.end()
            }.value
            #expect(!subscriptions.contains { $0.isActive })
            let before = heard.load(ordering: .relaxed)
            #expect(await eventually { heard.load(ordering: .relaxed) > before + 200 })
            #expect(watch.tooLate == [])
            withExtendedLifetime((watcher, keeper)) {}
        }
        isOver.store(true, ordering: .relaxed)
        try await publishing.value
        withExtendedLifetime(witnessing) {}
        try await service.stop()
    }
    // One after another: each holds a thread of the pool, which has two on two processors.
    @Test(
        "a handler that runs is waited for, wherever it runs", .serialized,
        arguments: ["immediate", "background", "positioned"])
    func waits(kind: String) async throws {
        let bus = try PrivateBus()
        let service = try await service(bus.bus)
        let relay = try relay(bus.bus)
        let log = Mutex<[String]>([])
        let held = Mutex<Subscription?>(nil)
        let handler: @Sendable (Said) -> Void = { _ in
            log.withLock { $0.append("in") }
            // Until the end has begun: then it has to wait for this.
            while held.withLock({ $0?.isActive }) != false { usleep(1_000) }
            usleep(20_000)
            log.withLock { $0.append("out") }
        }
        let subscription = try subscribe(handler, relay, kind)
        held.withLock { $0 = subscription }
        relay.activate()
        try await relay.ready()
        try service.publish(Said(thread: 0, number: 1))
        #expect(await eventually { log.withLock { $0 } == ["in"] })
        // An immediate handler holds up the end itself: it is let go by hand.
        if kind == "immediate" { Task.detached { subscription.cancel() } }
        await Task.detached {
            relay.invalidate()
            log.withLock { $0.append("returned") }
        }.value
        #expect(log.withLock { $0 } == ["in", "out", "returned"])
        held.withLock { $0 = nil }
        try await service.stop()
    }
    @Test("called within a handler it does not wait for itself", arguments: ["immediate", "background", "positioned"])
    func within(kind: String) async throws {
        let bus = try PrivateBus()
        let service = try await service(bus.bus)
        let relay = try relay(bus.bus)
        let seen = Mutex<[Int64]>([])
        let handler: @Sendable (Said) -> Void = { [weak relay] event in
            seen.withLock { $0.append(event.number) }
            if event.number == 3 { relay?.invalidate() }
        }
        let subscription = try subscribe(handler, relay, kind)
        relay.activate()
        try await relay.ready()
        for number in Int64(1)...100 { try service.publish(Said(thread: 0, number: number)) }
        #expect(await eventually { !subscription.isActive })
        // Its end is complete when another thread's returns.
        await Task.detached { relay.invalidate() }.value
        #expect(seen.withLock { $0 } == [1, 2, 3])
        try await service.stop()
    }
    @Test("a service that is stopped by a command's handler answers it, and ends") func stoppedWithin() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: Self.name, on: bus.bus, exporting: Keeper1.self)
        service.handle(Keep.self) { [weak service] _, _ in
            // If it waited for this handler, it would wait for an hour.
            try await service?.stop(patience: .seconds(3_600))
        }
        let peer = try await BusStranger.join(bus.bus)
        // First without anybody who runs it, then with.
        try await service.start()
        _ = try await peer.call(Self.name, Stream1.path(of: Keeper1.name), Keeper1.name, "Keep")
        try await service.stop()
        #expect(try await !peer.hasOwner(Self.name))
        let again = try EventService(name: Self.name, on: bus.bus, exporting: Keeper1.self)
        again.handle(Keep.self) { [weak again] _, _ in try await again?.stop(patience: .seconds(3_600)) }
        let running = Task { try await again.run(patience: .seconds(3_600)) }
        #expect(await eventually { (try? await peer.hasOwner(Self.name)) == true })
        _ = try await peer.call(Self.name, Stream1.path(of: Keeper1.name), Keeper1.name, "Keep")
        try await running.value
        #expect(try await !peer.hasOwner(Self.name))
    }
}
