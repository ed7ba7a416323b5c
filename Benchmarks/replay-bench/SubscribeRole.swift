import Foundation
import RelayCore
import Synchronization

/// A typed subscriber, as a process of its own: reads the past from its beginning, then ends.
enum SubscribeRole {
    private struct Seen {
        var count = 0
        var sum: Int64 = 0
    }
    /// Reads the past while more is published, and says when it is up to date.
    static func runLate(address: String) async throws {
        let relay = try EventRelay(following: Past1.service, on: .address(address), interfaces: Past1.self)
        let events = try relay.events(of: Shelved.self, from: .beginning)
        relay.activate()
        var next: UInt64 = 1
        for await delivery in events {
            guard case .event(_, let stamp) = delivery, stamp.sequence == next else {
                say("gap before #\(next): \(delivery)")
                exit(1)
            }
            if next == 1 { say("begun") }
            next += 1
            // Looked at from time to time: the clock costs more than an event.
            if next % 64 == 0, Timestamp.now.microseconds < stamp.publishedAt.microseconds + 500_000 { break }
        }
        say("converged \(next - 1)")
    }
    static func run(address: String, events: Int) async throws {
        let relay = try EventRelay(following: Past1.service, on: .address(address), interfaces: Past1.self)
        let (ends, end) = AsyncStream.makeStream(of: Duration.self)
        let seen = Mutex(Seen())
        let start = Mutex(ContinuousClock.now)
        let subscription = try relay.subscribe(to: Shelved.self, from: .beginning) { event in
            seen.withLock { seen in
                if seen.count == 0 {
                    start.withLock { $0 = .now }
                    say("begun")
                }
                seen.count += 1
                seen.sum &+= event.itemID
                if seen.count == events { end.yield(ContinuousClock.now - start.withLock { $0 }) }
            }
        } onGap: { gap in
            say("gap \(gap)")
            exit(1)
        }
        relay.activate()
        for await time in ends {
            say("took \(time.microseconds)")
            break
        }
        withExtendedLifetime(subscription) {}
    }
}
