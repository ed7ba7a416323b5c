import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

/// A volatile interface whose signals are all sent.
enum Plain1: EventInterface {
    static let name = "org.example.Plain1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.unlimited
    static let ringCapacity = 1 << 20
    static var contract: Contract<Self> {
        Counted.self
        Said.self
        CountUp.self
    }
}
struct Counted: FixedLayoutEvent, Equatable {
    typealias Interface = Plain1
    var publisher: Int64, number: Int64
}
struct Said: DomainEvent, Equatable {
    typealias Interface = Plain1
    var publisher: Int64, text: String
}
/// Publishes so many events, then replies.
struct CountUp: Command {
    typealias Interface = Plain1
    var count: Int64
    struct Reply: Codable, Sendable { var last: Int64 }
}
/// A volatile interface that every transport but a link within the process has too little room for.
enum Narrow1: EventInterface {
    static let name = "org.example.Narrow1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.perSecond(50, burst: 50)
    static let ringCapacity = 64 << 10
    static var contract: Contract<Self> { Poured.self }
}
struct Poured: DomainEvent, Equatable {
    typealias Interface = Narrow1
    var number: Int64, filling: String
}
enum Kept1: EventInterface {
    static let name = "org.example.Kept1"
    static let signalBudget = SignalBudget.perSecond(50, burst: 50)
    static let ringCapacity = 64 << 10
    static var contract: Contract<Self> { Filed.self }
}
struct Filed: DomainEvent, Equatable {
    typealias Interface = Kept1
    var number: Int64
}

