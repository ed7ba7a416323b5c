import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

enum Twin1: EventInterface {
    static let name = "org.example.Twin1"
    static let durability = Volatile()
    // Of a ring the bus could lose nothing.
    static let ringCapacity = 0
    static var contract: Contract<Self> {
        Left.self
        Right.self
    }
}
struct Left: DomainEvent {
    typealias Interface = Twin1
    var text: String
}
struct Right: DomainEvent {
    typealias Interface = Twin1
    var text: String
}

/// dbus-daemon drops what a receiver does not take: with a small limit, and a receiver whose thread stands.
@Suite("A bus that drops messages", .heavy, .tags(.g2, .g6)) struct BusLossTests {
    private static let name = "org.example.Twins"
    private static let text = String(repeating: "x", count: 1_000)

    /// A follower whose handler stands at the first event until it is let go.
    private final class Follower: Sendable {
        enum Line: Equatable {
            case event(UInt64)
            case gap(ClosedRange<UInt64>, count: Int?)
        }
        private struct Seen {
            var lines: [Line] = []
            var isActive = false
            var others: [String] = []
        }
        private let seen = Mutex(Seen())
        private let isOpen = Atomic<Bool>(false)
        private let stands = Atomic<Bool>(false)
        private let follower = Mutex<ServiceFollower?>(nil)

        init(_ bus: Bus, names: Set<String>?) throws {
            let follower = try ServiceFollower(service: BusLossTests.name, on: bus) { [weak self] in self?.take($0) }
            follower.follow(interface: Twin1.name, names: names)
            follower.activate()
            self.follower.withLock { $0 = follower }
        }
        private func take(_ output: SessionOutput) {
            switch output {
            case .event(let envelope):
                seen.withLock { $0.lines.append(.event(envelope.stamp.sequence)) }
                stands.store(true, ordering: .releasing)
                let deadline = ContinuousClock.now + .seconds(300)
                while !isOpen.load(ordering: .acquiring), ContinuousClock.now < deadline { usleep(500) }
            case .gap(_, let gap):
                seen.withLock { seen in
                    seen.lines.append(.gap(gap.sequences, count: gap.count))
                    if gap.reason != .lost { seen.others.append("\(gap)") }
                }
            case .state(.active): seen.withLock { $0.isActive = true }
            case .state: break
            }
        }
        var isActive: Bool { seen.withLock { $0.isActive } }
        var isStanding: Bool { stands.load(ordering: .acquiring) }
        var lines: [Line] { seen.withLock { $0.lines } }
        var faults: [String] { seen.withLock { $0.others } }
        var hasGap: Bool { lines.contains { if case .gap = $0 { true } else { false } } }
        /// The last sequence that is accounted for.
        var end: UInt64 {
            switch lines.last {
            case .event(let sequence): sequence
            case .gap(let range, _): range.upperBound
            case nil: 0
            }
        }
        func open() { isOpen.store(true, ordering: .releasing) }
    }
    private final class Stage: Sendable {
        let bus: PrivateBus
        let service: EventService
        let peer: BusStranger
        private let running: Task<Void, any Error>

        init() async throws {
            let bus = try PrivateBus(limits: .outgoing(100_000))
            let service = try EventService(name: BusLossTests.name, on: bus.bus, exporting: Twin1.self)
            (self.bus, self.service) = (bus, service)
            let ready = Atomic<Bool>(false)
            running = Task { try await service.run { ready.store(true, ordering: .releasing) } }
            #expect(await eventually { ready.load(ordering: .acquiring) })
            peer = try await BusStranger.join(bus.bus)
        }
        /// Returns when the bus has taken them all: it takes the answer behind them.
        func publish(_ count: Int, alternating: Bool) async throws {
            for number in 1...count {
                if alternating && number % 2 == 0 {
                    try service.publish(Right(text: BusLossTests.text))
                } else {
                    try service.publish(Left(text: BusLossTests.text))
                }
            }
            _ = try await peer.call(BusLossTests.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        }
        func end() async throws {
            running.cancel()
            try await running.value
        }
    }
    private static let count = 3_000

    /// A follower that took nothing while more was published than the bus keeps, and has seen the gap since.
    ///
    /// - Parameter further: how many events at a time show it the loss.
    private func lossy(_ names: Set<String>?, further: Int) async throws -> (Stage, Follower) {
        let stage = try await Stage()
        let follower = try Follower(stage.bus.bus, names: names)
        #expect(await eventually { follower.isActive })
        try await stage.publish(Self.count, alternating: true)
        #expect(await eventually { follower.isStanding })
        follower.open()
        #expect(
            await eventually {
                try? await stage.publish(further, alternating: further > 1)
                return follower.hasGap
            })
        return (stage, follower)
    }

    @Test("who follows all events learns exactly which are lost, and how many") func all() async throws {
        let (stage, follower) = try await lossy(nil, further: 1)
        // Each sequence once, in order, by an event or by a gap that counts it.
        var next: UInt64 = 1
        for line in follower.lines {
            switch line {
            case .event(let sequence):
                #expect(sequence == next)
                next = sequence + 1
            case .gap(let range, let count):
                #expect(range.lowerBound == next && count == range.count)
                next = range.upperBound + 1
            }
        }
        let lost = follower.lines.reduce(0) { sum, line in
            if case .gap(_, let count) = line { sum + (count ?? 0) } else { sum }
        }
        #expect(lost > Self.count / 4 && lost < Self.count && follower.faults == [])
        try await stage.end()
    }
    @Test("who follows one name learns of its losses by the predecessor that each event tells") func one() async throws
    {
        // Odd sequences are Left's.
        let (stage, follower) = try await lossy(["Left"], further: 2)
        var next: UInt64 = 1
        for line in follower.lines {
            switch line {
            case .event(let sequence):
                #expect(sequence == next)
                next = sequence + 2
            case .gap(let range, let count):
                // From right behind the last one that came to the last one that is missing, which is one of its own.
                #expect(range.lowerBound == next - 1 && range.upperBound % 2 == 1)
                #expect(count == nil || range.count == 1)
                next = range.upperBound + 2
            }
        }
        #expect(follower.faults == [])
        try await stage.end()
    }
    @Test(
        "a tail that is lost is found by the head; or by asking, when the head is lost, too", arguments: [true, false])
    func tail(losesHead: Bool) async throws {
        let stage = try await Stage()
        try await stage.peer.listen(Stream1.name)
        let follower = try Follower(stage.bus.bus, names: nil)
        #expect(await eventually { follower.isActive })
        try await stage.publish(Self.count, alternating: true)
        let end = UInt64(Self.count)
        func isAnnounced() -> Bool {
            stage.peer.signals.contains { $0.member == "Head" && $0.values.dropFirst().first == .uint64(end) }
        }
        if losesHead {
            #expect(await eventually { isAnnounced() })
            // What was sent before this, the bus has dropped or passed on.
            _ = try await stage.peer.call(Self.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        }
        #expect(await eventually { follower.isStanding })
        #expect(!follower.hasGap)
        follower.open()
        #expect(await eventually { follower.end == end })
        guard case .gap(let range, let count)? = follower.lines.last else {
            Issue.record("nothing was lost")
            return
        }
        #expect(range.upperBound == end && count == range.count && follower.faults == [])
        try await stage.end()
    }
}
