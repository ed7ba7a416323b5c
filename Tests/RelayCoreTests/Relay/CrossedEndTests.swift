import Dispatch
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire
import RelayInspection

/// Relays whose handlers wait until all of them run at the same time, and then do something to the next relay.
private final class Circle: Sendable {
    let relays: [EventRelay]
    private let subscriptions = Mutex<[Subscription]>([])
    private let inside = Atomic<Int>(0)
    private let done = Atomic<Int>(0)

    /// - Parameter act: in the handler of a relay, to the next one.
    init(_ count: Int, _ name: String, _ bus: Bus, _ kind: String, _ act: @escaping @Sendable (EventRelay) -> Void)
        async throws
    {
        relays = try (0..<count).map { _ in try EventRelay(following: name, on: bus, interfaces: Plain1.self) }
        for (number, relay) in relays.enumerated() {
            let next = relays[(number + 1) % count]
            let handler: @Sendable (Said) -> Void = { [weak self, weak next] _ in
                guard let self, let next else { return }
                inside.add(1, ordering: .sequentiallyConsistent)
                while inside.load(ordering: .sequentiallyConsistent) < count { usleep(100) }
                act(next)
                done.add(1, ordering: .sequentiallyConsistent)
            }
            // Threads of their own: what waits for ever must not take one of the pool's, which the other tests need.
            let queue = DeliveryTarget.queue(DispatchQueue(label: "circle \(number)"))
            let subscription =
                switch kind {
                case "immediate":
                    relay.publisher.subscribe(to: Said.self, delivery: .immediate, handler, onGap: { _ in })
                case "queue": relay.publisher.subscribe(to: Said.self, delivery: queue, handler, onGap: { _ in })
                default: throw RelayError(.invalidArgument, "no kind '\(kind)'")
                }
            subscriptions.withLock { $0.append(subscription) }
            relay.activate()
            try await relay.ready()
        }
    }
    var isDone: Bool { done.load(ordering: .sequentiallyConsistent) == relays.count }
}

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

