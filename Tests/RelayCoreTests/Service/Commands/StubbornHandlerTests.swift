import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

@Suite("Handlers that outlast the patience", .heavy, .tags(.g4)) struct StubbornHandlerTests {
    /// `Desk1` by hand, whose `Wait` stands until it is let go, be it cancelled or not.
    private final class Stubborn: Sendable {
        let service: EventService
        private let gate = Mutex<[CheckedContinuation<Void, Never>]>([])
        private let wasCancelled = Atomic<Bool>(false)
        private let hasEchoed = Atomic<Bool>(false)
        private let published = Mutex<(any Error)?>(nil)

        init(_ bus: Bus, heedsCancellation: Bool) throws {
            service = try EventService(name: Desk.name, on: bus, exporting: Desk1.self)
            service.handle(Wait.self) { [weak self] _, _ in await self?.stand(heedsCancellation) }
            service.handle(Echo.self) { [weak self] command, _ in
                self?.hasEchoed.store(true, ordering: .releasing)
                return Echo.Reply(text: command.text)
            }
            service.handle(Fail.self) { _, _ in }
            service.handle(Fill.self) { _, _ in Fill.Reply(bytes: [], text: "") }
            service.handle(Restricted.self) { _, _ in }
        }
        private func stand(_ heedsCancellation: Bool) async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in gate.withLock { $0.append(continuation) } }
            } onCancel: {
                wasCancelled.store(true, ordering: .releasing)
                if heedsCancellation { open() }
            }
            do {
                try service.publish(Torn(number: 1))
            } catch {
                published.withLock { $0 = error }
            }
        }
        var stands: Bool { gate.withLock { !$0.isEmpty } }
        var isCancelled: Bool { wasCancelled.load(ordering: .acquiring) }
        var echoed: Bool { hasEchoed.load(ordering: .acquiring) }
        var publishError: RelayError? { published.withLock { $0 as? RelayError } }
        func open() {
            let waiting = gate.withLock { gate in
                defer { gate = [] }
                return gate
            }
            for one in waiting { one.resume() }
        }
    }

    @Test("a handler whose service was released still replies, and hears of a caller that leaves") func released()
        async throws
    {
        let fixture = try BusFixture()
        let log = Mutex<[String]>([])
        let open = Mutex(false)
        let peers = Mutex<[BusFixture.Peer]>([])
        // The service is released at its end.
        func start() async throws {
            let service = try EventService(name: Workshop.name, on: fixture.bus.bus, exporting: Works1.self)
            service.handle(Work.self) { _, _ in
                log.withLock { $0.append("work") }
                while !Task.isCancelled { await Task.yield() }
                log.withLock { $0.append("left") }
                throw CancellationError()
            }
            service.handle(Labour.self) { _, _ in
                log.withLock { $0.append("labour") }
                while !open.withLock({ $0 }) { await Task.yield() }
            }
            service.handle(Greet.self) { _, _ in }
            try await service.start()
            let (caller, leaver) = (try await fixture.peer(), try await fixture.peer())
            try caller.connection.send(Workshop.call("Labour", [.int64(1)])) { result in
                log.withLock { $0.append((try? result.get()) == nil ? "failed" : "replied") }
            }
            try leaver.connection.send(Workshop.call("Work", [.int64(1), .int32(0)])) { _ in }
            #expect(await eventually { Set(log.withLock { $0 }) == ["labour", "work"] })
            peers.withLock { $0 = [caller, leaver] }
        }
        try await start()
        peers.withLock { $0[1].connection.close() }
        #expect(await eventually { log.withLock { $0.contains("left") } })
        open.withLock { $0 = true }
        #expect(await eventually { log.withLock { $0.contains("replied") } })
        peers.withLock { $0[0].connection.close() }
    }
    @Test("a handler that outlasts the patience is cancelled, what waits behind it refused, and the end comes")
    func stubborn() async throws {
        let bus = try PrivateBus()
        let stubborn = try Stubborn(bus.bus, heedsCancellation: false)
        let running = Task { try await stubborn.service.run(patience: .milliseconds(100)) }
        let peer = try await BusStranger.join(bus.bus)
        #expect(await eventually { (try? await peer.call(Desk.name, "/", "org.freedesktop.DBus.Peer", "Ping")) != nil })
        async let waits = peer.refusal(Desk.name, Desk.path, Desk1.name, "Wait", [.int64(1)])
        #expect(await eventually { stubborn.stands })
        let behind = try peer.begin(Desk.name, Desk.path, Desk1.name, "Echo", [.string("behind")])
        // Answered behind the one that waits: so that one is there.
        _ = try await peer.call(Desk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        running.cancel()
        try await running.value
        #expect(stubborn.isCancelled && !stubborn.echoed)
        await #expect {
            try await behind.value
        } throws: {
            (($0 as? RelayError)?.cause as? RemoteError)?.name == "org.eventrelay.Error.Unavailable"
        }
        #expect(await waits != nil, "the bus answers for a service that has left")
        stubborn.open()
        #expect(await eventually { stubborn.publishError?.code == .unavailable }, "nothing follows the last word")
        let again = try EventService(name: Desk.name, on: bus.bus, exporting: Plain1.self)
        let next = Task { try await again.run() }
        #expect(await eventually { (try? await peer.call(Desk.name, "/", "org.freedesktop.DBus.Peer", "Ping")) != nil })
        next.cancel()
        try await next.value
    }
    @Test("a handler that heeds its cancellation is answered, and its events go out") func heeding() async throws {
        let bus = try PrivateBus()
        let stubborn = try Stubborn(bus.bus, heedsCancellation: true)
        let running = Task { try await stubborn.service.run(patience: .milliseconds(100)) }
        let peer = try await BusStranger.join(bus.bus)
        try await peer.listen(Desk1.name)
        #expect(await eventually { (try? await peer.call(Desk.name, "/", "org.freedesktop.DBus.Peer", "Ping")) != nil })
        async let waits = peer.refusal(Desk.name, Desk.path, Desk1.name, "Wait", [.int64(1)])
        #expect(await eventually { stubborn.stands })
        running.cancel()
        try await running.value
        #expect(await waits == nil)
        #expect(await eventually { peer.signals.contains { $0.member == "Torn" } })
        #expect(stubborn.publishError == nil)
    }
}
