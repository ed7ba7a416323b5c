import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("Calls by a relay", .heavy) struct RelayCallTests {
    private func error(_ body: () async throws -> Void) async -> RelayError? {
        do {
            try await body()
            return nil
        } catch { return error as? RelayError }
    }

    @Test("a relay keeps back what the service would refuse: 300 calls at once are answered, and none is refused")
    func manyAtOnce() async throws {
        let bus = try PrivateBus()
        let workshop = try Workshop(bus.bus)
        try await workshop.service.start()
        let relay = try EventRelay(following: Workshop.name, on: bus.bus, interfaces: Works1.self)
        relay.activate()
        try await relay.ready(within: .seconds(300))
        let first = Task { try await relay.call(Labour(number: 1), timeout: .seconds(300)) }
        #expect(await workshop.wait(for: "labour 1"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 2...Int64(301) {
                group.addTask { _ = try await relay.call(Greet(number: number), timeout: .seconds(300)) }
            }
            // As many as the service takes are there; it has refused none.
            #expect(await eventually { workshop.service.core.queues.count == CallBounds.calls })
            workshop.release(1)
            try await group.waitForAll()
        }
        _ = try await first.value
        #expect(workshop.notes.count { $0.hasPrefix(":") } == 300)
        // One that waits for its place can be cancelled, and ends with its own time.
        let held = Task { try await relay.call(Labour(number: 2), timeout: .seconds(300)) }
        #expect(await workshop.wait(for: "labour 2"))
        let waiting = (1..<CallBounds.calls).map { number in
            Task { try await relay.call(Greet(number: Int64(number)), timeout: .seconds(300)) }
        }
        #expect(await eventually { workshop.service.core.queues.count == CallBounds.calls })
        let late = await error { try await relay.call(Greet(number: 0), timeout: .milliseconds(1)) }
        #expect(late?.code == .timedOut && late?.message.contains("64 other calls of this relay") == true, "\(late)")
        let cancelled = Task { try await relay.call(Greet(number: 0), timeout: .seconds(300)) }
        cancelled.cancel()
        #expect(await error { try await cancelled.value }?.code == .cancelled)
        workshop.release(2)
        for call in waiting + [held] { try await call.value }
        relay.invalidate()
        try await workshop.service.stop()
    }
    @Test("a subscriber that calls sees the command's events before the reply") func subscribeThenCall() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: "org.example.Shop", on: bus.bus, exporting: Shop1.self)
        service.handle(Order.self) { order, _ in
            try service.publish(Sold(item: order.item, price: 1, tags: []))
            try service.publish(Restocked(item: order.item, count: order.count))
            return Order.Reply(orderID: 1)
        }
        service.handle(Clear.self) { _, _ in }
        let running = Task { try await service.run() }
        let relay = try EventRelay(following: "org.example.Shop", on: bus.bus, interfaces: Shop1.self)
        relay.activate()
        #expect(await eventually { (try? await relay.call(Clear())) != nil })
        let seen = Mutex<[String]>([])
        var subscriptions: [Subscription] = []
        for round in 1...20 {
            // One name, then both, then none again: each time the rules and the scope change.
            subscriptions.append(
                relay.publisher.subscribe(to: Sold.self, delivery: .immediate) { event in
                    seen.withLock { $0.append("sold \(event.item)") }
                } onGap: { gap in
                    seen.withLock { $0.append("\(gap)") }
                })
            _ = try await relay.call(Order(item: "\(round)", count: 1))
            #expect(seen.withLock { $0 } == ["sold \(round)"])
            seen.withLock { $0 = [] }
            subscriptions.append(
                relay.publisher.subscribe(to: Restocked.self, delivery: .immediate) { event in
                    seen.withLock { $0.append("restocked \(event.item)") }
                } onGap: { gap in
                    seen.withLock { $0.append("\(gap)") }
                })
            _ = try await relay.call(Order(item: "\(round)", count: 1))
            #expect(seen.withLock { $0 } == ["sold \(round)", "restocked \(round)"])
            seen.withLock { $0 = [] }
            subscriptions.removeAll()
        }
        running.cancel()
        try await running.value
    }
    @Test("a call ends by its timeout and by cancellation, and says whether it may have run") func ends() async throws {
        let desk = try await Desk()
        let relay = try EventRelay(following: Desk.name, on: desk.bus.bus, interfaces: Desk1.self)
        let early = await error { try await relay.call(Wait(number: 0)) }
        #expect(early?.code == .unavailable && early?.mayHaveRun == false)
        relay.activate()
        // Else connecting would be part of the short time.
        #expect(await eventually { (try? await relay.call(Echo(text: "there"))) != nil })
        let late = await error { try await relay.call(Wait(number: 1), timeout: .milliseconds(200)) }
        #expect(late?.code == .timedOut && late?.mayHaveRun == true)
        await desk.open(1)
        let waiting = Task { await error { try await relay.call(Wait(number: 2)) } }
        #expect(await eventually { desk.notes.contains("wait 2") })
        waiting.cancel()
        let cancelled = await waiting.value
        #expect(cancelled?.code == .cancelled && cancelled?.mayHaveRun == true)
        await desk.open(2)
        let refused = await error { try await relay.call(Restricted()) }
        #expect(refused?.code == .notPermitted && refused?.mayHaveRun == false)
        let failed = await error { try await relay.call(Fail(how: "other")) }
        #expect(failed?.code == .internalFailure && failed?.mayHaveRun == true)
        let declared = await #expect(throws: Fail.Refusal.self) { try await relay.call(Fail(how: "declared")) }
        #expect(declared?.message == "as agreed")
        guard case .refused(let failure) = await relay.outcome(of: Fail(how: "declared")) else {
            Issue.record("was not refused")
            return
        }
        #expect(declared == failure)
        try await desk.stop()
    }
    @Test("a command of another version is a schema mismatch that names the field") func otherVersion() async throws {
        let desk = try await Desk()
        let relay = try EventRelay(following: Desk.name, on: desk.bus.bus, interfaces: LaterDesk1.self)
        relay.activate()
        let call = await error { _ = try await relay.call(LaterEcho(text: "a", times: 2)) }
        #expect(call?.code == .schemaMismatch && call?.mayHaveRun == false)
        for part in ["(text: s, times: i)", "takes (text: s)", "'times'", "nothing was sent"] {
            #expect(call?.message.contains(part) == true, "\(part): \(call?.message ?? "")")
        }
        let reply = await error { _ = try await relay.call(LaterFill(count: 1)) }
        #expect(reply?.code == .schemaMismatch && reply?.mayHaveRun == false)
        for part in ["'text'", "(bytes: ay, text: s)", "(bytes: ay, text: u)", "nothing was sent"] {
            #expect(reply?.message.contains(part) == true, "\(part): \(reply?.message ?? "")")
        }
        try await desk.stop()
    }
    @Test("without a bus a call ends at once, and nothing has run") func noBus() async throws {
        let relay = try EventRelay(
            following: Desk.name, on: .address("unix:path=/nonexistent/bus"), interfaces: Desk1.self)
        relay.activate()
        let error = await error { try await relay.call(Wait(number: 1)) }
        #expect(error?.code == .unavailable && error?.mayHaveRun == false)
    }
    @Test("without the service a call ends at once, and the relay goes on waiting for it") func noService()
        async throws
    {
        let bus = try PrivateBus()
        let relay = try EventRelay(following: Desk.name, on: bus.bus, interfaces: Desk1.self)
        relay.activate()
        let error = await error { try await relay.call(Wait(number: 1)) }
        #expect(error?.code == .unavailable && error?.mayHaveRun == false)
        let desk = try await Desk(bus)
        #expect(await eventually { (try? await relay.call(Echo(text: "there")))?.text == "there" })
        relay.invalidate()
        let after = await self.error { _ = try await relay.call(Echo(text: "gone")) }
        #expect(after?.code == .unavailable && after?.mayHaveRun == false)
        try await desk.stop()
    }
}

/// As `Desk1` may be one day.
private enum LaterDesk1: EventInterface {
    static let name = Desk1.name
    static let durability = Volatile()
    static var contract: Contract<Self> {
        LaterEcho.self
        LaterFill.self
    }
}
private struct LaterEcho: Command {
    typealias Interface = LaterDesk1
    static let name = "Echo"
    var text: String, times: Int32
    struct Reply: Codable, Sendable { var text: String }
}
private struct LaterFill: Command {
    typealias Interface = LaterDesk1
    static let name = "Fill"
    var count: Int32
    struct Reply: Codable, Sendable { var bytes: [UInt8], text: UInt32 }
}
