import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

/// A volatile interface with a budget that is soon used up, however slow the machine, and a ring that holds all that is published here.
private enum Far1: EventInterface {
    static let name = "org.example.Far1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.perSecond(200, burst: 1_000)
    static var contract: Contract<Self> { Strayed.self }
}
private struct Strayed: FixedLayoutEvent {
    typealias Interface = Far1
    var number: Int64
}

/// A service and relays, of which some are connected in a way that passes no descriptors: a ring cannot reach them.
@Suite("Connections that pass no descriptors", .heavy, .tags(.g2)) struct WithoutDescriptorsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var isServiceRemote = false
        var isRelayRemote = false
    }
    private static let name = "org.example.Far"
    static let cases = [
        Case(testDescription: "both", isServiceRemote: true, isRelayRemote: true),
        Case(testDescription: "the relay's", isRelayRemote: true),
        Case(testDescription: "the service's", isServiceRemote: true),
    ]

    @Test(
        "all events come as signals, what the budget holds back is a gap or read, and others have the ring",
        arguments: cases)
    func signals(_ which: Case) async throws {
        let bus = try await TCPBus()
        let service = try EventService(
            name: Self.name, on: which.isServiceRemote ? bus.remote : bus.local, exporting: Far1.self, Ledger1.self,
            journal: MemoryLog())
        service.handle(Book.self) { _, _ in }
        service.handle(Broken.self) { _, _ in }
        let running = Task { try await service.run() }

        let relay = try EventRelay(
            following: Self.name, on: which.isRelayRemote ? bus.remote : bus.local, interfaces: Far1.self, Ledger1.self)
        let near = try EventRelay(following: Self.name, on: bus.local, interfaces: Far1.self)
        let (seen, nearby) = (Seen<Strayed>(relay) { $0.number }, Seen<Strayed>(near) { $0.number })
        let booked = Seen<Booked>(relay) { $0.number }
        for relay in [relay, near] { relay.activate() }
        for interface in [Far1.name, Ledger1.name] {
            #expect(await eventually { relay.phase(of: interface) == .signals })
            #expect(await relay.isLive(interface))
        }
        #expect(await eventually { near.phase(of: Far1.name) == (which.isServiceRemote ? .signals : .direct) })
        #expect(await near.isLive(Far1.name))

        // Less than the budget, then at once far more.
        for number: Int64 in 1...500 { try service.publish(Strayed(number: number)) }
        #expect(await eventually { seen.account.end == 500 })
        #expect(seen.account == (500, 500, 0))
        let last: Int64 = 20_500
        for number in 501...last { try service.publish(Strayed(number: number)) }
        #expect(await eventually { seen.account.end == last && nearby.account.end == last })
        let (_, events, gaps) = seen.account
        #expect(gaps > 0 && events + gaps == last, "\(events) events, and \(gaps) in gaps")
        if !which.isServiceRemote { #expect(nearby.account == (last, last, 0)) }

        // On a durable interface they are read.
        for first in stride(from: Int64(1), to: 10_000, by: 500) {
            try await service.publish(contentsOf: (first..<first + 500).map { Booked(number: $0, text: "text") })
        }
        #expect(await eventually { booked.account.end == 10_000 })
        #expect(booked.account == (10_000, 10_000, 0))

        #expect(relay.ringThread == nil && relay.follower.ringFaults == 0)
        for relay in [relay, near] { relay.invalidate() }
        running.cancel()
        try await running.value
    }

    /// A subscriber's account of events that are numbered like their sequences.
    private final class Seen<E: DomainEvent>: Sendable {
        private let state = Mutex<(end: Int64, events: Int64, gaps: Int64)>((0, 0, 0))
        private let subscription = Mutex<Subscription?>(nil)

        init(_ relay: EventRelay, _ number: @escaping @Sendable (E) -> Int64) {
            let subscription = relay.publisher.subscribe(to: E.self, delivery: .immediate) { [weak self] event in
                self?.take(number(event)...number(event), isGap: false)
            } onGap: { [weak self] gap in
                self?.take(
                    Int64(clamping: gap.sequences.lowerBound)...Int64(clamping: gap.sequences.upperBound), isGap: true)
            }
            self.subscription.withLock { $0 = subscription }
        }
        private func take(_ range: ClosedRange<Int64>, isGap: Bool) {
            state.withLock { state in
                // Out of order: the account ends there, and the test fails.
                guard range.lowerBound == state.end + 1 else { return }
                state.end = range.upperBound
                if isGap { state.gaps += Int64(range.count) } else { state.events += 1 }
            }
        }
        /// How far it goes without a hole; how many events, and how many in gaps.
        var account: (end: Int64, events: Int64, gaps: Int64) { state.withLock { $0 } }
    }
}
