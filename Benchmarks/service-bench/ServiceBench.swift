import BenchSupport
import Foundation
import MutexRing
import RelayCore
import RelayTestKit

/// What a service costs that has several publishing threads, and what one takes that has many interfaces.
///
/// Publishing from 1, 2, 4 and 8 threads, as ratios to one thread of the same round, beside a mutex of the C library around a copy
/// into a ring. And the memory of a service of fifty idle interfaces with a subscriber each.
@main enum ServiceBench {
    static let rounds = 7
    static let threads = [1, 2, 4, 8]
    /// Of the rate of one thread.
    static let goal = 0.5
    /// MB of a service of fifty idle interfaces.
    static let memoryGoal = 60.0

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count == 2 {
            let bus = Bus.address(arguments[1])
            switch arguments[0] {
            case "read": return try await Roles.read(bus)
            case "serve": return try await Roles.serveIdle(bus)
            case "follow": return try await Roles.followIdle(bus)
            default: break
            }
        }
        let isFast = try await publishing()
        let isSmall = try memory()
        if !isFast || !isSmall { exit(1) }
    }

    // MARK: Threads

    private struct Row {
        let name: String
        let hasGoal: Bool
        let reads: Bool
        let rate: (Int) -> Double
        var rates: [[Double]] = []
        init(_ name: String, hasGoal: Bool = true, reads: Bool, rate: @escaping (Int) -> Double) {
            (self.name, self.hasGoal, self.reads, self.rate) = (name, hasGoal, reads, rate)
        }
    }
    private static func publishing() async throws -> Bool {
        let bus = try PrivateBus()
        let service = try EventService(name: Roles.service, on: bus.bus, exporting: Flood1.self)
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let running = Task {
            defer { isReady.finish() }
            try await service.run { isReady.finish() }
        }
        for await _ in ready {}
        // The second one pauses signals.
        for number in 0..<100 { try service.publish(Fixed(number: UInt64(number))) }
        var rows = [false, true].flatMap { reads in
            let beside = reads ? ", a reader" : ""
            return [
                Row("fixed layout, 64 bytes\(beside)", reads: reads) { Flood.fixed(service, $0) },
                Row("Codable, 52 bytes\(beside)", reads: reads) { Flood.coded(service, $0) },
                Row("pthread_mutex_t around a ring, in C\(beside)", hasGoal: false, reads: reads) {
                    mutex_ring_rate(Int32($0), reads ? 1 : 0, Flood.time)
                },
            ]
        }
        for _ in 0..<rounds { for index in rows.indices where !rows[index].reads { measure(&rows[index]) } }
        // From now on there is a ring.
        let reader = try BenchSupport.Peer(
            BenchSupport.Peer.path(of: "service-bench"), ["read", bus.address], timeout: 600)
        try reader.waitUntilReady()
        for _ in 0..<rounds { for index in rows.indices where rows[index].reads { measure(&rows[index]) } }
        try reader.end()
        running.cancel()
        try await running.value
        return report(rows)
    }
    private static func measure(_ row: inout Row) { row.rates.append(threads.map(row.rate)) }
    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func report(_ rows: [Row]) -> Bool {
        print("publishing from several threads, median of \(rounds) rounds: million a second, and ratio to one thread")
        print(line("", threads.map { "\($0) thread\($0 > 1 ? "s" : "")" }))
        var isReached = true
        for row in rows {
            var columns: [String] = []
            for index in threads.indices {
                let rate = median(row.rates.map { $0[index] })
                let ratio = median(row.rates.map { $0[index] / $0[0] })
                let misses = row.hasGoal && ratio < goal
                if misses { isReached = false }
                columns.append(String(format: "%.2f %.2f%@", rate / 1e6, ratio, misses ? " MISSED" : ""))
            }
            print(line(row.name, columns))
        }
        print("goal: \(goal) of one thread's rate\n")
        return isReached
    }
    private static func line(_ name: String, _ columns: [String]) -> String {
        name.padding(toLength: 52, withPad: " ", startingAt: 0)
            + columns.map { String(repeating: " ", count: max(1, 14 - $0.count)) + $0 }.joined()
    }

    // MARK: Memory

    private static func memory() throws -> Bool {
        let bus = try PrivateBus()
        let own = BenchSupport.Peer.path(of: "service-bench")
        let service = try BenchSupport.Peer(own, ["serve", bus.address], timeout: 120)
        try service.waitUntilReady()
        let alone = try resident(service)
        let followers = try BenchSupport.Peer(own, ["follow", bus.address], timeout: 120)
        try followers.waitUntilReady()
        // One event of each: then all is there that an event needs.
        try service.go()
        Thread.sleep(forTimeInterval: 1)
        let (serving, following) = (try resident(service), try resident(followers))
        try followers.end()
        try service.end()
        let verdict = serving <= memoryGoal ? "within" : "MISSED:"
        print("a service of \(IdleInterfaces.types.count) interfaces that published once, resident MB:")
        print(
            String(
                format: "  without subscribers %.1f, with one to each %.1f; the subscribers' process %.1f", alone,
                serving, following))
        print("\(verdict) the goal of \(Int(memoryGoal)) MB")
        return serving <= memoryGoal
    }
    private static func resident(_ peer: BenchSupport.Peer) throws -> Double {
        let status = try String(contentsOfFile: "/proc/\(peer.processID)/status", encoding: .utf8)
        let words = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }?.split(separator: " ")
        guard let words, words.count > 1, let kilobytes = Double(words[1]) else {
            throw BenchError(message: "no VmRSS of process \(peer.processID)")
        }
        return kilobytes * 1024 / 1e6
    }
}
