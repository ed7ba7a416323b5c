import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

/// Stands for the protocol of swift-service-lifecycle.
private protocol LifecycleService: Sendable { func run() async throws }
extension EventService: LifecycleService {}

private enum Stopped1: EventInterface {
    static let name = "org.example.Stopped1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Halt.self
        Pour.self
    }
}
private struct Halt: Command { typealias Interface = Stopped1 }
private struct Pour: Command {
    typealias Interface = Stopped1
    struct Reply: Codable, Sendable { var bytes: [UInt8] }
}
private func standsStill(_ process: Int32) -> Bool {
    guard let file = fopen("/proc/\(process)/stat", "r") else { return false }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, 256, file) != nil else { return false }
    // Behind the name in brackets.
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.contains(") T ")
}

@Suite("Start and stop of a service", .heavy, .tags(.g6)) struct StartStopTests {
    private func service(_ bus: PrivateBus) throws -> EventService {
        try EventService(name: Desk.name, on: bus.bus, exporting: Plain1.self)
    }
    private func code(_ body: () async throws -> Void) async -> RelayError.Code? {
        do {
            try await body()
            return nil
        } catch { return (error as? RelayError)?.code }
    }
    @Test("start returns when the name is owned, and stop when it is given up, with `End` before") func startStop()
        async throws
    {
        let bus = try PrivateBus()
        let peer = try await BusStranger.join(bus.bus)
        try await peer.listen(Stream1.name)
        let service = try service(bus)
        try await service.start()
        #expect(try await peer.hasOwner(Desk.name))
        try service.publish(Said(thread: 1, number: 1))
        try await service.stop()
        #expect(try await !peer.hasOwner(Desk.name))
        #expect(await eventually { peer.signals.last?.member == "End" })
        #expect(throws: RelayError.self) { try service.publish(Said(thread: 1, number: 2)) }
        // Nothing is left to stop, and nothing starts again.
        try await service.stop()
        #expect(await code { try await service.start() } == .invalidArgument)
        #expect(await code { try await service.run() } == .invalidArgument)
    }
    @Test("run goes on where start was, and ends by cancellation, or by stop", arguments: [true, false])
    func runAfterStart(stops: Bool) async throws {
        let bus = try PrivateBus()
        let service = try service(bus)
        try await service.start()
        let isReady = Atomic<Bool>(false)
        let running = Task { try await service.run { isReady.store(true, ordering: .releasing) } }
        #expect(await eventually { isReady.load(ordering: .acquiring) })
        #expect(await code { try await service.start() } == .invalidArgument)
        #expect(await code { try await service.run() } == .invalidArgument)
        if stops { try await service.stop() } else { running.cancel() }
        try await running.value
        // The name is free.
        let next = try self.service(bus)
        try await next.start()
        try await next.stop()
    }
    @Test("a stop while run() starts the service is an orderly end of both") func stopWithinStart() async throws {
        let bus = try PrivateBus()
        for _ in 1...20 {
            let service = try service(bus)
            let running = Task { try await service.run() }
            #expect(await eventually { if case .prepared = service.life.move({ _ in nil }) { false } else { true } })
            try await service.stop()
            try await running.value
        }
    }
    @Test("it is a service of swift-service-lifecycle, without an adapter") func lifecycle() async throws {
        let bus = try PrivateBus()
        let peer = try await BusStranger.join(bus.bus)
        let service: any LifecycleService = try service(bus)
        let running = Task { try await service.run() }
        #expect(await eventually { (try? await peer.hasOwner(Desk.name)) == true })
        running.cancel()
        try await running.value
        #expect(try await !peer.hasOwner(Desk.name))
    }
    @Test("stopping what was never started does nothing, and it can be started then") func unstarted() async throws {
        let bus = try PrivateBus()
        let service = try service(bus)
        try await service.stop()
        try await service.start()
        try await service.stop()
    }
    @Test("a start that fails leaves nothing behind, and says why") func failures() async throws {
        let bus = try PrivateBus()
        let first = try service(bus)
        try await first.start()
        let second = try service(bus)
        #expect(await code { try await second.start() } == .conflict)
        try await second.stop()
        try await first.stop()
        let bare = try EventService(name: Desk.name, on: bus.bus, exporting: Desk1.self)
        #expect(await code { try await bare.start() } == .notFound)
        let third = try service(bus)
        let cancelled = Task { try await third.start() }
        cancelled.cancel()
        let result = await code { try await cancelled.value }
        #expect(result == nil || result == .cancelled)
        try await third.stop()
    }
    @Test("a bus that is silent after Hello is not waited for for ever, and is named") func silentBus() async throws {
        let silent = try HelloBus()
        let service = try EventService(
            Desk.name, silent.bus, [Plain1.self], journal: nil,
            timing: ServiceTiming { $0.matchRules = .milliseconds(100) }
        ) { _ in }
        let error = await #expect(throws: RelayError.self) {
            try await service.core.start()
        }
        #expect(silent.hasReceived("AddMatch"))
        #expect(error?.code == .unavailable)
        #expect(
            error?.message.hasPrefix("\(Desk.name) cannot start: \(silent.bus) answered Hello, and no AddMatch within ")
                == true, "\(String(describing: error))")
        // A task that is cancelled does not wait at all.
        let other = try HelloBus()
        let cancelled = try EventService(
            Desk.name, other.bus, [Plain1.self], journal: nil,
            timing: ServiceTiming { $0.matchRules = .seconds(3_600) }
        ) { _ in }
        let starting = Task { try await cancelled.core.start() }
        #expect(await eventually { other.hasReceived("AddMatch") })
        starting.cancel()
        #expect(await code { try await starting.value } == .cancelled)
    }
    @Test("a handler that stops its service before start() has returned stops it") func stopByFirstCall() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: Desk.name, on: bus.bus, exporting: Stopped1.self)
        service.handle(Halt.self) { _, _ in try await service.stop() }
        service.handle(Pour.self) { _, _ in Pour.Reply(bytes: []) }
        try await service.start()
        let peer = try await BusStranger.join(bus.bus)
        // As if the call had come with the answer to `RequestName`.
        service.life.move { _ in .starting }
        _ = try await peer.call(Desk.name, Stream1.path(of: Stopped1.name), Stopped1.name, "Halt")
        #expect(try await peer.hasOwner(Desk.name))
        service.life.move { _ in .started(hasEnder: false) }
        #expect(await eventually { (try? await peer.hasOwner(Desk.name)) == false })
        #expect(await eventually { if case .ended = service.life.move({ _ in nil }) { true } else { false } })
    }
    @Test("a reply that waits for the bus is sent, though the bus did not answer that it took the name back")
    func unansweredRelease() async throws {
        let bus = try PrivateBus()
        let service = try EventService(
            Desk.name, bus.bus, [Stopped1.self], journal: nil,
            timing: ServiceTiming {
                $0.bus.answer = .milliseconds(100)
                $0.drain = .seconds(60)
            }
        ) { _ in }
        service.handle(Halt.self) { _, _ in }
        // The socket's buffers do not hold it.
        service.handle(Pour.self) { _, _ in
            bus.process.signal(SIGSTOP)
            #expect(await eventually { standsStill(bus.processID) })
            return Pour.Reply(bytes: [UInt8](repeating: 1, count: 900 << 10))
        }
        try await service.start()
        let peer = try await BusStranger.join(bus.bus)
        let reply = try peer.begin(Desk.name, Stream1.path(of: Stopped1.name), Stopped1.name, "Pour")
        #expect(
            await eventually {
                service.core.loop.withTurn { service.core.queues.count == 0 } && standsStill(bus.processID)
            })
        // As one that nobody uses: it gives up its name first.
        service.core.idle.hasIdled.store(true, ordering: .releasing)
        async let stop: Void = service.core.stop(patience: .zero)
        // The bus was asked, and has not answered in time.
        #expect(await eventually { service.core.calls.hasEndedStreams.load(ordering: .acquiring) })
        bus.process.signal(SIGCONT)
        #expect(try await reply.value.count == 1)
        await stop
    }
    @Test("stop tells why the service had ended before") func busGone() async throws {
        let bus = try PrivateBus()
        let service = try service(bus)
        try await service.start()
        bus.process.signal(SIGKILL)
        #expect(await eventually { service.core.endReason != nil })
        #expect(await code { try await service.stop() } == .unavailable)
    }
    @Test("several that stop at once all return when it is over") func together() async throws {
        let bus = try PrivateBus()
        let peer = try await BusStranger.join(bus.bus)
        let service = try service(bus)
        try await service.start()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await service.stop()
                    return try await peer.hasOwner(Desk.name)
                }
            }
            for try await isOwned in group { #expect(!isOwned) }
        }
    }
}
