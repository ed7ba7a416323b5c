import RelayCore
import Requests

/// Prints once a second how long requests took.
@main struct Percentiles: RelayProgram {
    static func run() async throws {
        let relay = try EventRelay(following: "org.example.Requests", interfaces: Requests1.self)
        let requests = try relay.events(of: RequestAnswered.self, buffer: .bufferingNewest(1 << 17))
        relay.activate()
        var second = Second()
        for await batch in requests.batches {
            second.times += batch.events.lazy.map(\.microseconds)
            if let gap = batch.gap { print(gap) }
            if let last = batch.stamps.last, last.publishedAt >= second.end {
                print(second)
                second = Second()
            }
        }
        // The stream ends when the program does, and when the relay gives up. Then this throws why.
        try await relay.run()
    }
}

/// The times of one second.
private struct Second: CustomStringConvertible {
    let end = Timestamp.now + .seconds(1)
    var times: [UInt32] = []

    var description: String {
        let sorted = times.sorted()
        let last = sorted.count - 1
        return "\(sorted.count) requests, p50 \(sorted[last / 2]) µs, p99 \(sorted[last * 99 / 100]) µs"
    }
}
