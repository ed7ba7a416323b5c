import Glibc
import RelayCore
import RingSupport
import TestTraits
import Testing

/// Many writers' threads, many readers' processes, checksums, and a ring that wraps around all the time.
@Suite("Stress", .serialized, .heavy, .tags(.g1, .g2)) struct StressTests {
    static let writers = 4
    static let readers = 8

    private func run(_ events: Int, capacity: Int, window: UInt64?) async throws -> [[String: UInt64]] {
        let waker = RingWaker()
        let ring = try RingWriter(
            "stress", events: [RingEvent(name: "Any")], capacity: capacity, epoch: 1,
            waker: waker)
        let board = try ProgressBoard()
        let peers = try (0..<Self.readers).map { number in
            let page = try WaitPage(slot: number)
            ring.attach(page)
            return try PeerProcess(
                ["read", "\(number)", "board"] + (window == nil ? ["lazy"] : []),
                [ring.descriptor, page.descriptor, board.descriptor])
        }
        for peer in peers { try await peer.line("ready") }
        try await withThrowingTaskGroup { group in
            for writer in 0..<Self.writers {
                group.addTask {
                    try await onThread {
                        try Publishing(ring: ring, writer: UInt64(writer)).run(events / Self.writers, every: 16) {
                            last in
                            guard let window, last > window else { return }
                            board.wait(for: 0..<Self.readers, at: last - window)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        ring.end()
        var tallies: [[String: UInt64]] = []
        for peer in peers {
            let words = try await peer.line("records").split(separator: " ")
            var tally: [String: UInt64] = [:]
            for place in stride(from: 0, to: words.count - 1, by: 2) {
                tally[String(words[place])] = UInt64(words[place + 1])
            }
            tallies.append(tally)
        }
        return tallies
    }
    private func check(_ tallies: [[String: UInt64]], _ events: Int) throws {
        for tally in tallies {
            #expect(tally["torn"] == 0 && tally["duplicates"] == 0 && tally["gaps"] == 0, "\(tally)")
            let (records, lapped) = (try #require(tally["records"]), try #require(tally["lapped"]))
            #expect(tally["last"] == UInt64(events) && records + lapped == UInt64(events), "\(tally)")
        }
    }

    @Test("readers that are lapped all the time see nothing torn, twice, or missing without a word") func lapped()
        async throws
    {
        let events = TestForm.rounds(120_000, soak: 950_000_000)
        let tallies = try await run(events, capacity: 1 << 16, window: nil)
        try check(tallies, events)
        let laps = tallies.compactMap { $0["laps"] }
        let delivered = tallies.compactMap { $0["records"] }.reduce(0, +)
        print(
            "lapped \(laps) times, \(delivered / UInt64(Self.readers)) of \(events) delivered each"
        )
        #expect(laps.contains { $0 > 0 })
    }
    @Test("readers that the publisher waits for get everything") func complete() async throws {
        let events = TestForm.rounds(20_000, soak: 50_000_000)
        // Also of the largest records so many fit.
        let tallies = try await run(events, capacity: 1 << 20, window: 640)
        try check(tallies, events)
        for tally in tallies { #expect(tally["records"] == UInt64(events)) }
    }
}
