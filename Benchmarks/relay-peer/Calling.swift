import PeerSupport
import RelayCore

/// The caller of command-bench: each call in flight is a task that makes one after the other.
struct Calling: Sendable {
    private let relay: EventRelay
    private let isDurable: Bool
    private let text = PEER_TEXT

    static func run(_ options: peer_options, on bus: Bus) async throws {
        let isDurable = options.directory != nil
        let interface: any EventInterface.Type = isDurable ? BenchKept1.self : BenchCalls1.self
        let relay = try EventRelay(following: PEER_SERVICE, on: bus, interfaces: interface)
        relay.activate()
        for await state in relay.states {
            if case .active = state { break }
            if case .invalidated(let error) = state { throw error }
        }
        let calling = Calling(relay: relay, isDurable: isDurable)
        for _ in 0..<100 { try await calling.call() }
        peer_ready()
        peer_wait_for_go()
        await calling.run(options)
        relay.invalidate()
    }

    private func run(_ options: peer_options) async {
        let start = peer_now()
        let end = start + UInt64(options.seconds * 1e9)
        let (sent, last, latencies) = await withTaskGroup(of: (UInt64, UInt64, [UInt64]).self) { group in
            for _ in 0..<options.flight { group.addTask { await repeated(until: end) } }
            return await group.reduce(into: (UInt64(0), start, [UInt64]())) { sum, task in
                (sum.0, sum.1) = (sum.0 + task.0, max(sum.1, task.1))
                sum.2 += task.2
            }
        }
        var options = options
        peer_report_calls(&options, sent, latencies, UInt64(latencies.count), start, last)
    }
    /// How many it sent, when the last was answered, and how long each took.
    private func repeated(until end: UInt64) async -> (UInt64, UInt64, [UInt64]) {
        var (sent, now, latencies) = (UInt64(0), peer_now(), [UInt64]())
        latencies.reserveCapacity(1 << 16)
        while now < end {
            let calledAt = now
            sent += 1
            // Not answered: it counts as sent. The next one is tried.
            do { try await call() } catch {
                now = peer_now()
                continue
            }
            now = peer_now()
            latencies.append(now - calledAt)
        }
        return (sent, now, latencies)
    }
    private func call() async throws {
        let reply =
            if isDurable { try await relay.call(Keep(text: text)).text } else {
                try await relay.call(Echo(text: text)).text
            }
        if reply != text { peer_fail("reply", "it is not what was sent") }
    }
}
