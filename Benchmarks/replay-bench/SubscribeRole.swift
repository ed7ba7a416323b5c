import Foundation
import RelayCore
import Synchronization

/// A typed subscriber, as a process of its own: reads the past from its beginning, then ends.
enum SubscribeRole {
    private struct Seen {
        var count = 0
        var sum: Int64 = 0
        var start: ContinuousClock.Instant?
    }
    static func run(address: String, events: Int) async throws {
        let relay = try EventRelay(following: Past1.service, on: .address(address), interfaces: Past1.self)
        let (ends, end) = AsyncStream.makeStream(of: Duration.self)
        let seen = Mutex(Seen())
        let subscription = try relay.subscribe(to: Shelved.self, from: .beginning) { event in
            seen.withLock { seen in
                if seen.start == nil {
                    seen.start = .now
                    say("begun")
                }
                seen.count += 1
                seen.sum &+= event.itemID
                if seen.count == events, let start = seen.start { end.yield(ContinuousClock.now - start) }
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