@Suite("Relays and services that end one another", .heavy, .tags(.g4)) struct CrossedEndTests {
    private static let name = "org.example.Crossed"

    private func service(_ bus: Bus) async throws -> EventService {
        let service = try EventService(name: Self.name, on: bus, exporting: Plain1.self)
        try await service.start()
        return service
    }
    @Test(
        "handlers may end each other's relay, whichever thread they run on",
        arguments: ["immediate", "queue"], [2, 3])
    func invalidate(kind: String, count: Int) async throws {
        let bus = try PrivateBus()
        let service = try await service(bus.bus)
        let circle = try await Circle(count, Self.name, bus.bus, kind) { $0.invalidate() }
        try service.publish(Said(thread: 0, number: 1))
        #expect(await eventually { circle.isDone })
        try await service.stop()
    }
    @Test("immediate handlers may read each other's metrics") func metrics() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus.bus)
        let circle = try await Circle(2, Self.name, bus.bus, "immediate") { other in
            #expect(other.metrics.streams.first?.interface == Plain1.name)
        }
        try service.publish(Said(thread: 0, number: 1))
        #expect(await eventually { circle.isDone })
        #expect(circle.relays.allSatisfy { $0.metrics.streams.first?.events == 1 })
        try await service.stop()
    }
    @Test("the end of another relay is waited for in a handler, unless that one waits, too") func inHandler()
        async throws
    {
        let bus = try PrivateBus()
        let service = try await service(bus.bus)
        let log = Mutex<[String]>([])
        let (slow, ender) = (
            try EventRelay(following: Self.name, on: bus.bus, interfaces: Plain1.self),
            try EventRelay(following: Self.name, on: bus.bus, interfaces: Plain1.self)
        )
        let queue = DeliveryTarget.queue(DispatchQueue(label: "slow"))
        let mayLeave = Atomic<Bool>(false)
        let slowly = slow.publisher.subscribe(to: Said.self, delivery: queue) { _ in
            log.withLock { $0.append("in") }
            while !mayLeave.load(ordering: .acquiring) { usleep(1_000) }
            log.withLock { $0.append("out") }
        } onGap: { _ in
        }
        let ends = ender.publisher.subscribe(to: Said.self, delivery: .immediate) { [weak slow] _ in
            while log.withLock({ $0.isEmpty }) { usleep(1_000) }
            slow?.invalidate()
            log.withLock { $0.append("ended") }
        } onGap: { _ in
        }
        for relay in [slow, ender] {
            relay.activate()
            try await relay.ready()
        }
        try service.publish(Said(thread: 0, number: 1))
        #expect(await eventually { !slowly.isActive })
        mayLeave.store(true, ordering: .releasing)
        #expect(await eventually { log.withLock { $0.count } == 3 })
        #expect(log.withLock { $0 } == ["in", "out", "ended"])
        withExtendedLifetime(ends) {}
        try await service.stop()
    }

    @Test(
        "a handler's child tasks may stop its service, and so may the tasks that it awaits",
        arguments: ["group", "let", "task"])
    func stopInChild(kind: String) async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: Self.name, on: bus.bus, exporting: Keeper1.self)
        service.handle(Keep.self) { [weak service] _, _ in
            let service = try #require(service)
            let stop: @Sendable () async throws -> Void = { try await service.stop(patience: .seconds(3_600)) }
            switch kind {
            case "group":
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await stop() }
                    try await group.waitForAll()
                }
            case "let":
                async let stopped: Void = stop()
                try await stopped
            default: try await Task { try await stop() }.value
            }
        }
        try await service.start()
        let peer = try await BusStranger.join(bus.bus)
        // A handler that waits for itself does not answer within the call's time.
        _ = try await peer.call(Self.name, Stream1.path(of: Keeper1.name), Keeper1.name, "Keep")
        #expect(await eventually { (try? await peer.hasOwner(Self.name)) == false })
    }
    @Test(
        "handlers may stop each other's service, also one that is stopped from outside meanwhile",
        arguments: [2, 3], [false, true])
    func stopCrossed(count: Int, isStoppedOutside: Bool) async throws {
        let bus = try PrivateBus()
        let services = try (0..<count).map { number in
            try EventService(name: "\(Self.name)\(number)", on: bus.bus, exporting: Keeper1.self)
        }
        let inside = Atomic<Int>(0)
        let mayStop = Flag()
        for (number, service) in services.enumerated() {
            service.handle(Keep.self) { [weak next = services[(number + 1) % count]] _, _ in
                inside.add(1, ordering: .sequentiallyConsistent)
                #expect(await eventually { mayStop.isSet })
                try await next?.stop(patience: .seconds(3_600))
            }
            try await service.start()
        }
        let peer = try await BusStranger.join(bus.bus)
        let calls = try services.map { try peer.begin($0.name, Stream1.path(of: Keeper1.name), Keeper1.name, "Keep") }
        #expect(await eventually { inside.load(ordering: .sequentiallyConsistent) == count })
        let outside = Task { if isStoppedOutside { try await services[0].stop(patience: .seconds(3_600)) } }
        if isStoppedOutside { #expect(await eventually { services[0].core.queues.isHolding }) }
        mayStop.set()
        // Handlers that wait for each other do not answer within the calls' time.
        for call in calls { _ = try await call.value }
        try await outside.value
        for service in services { #expect(await eventually { (try? await peer.hasOwner(service.name)) == false }) }
    }
    @Test("a circle that leads over the bus ends when the patience does, by the cancellation of the handler in it")
    func stopOverTheBus() async throws {
        let bus = try PrivateBus()
        let peer = try await BusStranger.join(bus.bus)
        let services = try ["A", "B"].map {
            try EventService(name: "\(Self.name)\($0)", on: bus.bus, exporting: Keeper1.self)
        }
        let (wasCancelled, hasStopped) = (Flag(), Flag())
        let path = Stream1.path(of: Keeper1.name)
        services[0].handle(Keep.self) { [name = services[1].name] _, _ in
            do {
                let call = MethodCall(to: name, path: path, interface: Keeper1.name, member: "Keep")
                _ = try await peer.connection.call(call, timeout: .seconds(3_600))
            } catch .cancelled {
                wasCancelled.set()
            }
        }
        services[1].handle(Keep.self) { [weak first = services[0]] _, _ in
            try await first?.stop(patience: .milliseconds(100))
            hasStopped.set()
        }
        for service in services { try await service.start() }
        // The reply is not lost: the handler ends by itself when it is cancelled.
        _ = try await peer.call(services[0].name, path, Keeper1.name, "Keep")
        #expect(wasCancelled.isSet)
        #expect(await eventually { hasStopped.isSet })
        #expect(try await !peer.hasOwner(services[0].name))
        try await services[1].stop()
    }
    @Test("a task that outlives its handler waits for the others when it stops the service") func stopAfter()
        async throws
    {
        let bus = try PrivateBus()
        let service = try EventService(name: Self.name, on: bus.bus, exporting: Desk1.self)
        let (mayStop, mayEnd, hasStopped, running) = (Flag(), Flag(), Flag(), Flag())
        service.handle(Echo.self) { [weak service] command, _ in
            let service = try #require(service)
            Task {
                #expect(await eventually { mayStop.isSet })
                try await service.stop(patience: .seconds(3_600))
                hasStopped.set()
            }
            return Echo.Reply(text: command.text)
        }
        service.handle(Wait.self) { _, _ in
            running.set()
            #expect(await eventually { mayEnd.isSet })
        }
        service.handle(Fail.self) { _, _ in }
        service.handle(Fill.self) { _, _ in Fill.Reply(bytes: [], text: "") }
        service.handle(Restricted.self) { _, _ in }
        try await service.start()
        let (first, second) = (try await BusStranger.join(bus.bus), try await BusStranger.join(bus.bus))
        let path = Stream1.path(of: Desk1.name)
        _ = try await first.call(Self.name, path, Desk1.name, "Echo", [.string("a")])
        let waiting = try second.begin(Self.name, path, Desk1.name, "Wait", [.int64(1)])
        #expect(await eventually { running.isSet })
        mayStop.set()
        // It ends, and the handler of another call keeps it.
        #expect(await eventually { service.core.queues.isHolding })
        #expect(!hasStopped.isSet)
        mayEnd.set()
        _ = try await waiting.value
        #expect(await eventually { hasStopped.isSet })
    }
    @Test("the handler of a cancellable command may stop its service") func stopInCancellable() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: Self.name, on: bus.bus, exporting: Works1.self)
        service.handle(Work.self) { [weak service] work, _ in
            try await service?.stop(patience: .seconds(3_600))
            return Work.Reply(steps: work.steps)
        }
        service.handle(Labour.self) { _, _ in }
        service.handle(Greet.self) { _, _ in }
        try await service.start()
        let peer = try await BusStranger.join(bus.bus)
        let arguments: [DBusValue] = [.int64(1), .int32(0)]
        _ = try await peer.call(Self.name, Stream1.path(of: Works1.name), Works1.name, "Work", arguments)
        #expect(await eventually { (try? await peer.hasOwner(Self.name)) == false })
    }
}
