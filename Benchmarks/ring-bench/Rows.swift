import CRelayShims
import Glibc
import RelayCore

/// What is measured, one function a row; each runs once a round.
struct Rows {
    let events = [RingEvent(name: "Tick", rawSize: 64, layout: "words:u64")]
    private func ring(_ waker: RingWaker) throws -> RingWriter {
        try RingWriter("bench", events: events, epoch: 1, waker: waker)
    }
    private let all = "0-\(max(0, RingBench.processors - 1))"
    private let other = "\(RingBench.processors > 1 ? 1 : 0)"
    private func numbers(_ line: String) -> [Double] { line.split(separator: " ").compactMap { Double($0) } }

    // MARK: Publishing

    private func publishTime(_ ring: RingWriter, _ count: Int) throws -> Double {
        for number in 0..<20_000 { try ring.publish(Tick(UInt64(number), sentAt: 0), as: 0) }
        let start = MonotonicClock.now
        for number in 0..<count { try ring.publish(Tick(UInt64(number), sentAt: 0), as: 0) }
        return Double(MonotonicClock.now - start) / Double(count)
    }
    func publishAlone() throws -> Double { try publishTime(try ring(RingWaker()), 2_000_000) }
    /// Subscribers that are stopped in their sleep.
    func publishStopped(_ count: Int) throws -> Double {
        let (ring, words) = (try ring(RingWaker()), try SharedWords())
        let pages = try (0..<count).map { try WaitPage(slot: $0) }
        let children = try pages.map { page in
            ring.attach(page)
            return try Child(["sleeper", "0"], [words.descriptor, ring.descriptor, page.descriptor], on: all)
        }
        for child in children { _ = try child.line() }
        for child in children { child.signal(SIGSTOP) }
        return try publishTime(ring, 500_000)
    }
    /// Subscribers that all sleep when an event comes: microseconds at the caller; microseconds and CPU until all have it.
    func publishSleeping(_ count: Int) throws -> (caller: Double, cpu: Double, wall: Double) {
        let (ring, words) = (try ring(RingWaker()), try SharedWords())
        let pages = try (0..<count).map { try WaitPage(slot: $0) }
        let children = try pages.enumerated().map { place, page in
            ring.attach(page)
            return try Child(["sleeper", "\(place)"], [words.descriptor, ring.descriptor, page.descriptor], on: all)
        }
        for child in children { _ = try child.line() }
        var (callers, cpus, walls): ([Double], [Double], [Double]) = ([], [], [])
        for round in 1...40 {
            // All asleep; the caller is not: its own awaking is no part of it.
            usleep(15_000)
            let ready = MonotonicClock.now + 2_000_000
            while MonotonicClock.now < ready { relay_pause() }
            let cpu = Self.cpuTime
            let start = MonotonicClock.now
            let sequence = try ring.publish(Tick(UInt64(round), sentAt: start), as: 0)
            let published = MonotonicClock.now
            while words.least(of: 0..<count) < sequence { usleep(50) }
            walls.append(Double(MonotonicClock.now - start) / 1_000)
            cpus.append(Double(Self.cpuTime - cpu) / 1_000)
            callers.append(Double(published - start) / 1_000)
        }
        withExtendedLifetime(children) {}
        return (median(callers), median(cpus), median(walls))
    }
    private static var cpuTime: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    // MARK: Latency: p50, p99, p99.9 in nanoseconds.

    private func paced(_ count: Int, _ gap: UInt64, _ send: (UInt64) throws -> Void) rethrows {
        var next = MonotonicClock.now + 1_000_000
        for _ in 0..<count {
            while MonotonicClock.now < next { relay_pause() }
            try send(MonotonicClock.now)
            next += gap
        }
    }
    func ringLatency(isBlocking: Bool) throws -> [Double] {
        let (ring, words, page) = (try ring(RingWaker()), try SharedWords(), try WaitPage(slot: 1))
        ring.attach(page)
        let count = isBlocking ? 3_000 : 50_000
        let child = try Child(
            [isBlocking ? "ring-block" : "ring-spin", "\(count)"],
            [words.descriptor, ring.descriptor, page.descriptor], on: other)
        _ = try child.line()
        var number: UInt64 = 0
        try paced(count, isBlocking ? 200_000 : 3_000) { now in
            number += 1
            try ring.publish(Tick(number, sentAt: now), as: 0)
        }
        return numbers(try child.line())
    }
    func bareLatency(isBlocking: Bool) throws -> [Double] {
        let words = try SharedWords()
        let count = isBlocking ? 3_000 : 50_000
        let child = try Child([isBlocking ? "bare-block" : "bare-spin", "\(count)"], [words.descriptor], on: other)
        _ = try child.line()
        var number: UInt64 = 0
        paced(count, isBlocking ? 200_000 : 3_000) { now in
            number += 1
            words[2] = now
            words[1] = number
            if isBlocking { _ = relay_futex_wake(words.address(1), 1) }
        }
        words[3] = 1
        return numbers(try child.line())
    }

    // MARK: Throughput: events a second, and how many of a hundred came.

    func throughput(isPaced: Bool) throws -> (rate: Double, delivered: Double) {
        let (ring, words) = (try ring(RingWaker()), try SharedWords())
        let child = try Child(["count", "0"], [words.descriptor, ring.descriptor], on: other)
        _ = try child.line()
        let count = 20_000_000
        let start = MonotonicClock.now
        for number in 1...UInt64(count) {
            let sequence = try ring.publish(Tick(number, sentAt: number), as: 0)
            // Half the ring ahead at most.
            if isPaced, sequence & 1_023 == 0 {
                while words[0] &+ 20_000 < sequence { relay_pause() }
            }
        }
        ring.end()
        let result = numbers(try child.line())
        let seconds = Double(MonotonicClock.now - start) / 1e9
        return (result[0] / seconds, 100 * result[0] / Double(count))
    }
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