/// What every transport keeps, from `publish` to the subscriber. What only one of them does is in a suite of its own
/// (`RingFollowingTests`, `SignalBudgetTests`, `InProcessTests`).
@Suite("Every transport, from end to end", .heavy, .tags(.g1, .g2)) struct TransportTests {
    /// `linked`: signals within the process, as a harness has them.
    enum Transport: String, CaseIterable, Sendable { case signal, ring, linked }

    /// A service, and relays that have its events by one transport.
    final class Site: Sendable {
        static let name = "org.example.Site"
        private let transport: Transport
        private let daemon: PrivateBus?
        private let harness: TestHarness?
        private let bus: Bus
        let log = MemoryLog()
        private let running = Mutex<Task<Void, any Error>?>(nil)

        init(_ transport: Transport) throws {
            self.transport = transport
            if transport == .linked {
                let harness = TestHarness()
                (self.harness, daemon, bus) = (harness, nil, harness.bus)
            } else {
                let daemon = try PrivateBus()
                (harness, self.daemon, bus) = (nil, daemon, daemon.bus)
            }
        }
        func start(_ log: MemoryLog) async throws -> EventService {
            let service = try EventService(
                name: Self.name, on: bus, exporting: Plain1.self, Narrow1.self, Kept1.self, journal: log)
            service.handle(CountUp.self) { [weak service] command, _ in
                for number in 1...command.count { try service?.publish(Counted(publisher: 0, number: number)) }
                return CountUp.Reply(last: command.count)
            }
            let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                defer { isReady.finish() }
                try await service.run { isReady.finish() }
            }
            running.withLock { $0 = task }
            for await _ in ready {}
            return service
        }
        func stop() async throws {
            let task = running.withLock { running in
                defer { running = nil }
                return running
            }
            task?.cancel()
            try await task?.value
        }
        func relay() throws -> EventRelay {
            try EventRelay(
                following: Self.name, on: bus, interfaces: Plain1.self, Narrow1.self, Kept1.self,
                usesRings: transport != .signal)
        }
        /// Follows an interface, and returns when nothing that is published from now on is missed.
        func follow<I: EventInterface>(_ interface: I.Type) async throws -> (EventRelay, EventRecorder) {
            let relay = try relay()
            let recorder = EventRecorder(relay.publisher, of: interface)
            relay.activate()
            for await state in relay.states { if case .active = state { break } }
            return (relay, recorder)
        }
    }
    /// The sequences of what was recorded: each is an event's or in a gap, and they rise.
    private static func account(_ recorder: EventRecorder) -> (events: Int, missing: Int, last: UInt64) {
        var (events, missing, last) = (0, 0, UInt64(0))
        for delivery in recorder.deliveries {
            switch delivery {
            case .event(_, let stamp):
                #expect(stamp.sequence == last + 1)
                (events, last) = (events + 1, stamp.sequence)
            case .gap(let gap):
                #expect(gap.sequences.lowerBound == last + 1 && gap.sequences.upperBound < .max)
                (missing, last) = (missing + gap.sequences.count, gap.sequences.upperBound)
            }
        }
        return (events, missing, last)
    }

    @Test("events come once each, in one order, whichever threads publish", arguments: Transport.allCases)
    func order(_ transport: Transport) async throws {
        let site = try Site(transport)
        let service = try await site.start(site.log)
        let (relay, recorder) = try await site.follow(Plain1.self)
        let (publishers, count) = (4, 200)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for publisher in 0..<publishers {
                group.addTask {
                    for number in 0..<count {
                        let (publisher, number) = (Int64(publisher), Int64(number))
                        if number % 3 == 0 {
                            try service.publish(Said(publisher: publisher, text: "\(number)"))
                        } else {
                            try service.publish(Counted(publisher: publisher, number: number))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await eventually { recorder.events.count >= publishers * count })
        let (events, missing, _) = Self.account(recorder)
        #expect(events == publishers * count && missing == 0)
        var numbers = [[Int64]](repeating: [], count: publishers)
        for event in recorder.events {
            switch event {
            case let event as Counted: numbers[Int(event.publisher)].append(event.number)
            case let event as Said: numbers[Int(event.publisher)].append(Int64(event.text) ?? -1)
            default: Issue.record("\(event)")
            }
        }
        #expect(numbers == [[Int64]](repeating: (0..<count).map { Int64($0) }, count: publishers))
        relay.invalidate()
        try await site.stop()
    }
    @Test("a reply comes after the events before it", arguments: Transport.allCases)
    func reply(_ transport: Transport) async throws {
        let site = try Site(transport)
        _ = try await site.start(site.log)
        let relay = try site.relay()
        let seen = Mutex<[Int64]>([])
        let subscription = relay.publisher.subscribe(to: Counted.self, delivery: .immediate) { event in
            seen.withLock { $0.append(event.number) }
        } onGap: {
            Issue.record("\($0)")
        }
        relay.activate()
        for count in [1, 5, 40, 3] as [Int64] {
            seen.withLock { $0 = [] }
            let reply = try await relay.call(CountUp(count: count))
            #expect(reply.last == count && seen.withLock { $0 } == Array(1...count))
        }
        subscription.cancel()
        relay.invalidate()
        try await site.stop()
    }
    @Test(
        "a subscriber that is too slow: each event comes, or is in a gap, and none is both",
        arguments: Transport.allCases)
    func loss(_ transport: Transport) async throws {
        let site = try Site(transport)
        let service = try await site.start(site.log)
        let (relay, recorder) = try await site.follow(Narrow1.self)
        let gate = Mutex(true)
        let isStopped = Mutex(false)
        let count = 3_000
        // Holds the relay's thread up.
        let brake = relay.publisher.subscribe(to: Poured.self, delivery: .immediate) { event in
            guard event.number == 1 else { return }
            isStopped.withLock { $0 = true }
            while gate.withLock({ $0 }) { usleep(1_000) }
        } onGap: { _ in
        }
        let filling = String(repeating: "x", count: 100)
        try service.publish(Poured(number: 1, filling: filling))
        #expect(await eventually { isStopped.withLock { $0 } })
        for number in 2...count { try service.publish(Poured(number: Int64(number), filling: filling)) }
        gate.withLock { $0 = false }
        // What comes behind shows what is missing, whatever carries it.
        #expect(
            await eventually {
                try? service.publish(Poured(number: 0, filling: ""))
                return Self.account(recorder).last >= UInt64(count)
            })
        let (events, missing, last) = Self.account(recorder)
        #expect(UInt64(events + missing) == last)
        #expect(transport == .linked ? missing == 0 : missing > 0)
        brake.cancel()
        relay.invalidate()
        try await site.stop()
    }
    @Test("of a durable interface nothing is missing, whatever the transport lost", arguments: Transport.allCases)
    func durable(_ transport: Transport) async throws {
        let site = try Site(transport)
        let service = try await site.start(site.log)
        let (relay, recorder) = try await site.follow(Kept1.self)
        let count: Int64 = 400
        for start in stride(from: Int64(1), through: count, by: 50) {
            try await service.publish(contentsOf: (start..<start + 50).map { Filed(number: $0) })
        }
        #expect(await eventually { recorder.events.count >= count })
        #expect(recorder.events(of: Filed.self).map(\.number) == Array(1...count) && recorder.gaps.isEmpty)
        relay.invalidate()
        try await site.stop()
    }
    @Test("a join at a sequence: what was before is read, and goes over into what comes", arguments: Transport.allCases)
    func join(_ transport: Transport) async throws {
        let site = try Site(transport)
        let service = try await site.start(site.log)
        try await service.publish(contentsOf: (1...20).map { Filed(number: $0) })
        let (relay, recorder) = try await site.follow(Kept1.self)
        let seen = Log<Int64>()
        let subscription = try relay.subscribe(to: Filed.self, from: StreamPosition(.at(15))) {
            seen.add($0.number)
        } onGap: {
            Issue.record("\($0)")
        }
        for number in 21...40 { try await service.publish(Filed(number: Int64(number))) }
        #expect(await eventually { seen.count >= 26 && recorder.events.count >= 20 })
        #expect(seen.values == Array(15...40))
        #expect(recorder.events(of: Filed.self).map(\.number) == Array(21...40) && recorder.gaps.isEmpty)
        subscription.cancel()
        relay.invalidate()
        try await site.stop()
    }
    @Test("the end of a run is no loss, and the next run begins", .tags(.g6), arguments: Transport.allCases)
    func end(_ transport: Transport) async throws {
        let site = try Site(transport)
        let first = try await site.start(site.log)
        let (relay, plain) = try await site.follow(Plain1.self)
        let kept = EventRecorder(relay.publisher, of: Kept1.self)
        try first.publish(Said(publisher: 0, text: "one"))
        try await first.publish(Filed(number: 1))
        try await site.stop()
        #expect(throws: RelayError.self) { try first.publish(Said(publisher: 0, text: "late")) }
        let second = try await site.start(site.log.reopened())
        // Of the next run only what is published when the relay has found it.
        #expect(
            await eventually {
                try? second.publish(Said(publisher: 1, text: "two"))
                return plain.events.count >= 2
            })
        try await second.publish(Filed(number: 2))
        #expect(await eventually { kept.events(of: Filed.self).last?.number == 2 })
        #expect(kept.gaps.isEmpty)
        #expect(plain.events(of: Said.self).first?.text == "one" && plain.events(of: Said.self)[1].text == "two")
        #expect(Set(plain.stamps.map(\.epoch)).count == 2)
        #expect(plain.gaps.allSatisfy { $0.epoch != plain.stamps[0].epoch })
        relay.invalidate()
        try await site.stop()
    }
    @Test("every transport has its name in Status", arguments: Transport.allCases)
    func status(_ transport: Transport) async throws {
        let site = try Site(transport)
        let service = try await site.start(site.log)
        let (relay, recorder) = try await site.follow(Plain1.self)
        try service.publish(Said(publisher: 0, text: "hello"))
        #expect(await eventually { recorder.events.count == 1 })
        let stream = try #require(service.core.interfaces.first { $0.name == Plain1.name }).stream
        #expect(stream.subscribers.map(\.transport) == [transport == .ring ? "ring" : "signal"])
        relay.invalidate()
        try await site.stop()
    }
}
