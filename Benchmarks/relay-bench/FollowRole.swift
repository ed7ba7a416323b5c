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
    /// Several relays, each with its connection: says how each became ready, and ends with its input.
    static func crowd(address: String, relays count: Int, within limit: Duration) async throws {
        let start = ContinuousClock.now
        let relays = try (0..<count).map { _ in
            try EventRelay(following: Followed1.service, on: .address(address), interfaces: Followed1.self)
        }
        let subscriptions = relays.map { $0.publisher.subscribe(to: Moved.self, onGap: .ignore) { _ in } }
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
            while readLine() != nil {
                let streams = relays.map { $0.metrics.streams[0] }
                say("rings \(streams.count { $0.usesRing }) \(streams.count { $0.ringRefusal != nil })")
            }
        }
        withExtendedLifetime(subscriptions) {}
    }
}
