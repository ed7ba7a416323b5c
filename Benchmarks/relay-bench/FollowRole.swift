import Glibc
import RelayCore
import Synchronization

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
        let subscription = relay.publisher.subscribe(to: Moved.self, delivery: .immediate, onGap: .ignore) { _ in
            count.wrappingAdd(1, ordering: .relaxed)
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
    /// What a relay was given, from the first event that it had or was told of.
    private struct Given {
        var first = UInt64.max
        var had: UInt64 = 0
        var missed: UInt64 = 0

        mutating func have(_ sequence: UInt64) {
            first = min(first, sequence)
            had += 1
        }
        mutating func miss(_ sequences: ClosedRange<UInt64>) {
            first = min(first, sequences.lowerBound)
            missed += sequences.upperBound - sequences.lowerBound + 1
        }
        /// What it neither had nor was told of, of so many.
        func unknown(of published: UInt64) -> UInt64 { first > published ? 0 : published - first + 1 - had - missed }
    }
    /// Several relays, each with its connection: says how each became ready, and ends with its input. Each line of that has
    /// how many events were published.
    static func crowd(address: String, relays count: Int, within limit: Duration) async throws {
        let start = ContinuousClock.now
        let relays = try (0..<count).map { _ in
            try EventRelay(following: Followed1.service, on: .address(address), interfaces: Followed1.self)
        }
        let given = Mutex([Given](repeating: Given(), count: count))
        let subscriptions = relays.enumerated().map { index, relay in
            relay.publisher.subscribe(to: Moved.self) { event in
                given.withLock { $0[index].have(event.number + 1) }
            } onGap: { gap in
                given.withLock { $0[index].miss(gap.sequences) }
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
                let given = given.withLock { $0 }
                let (had, missed) = (given.reduce(0) { $0 + $1.had }, given.reduce(0) { $0 + $1.missed })
                let unknown = given.reduce(0) { $0 + $1.unknown(of: published) }
                say(
                    "rings \(streams.count { $0.usesRing }) \(streams.count { $0.ringRefusal != nil }) \(had) \(missed) \(unknown)"
                )
            }
        }
        withExtendedLifetime(subscriptions) {}
    }
}
