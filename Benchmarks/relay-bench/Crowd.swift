import Foundation
import RelayTestKit

/// Many relays that come at once: until when all are ready, and how often the service refuses a ring meanwhile.
enum Crowd {
    /// Processes, relays of each, events a second.
    static let usual = [100, 10, 1_000]
    /// In seconds.
    static let limit = 60
    /// How long is published, in seconds: while they come, and some time more.
    static let publishing = 20
    /// How long is looked on after all are ready, in seconds: relays ask again.
    static let after = 60.0

    /// False when a relay is not ready in time, or misses events without a report.
    ///
    /// - Parameter rate: how many events a second are published meanwhile.
    static func measure(processes: Int, relays: Int, rate: Int) throws -> Bool {
        let bus = try PrivateBus()
        let service = try Child("serve", bus.address)
        _ = try service.numbers("ready")
        if rate > 0 { try service.send("publish \(rate * publishing) \(rate)") }
        let start = Date()
        let crowd = try (0..<processes).map { _ in try Child("crowd", bus.address, "\(relays)", "\(limit)") }
        var (times, failures): ([Double], [String]) = ([], [])
        for child in crowd {
            while case let line = try child.line(), line != "done" {
                let words = line.split(separator: " ", maxSplits: 1)
                if words[0] == "relay" { times.append(Double(words[1])! / 1e3) } else { failures.append(line) }
            }
        }
        let all = Date().timeIntervalSince(start)
        if rate > 0 { _ = try service.numbers("published") }
        let first = try rings(of: service)
        Thread.sleep(forTimeInterval: after)
        let second = try rings(of: service)
        let kinds = try crowd.map { child in
            try child.send("\(rate * publishing)")
            return try child.numbers("rings")
        }
        func sum(_ index: Int) -> UInt64 { kinds.reduce(0) { $0 + $1[index] } }
        times.sort()
        print(
            "\(processes) processes with \(relays) relays each: \(times.count) are ready, after \(text(all)) s all of them;"
        )
        if let last = times.last {
            print(
                "a relay is ready \(text(times[times.count / 2])) s after its program began (p50), \(text(last)) s at most"
            )
        }
        print(
            "rings: \(first[0]) opened, \(first[1]) refused until then; \(second[1] - first[1]) in the next \(Int(after)) s"
        )
        print(
            "relays with a ring: \(sum(0)), that know why they have none: \(sum(1))")
        if rate > 0 { print("events: \(sum(2)) delivered, \(sum(3)) reported as missed, \(sum(4)) neither") }
        print("the service's processor: \(text(Double(second[2]) / 1e9)) s")
        for failure in Set(failures).sorted().prefix(5) { print(failure) }
        let areReady = RelayBench.verdict("relays that were not ready in \(limit) s", Double(failures.count), atMost: 0)
        let isTold = RelayBench.verdict("events that were neither delivered nor reported", Double(sum(4)), atMost: 0)
        return areReady && isTold
    }
    private static func rings(of service: Child) throws -> [UInt64] {
        try service.send("rings")
        return try service.numbers("rings")
    }
    private static func text(_ seconds: Double) -> String { String(format: "%.1f", seconds) }
}
