import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

/// Many processes that watch one service, one of which stops reading.
@Suite("Many watchers, of which one is stopped", .serialized, .heavy, .tags(.g2, .g4)) struct StoppedWatcherTests {
    @Test(
        "twenty watchers see all events once and in order, though one of them is stopped; it holds up no other"
    )
    func stoppedWatcherDelaysNobody() async throws {
        // Twenty processes on two cores keep up with several times as many events a second.
        let isTimed = TestForm.measuresLatency
        let run = WatchersRun(
            watchers: 20, events: isTimed ? 10_000 : 1_500, rate: 500, stopped: isTimed ? 3_000...5_500 : 100...1_350)
        var attempts: [(during: Int, limit: Int)] = []
        // The machine's other work can spoil a measurement, and begin in the middle of one; a watcher that the others wait
        // for spoils each.
        for _ in 1...3 {
            let records = try await run.perform()
            for (number, record) in records.enumerated() {
                #expect(record.fault(last: UInt64(run.events)) == nil, "watcher \(number)")
                #expect(record.gaps.isEmpty, "watcher \(number)")
            }
            // A test beside others says nothing about times: 'make latencies' has this one alone.
            if !isTimed { return }
            let others = Array(records.dropFirst())
            let before = p99s(others, 250..<run.stopped.lowerBound)
            try #require(!before.isEmpty && run.stopped.upperBound < run.events)
            let during = median(p99s(others, run.stopped.lowerBound..<run.stopped.upperBound))
            let after = median(p99s(others, run.stopped.upperBound..<run.events))
            // No more than twice what it was. The noise is measured, not assumed: where half seconds with nobody stopped
            // differ by more than that among themselves, the worst of them is the limit.
            let limit = max(2 * median(before), before.max() ?? 0)
            print(
                "one-way p99 of the others, in µs: before \(median(before)) (\(before.min() ?? 0) … \(before.max() ?? 0)),",
                "during the stop \(during), after \(after)")
            attempts.append((during, limit))
            if during <= limit { break }
        }
        #expect(attempts.contains { $0.during <= $0.limit }, "p99 during the stop, and its limit, in µs: \(attempts)")
    }

    @Test(
        "a watcher that was stopped until the bus dropped its events reads them from the journal; none misses any")
    func droppedEventsAreRead() async throws {
        // The bus holds 64 KiB for a receiver, beside what the sockets take: some 1,500 of these events.
        var run = WatchersRun(
            watchers: 3, events: 8_000, rate: 2_000, stopped: 1_000...7_000, limits: .outgoing(64 << 10))
        let plain = Mutex<RunningProgram?>(nil)
        run.plainClient = { bus in
            let client = try RunningProgram(
                "gdbus", ["monitor", "--address", bus.address, "--dest", LiveService.name],
                environment: Programs.environment())
            try await client.line(containing: "is owned by")
            plain.withLock { $0 = client }
            return client
        }
        let records = try await run.perform()
        let shown =
            plain.withLock { $0 }?.output.count {
                $0.contains("BoxProvisioned") && !$0.contains("the end")
            } ?? 0
        #expect(
            shown > 1_000 && shown < run.events - 1_000, "the bus dropped too little to test anything: \(shown) shown")
        for (number, record) in records.enumerated() {
            #expect(record.fault(last: UInt64(run.events)) == nil, "watcher \(number)")
            #expect(record.gaps.isEmpty, "watcher \(number): \(record.gaps)")
        }
    }

    /// The p99 of each half second, in microseconds: a moment's disturbance moves one of them only.
    private func p99s(_ records: [WatcherRecord], _ sequences: Range<Int>) -> [Int] {
        let latencies = records.map { record in
            Dictionary(record.seen.map { ($0.sequence, $0.microseconds) }, uniquingKeysWith: max)
        }
        return stride(from: sequences.lowerBound, to: sequences.upperBound, by: 250).map { start in
            let window = start..<min(start + 250, sequences.upperBound)
            let all = latencies.flatMap { table in window.compactMap { table[UInt64($0)] } }.sorted()
            return all.isEmpty ? .max : all[all.count * 99 / 100]
        }
    }
    private func median(_ values: [Int]) -> Int { values.sorted()[values.count / 2] }
}
