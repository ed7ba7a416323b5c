import Glibc
import RelayCore
import Synchronization
import RelayInspection

/// Relays, in a process of their own.
enum FollowRole {
    /// One relay, which waits as its argument says. Each line of its input asks for how many events it has had, and for its
    /// processor's time.
    static func run(address: String, waiting: String) async throws {
        let spinning: RingWaiter.Spinning =
            switch waiting {
            case "spin": .always
            case "sleep": .none
            default: .standard
            }
        let relay = try EventRelay(
            following: Followed1.service, on: .address(address), interfaces: Followed1.self, usesRings: true,
            timing: RelayTiming { $0.spinning = spinning })
        let count = Atomic(0)
        let subscription = relay.publisher.subscribe(to: Moved.self, delivery: .immediate) { _ in
            count.wrappingAdd(1, ordering: .relaxed)
        } onGap: { _ in
        }
        relay.activate()
        try await relay.ready()
        guard relay.metrics.streams[0].usesRing else { throw Child.Failure(message: "the relay has no ring") }
        say("ready")
        try await onThread {
            while readLine() != nil { say("had \(count.load(ordering: .relaxed)) \(Clock.process.now)") }
        }
        withExtendedLifetime(subscription) {}
    }
    /// What a relay received, from its first event or gap on.
    private struct Received {
        var first = UInt64.max
        var delivered: UInt64 = 0
        var missed: UInt64 = 0

        mutating func have(_ sequence: UInt64) {
            first = min(first, sequence)
            delivered += 1
        }
        mutating func miss(_ sequences: ClosedRange<UInt64>) {
            first = min(first, sequences.lowerBound)
            missed += sequences.upperBound - sequences.lowerBound + 1
        }
        /// How many of the published events were neither delivered nor reported.
        func unknown(of published: UInt64) -> UInt64 {
            first > published ? 0 : published - first + 1 - delivered - missed
        }
    }
    /// Several relays, each with its connection: says how each became ready, and ends with its input. Each line of that has
    /// how many events were published.
    static func crowd(address: String, relays count: Int, within limit: Duration) async throws {
        let start = ContinuousClock.now
        let relays = try (0..<count).map { _ in
            try EventRelay(following: Followed1.service, on: .address(address), interfaces: Followed1.self)
        }
        let received = Mutex([Received](repeating: Received(), count: count))
        let subscriptions = relays.enumerated().map { index, relay in
            relay.publisher.subscribe(to: Moved.self) { event in
                received.withLock { $0[index].have(event.number + 1) }
            } onGap: { gap in
                received.withLock { $0[index].miss(gap.sequences) }
            }
        }
        await withTaskGroup { group in
            for relay in relays {
                relay.activate()
                group.addTask {
                    do {
                        try await relay.ready(within: limit)
                        say("relay \((ContinuousClock.now - start).milliseconds)")
                    } catch { say("failed \(error)") }
                }
            }
        }
        say("done")
        try await onThread {
            while let published = readLine().flatMap({ UInt64($0) }) {
                let streams = relays.map { $0.metrics.streams[0] }
                let received = received.withLock { $0 }
                let (delivered, missed) = (
                    received.reduce(0) { $0 + $1.delivered }, received.reduce(0) { $0 + $1.missed }
                )
                let unknown = received.reduce(0) { $0 + $1.unknown(of: published) }
                say(
                    "rings \(streams.count { $0.usesRing }) \(streams.count { $0.ringRefusal != nil }) \(delivered) \(missed) \(unknown)"
                )
            }
        }
        withExtendedLifetime(subscriptions) {}
    }
}
