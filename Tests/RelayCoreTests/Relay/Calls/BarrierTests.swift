import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

/// A durable interface whose signals pause at once, and that has no ring: what is missing is read.
private enum Slow1: EventInterface {
    static let name = "org.example.Slow1"
    static let signalBudget = SignalBudget.perSecond(20, burst: 20)
    static let ringCapacity = 0
    static var contract: Contract<Self> { Slowed.self }
}
private struct Slowed: DomainEvent {
    typealias Interface = Slow1
    var number: Int64
}
/// The same, and volatile: what is missing is a gap.
private enum Loose1: EventInterface {
    static let name = "org.example.Loose1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.perSecond(20, burst: 20)
    static let ringCapacity = 0
    static var contract: Contract<Self> { Loosed.self }
}
private struct Loosed: DomainEvent {
    typealias Interface = Loose1
    var number: Int64
}

@Suite("Barriers", .heavy, .tags(.g1, .g2)) struct BarrierTests {
    private static let name = "org.example.Barrier"

    /// The numbers that came, and the ranges that are missing.
    private final class Seen: Sendable {
        private let list = Mutex<[Int64]>([])
        private let missing = Mutex<[ClosedRange<UInt64>]>([])
        func add(_ number: Int64) { list.withLock { $0.append(number) } }
        func add(_ gap: Gap) { missing.withLock { $0.append(gap.sequences) } }
        var numbers: [Int64] { list.withLock { $0 } }
        var gaps: [ClosedRange<UInt64>] { missing.withLock { $0 } }
        /// Of a run that was seen whole.
        var accounted: UInt64 { UInt64(numbers.count) + gaps.reduce(0) { $0 + $1.upperBound - $1.lowerBound + 1 } }
    }
    private func error(_ body: () async throws -> Void) async -> RelayError? {
        do {
            try await body()
            return nil
        } catch { return error as? RelayError }
    }
    private func started(_ service: EventService) async throws -> EventService {
        try await service.start()
        return service
    }

    @Test("what was published before is here when it returns: by ring, by signal, and from a pause") func delivers()
        async throws
    {
        let bus = try PrivateBus()
        let service = try await started(
            EventService(
                Self.name, bus.bus, [Plain1.self, Slow1.self, Loose1.self], journal: MemoryLog(), { _ in }))
        let relay = try EventRelay(
            following: Self.name, on: bus.bus, interfaces: Plain1.self, Slow1.self, Loose1.self, delivery: .immediate)
        let (said, slowed, loosed, replayed) = (Seen(), Seen(), Seen(), Seen())
        var subscriptions = [
            relay.publisher.subscribe(to: Said.self) {
                said.add($0.number)
            } onGap: {
                said.add($0)
            },
            relay.publisher.subscribe(to: Slowed.self) {
                slowed.add($0.number)
            } onGap: {
                slowed.add($0)
            },
            relay.publisher.subscribe(to: Loosed.self) {
                loosed.add($0.number)
            } onGap: {
                loosed.add($0)
            },
        ]
        relay.activate()
        try await relay.ready()
        for round in 1...Int64(10) {
            let numbers = (round - 1) * 100 + 1...round * 100
            for number in numbers {
                try service.publish(Said(thread: 0, number: number))
                try await service.publish(Slowed(number: number))
                try service.publish(Loosed(number: number))
            }
            try await relay.barrier()
            #expect(said.numbers == Array(1...round * 100) && said.gaps == [])
            #expect(slowed.numbers == Array(1...round * 100) && slowed.gaps == [])
            #expect(loosed.accounted == UInt64(round) * 100, "\(loosed.gaps)")
        }
        // A replay is waited for, too; and so is a subscription that was made the moment before.
        subscriptions.append(
            try relay.subscribe(to: Slowed.self, from: .beginning) {
                replayed.add($0.number)
            } onGap: {
                replayed.add($0)
            })
        try await relay.barrier(for: Slow1.self)
        #expect(replayed.numbers == Array(1...1_000) && replayed.gaps == [])
        subscriptions.removeAll()
        try await relay.barrier()
        relay.invalidate()
        #expect(await error { try await relay.barrier() }?.code == .unavailable)
        try await service.stop()
    }
    @Test("an event that got lost is a gap by then") func reportsLoss() async throws {
        let harness = TestHarness()
        let service = try EventService(name: Self.name, on: harness.bus, exporting: Plain1.self)
        try await harness.start(service)
        let relay = try EventRelay(
            following: Self.name, on: harness.bus, interfaces: Plain1.self, delivery: .immediate)
        let seen = Seen()
        let subscription = relay.publisher.subscribe(to: Said.self) {
            seen.add($0.number)
        } onGap: {
            seen.add($0)
        }
        relay.activate()
        try await harness.settle()
        try service.publish(Said(thread: 0, number: 1))
        harness.loseEvents(2, of: Plain1.self)
        for number in Int64(2)...3 { try service.publish(Said(thread: 0, number: number)) }
        try await relay.barrier()
        #expect(seen.numbers == [1] && seen.gaps == [2...3])
        withExtendedLifetime(subscription) {}
    }
    @Test("without a service, at its departure, in time and by cancellation it throws") func ends() async throws {
        let bus = try PrivateBus()
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Plain1.self)
        let seen = Seen()
        let subscription = relay.publisher.subscribe(to: Said.self) {
            seen.add($0.number)
        } onGap: {
            seen.add($0)
        }
        #expect(await error { try await relay.barrier() }?.message.contains("activate()") == true)
        relay.activate()
        #expect(await error { try await relay.barrier() }?.message.contains("is not running") == true)
        let foreign = await error { try await relay.barrier(for: Desk1.self) }
        #expect(foreign?.code == .notFound)
        // It answers everything but this.
        let fake = try await FakeService.start(Self.name, Plain1.name, on: bus.bus, epoch: 1)
        try await relay.ready()
        #expect(await error { try await relay.barrier(timeout: .milliseconds(50)) }?.code == .timedOut)
        let (cancelled, left) = (
            Task { await error { try await relay.barrier() } }, Task { await error { try await relay.barrier() } }
        )
        #expect(await eventually { fake.calls.count { $0 == "Barrier" } == 3 })
        cancelled.cancel()
        #expect(await cancelled.value?.code == .cancelled)
        fake.vanish()
        let interrupted = await left.value
        #expect(interrupted?.code == .unavailable, "\(String(describing: interrupted))")
        withExtendedLifetime(subscription) {}
    }
}
