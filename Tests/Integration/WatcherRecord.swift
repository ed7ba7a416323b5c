import Glibc
import RelayTestKit
import Synchronization

/// What one `relay-cli watch --json` has shown: sequences in the order in which they came, and how late each line was.
final class WatcherRecord: Sendable {
    struct Seen: Sendable {
        let sequence: UInt64
        /// From `publishedAt` to the reading of the line.
        let microseconds: Int
    }
    private struct State {
        var seen: [Seen] = []
        var gaps: [ClosedRange<UInt64>] = []
        var faults: [String] = []
    }
    private let state = Mutex(State())

    var seen: [Seen] { state.withLock { $0.seen } }
    var gaps: [ClosedRange<UInt64>] { state.withLock { $0.gaps } }
    /// How far it is: the last sequence that was shown, or is part of a gap.
    var position: UInt64 {
        state.withLock { max($0.seen.last?.sequence ?? 0, $0.gaps.last?.upperBound ?? 0) }
    }

    /// What is wrong with it as an account of `1...last`: nil if each sequence is there once, in order, as event or in a gap.
    func fault(last: UInt64) -> String? {
        let (seen, gaps, faults) = state.withLock { ($0.seen, $0.gaps, $0.faults) }
        if let fault = faults.first { return fault }
        let events = seen.map { $0.sequence...$0.sequence }
        if let index = events.indices.dropFirst().first(where: { events[$0].lowerBound <= events[$0 - 1].upperBound }) {
            return "#\(events[index].lowerBound) came after #\(events[index - 1].lowerBound)"
        }
        var next: UInt64 = 1
        for range in (events + gaps).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound != next { return "#\(range.lowerBound) where #\(next) should be" }
            next = range.upperBound + 1
        }
        return next == last + 1 ? nil : "it ends with #\(next - 1)"
    }

    /// Takes a line, in the moment in which it was read.
    func take(_ line: UnsafeRawBufferPointer) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let microsecondOfDay = (now.tv_sec % 86_400) * 1_000_000 + now.tv_nsec / 1_000
        if let sequence = Self.number(after: "\"sequence\":", in: line),
            let published = Self.microsecondOfDay(after: "\"publishedAt\":\"", in: line)
        {
            var late = microsecondOfDay - published
            if late < -43_200_000_000 { late += 86_400_000_000 }  // Midnight lies between the two.
            let seen = Seen(sequence: sequence, microseconds: late)
            state.withLock { $0.seen.append(seen) }
        } else if let first = Self.number(after: "\"first\":", in: line),
            let last = Self.number(after: "\"last\":", in: line), first <= last
        {
            state.withLock { $0.gaps.append(first...last) }
        } else {
            let text = String(decoding: line, as: UTF8.self)
            state.withLock { $0.faults.append("cannot be read: \(text)") }
        }
    }

    private static func place(after key: StaticString, in line: UnsafeRawBufferPointer) -> Int? {
        let length = key.utf8CodeUnitCount
        guard let base = line.baseAddress else { return nil }
        var start = 0
        // From one of its first bytes to the next: in a debug build a closure for each byte of each line is slow.
        while start + length <= line.count,
            let next = memchr(base + start, Int32(key.utf8Start.pointee), line.count - length - start + 1)
        {
            start = UnsafeRawPointer(next) - base
            if memcmp(base + start, key.utf8Start, length) == 0 { return start + length }
            start += 1
        }
        return nil
    }
    private static func number(after key: StaticString, in line: UnsafeRawBufferPointer) -> UInt64? {
        guard let start = place(after: key, in: line) else { return nil }
        var (number, end): (UInt64, Int) = (0, start)
        while end < line.count, end < start + 19, line[end] >= 0x30, line[end] <= 0x39 {
            number = number * 10 + UInt64(line[end] - 0x30)
            end += 1
        }
        return end == start || end == start + 19 ? nil : number
    }
    /// Reads `2026-11-20T09:15:04.123456Z`, without the date.
    private static func microsecondOfDay(after key: StaticString, in line: UnsafeRawBufferPointer) -> Int? {
        guard let start = place(after: key, in: line), line.count >= start + 27 else { return nil }
        func number(_ offset: Int, _ length: Int) -> Int {
            var number = 0
            for index in (start + offset)..<(start + offset + length) { number = number * 10 + Int(line[index]) - 0x30 }
            return number
        }
        return ((number(11, 2) * 60 + number(14, 2)) * 60 + number(17, 2)) * 1_000_000 + number(20, 6)
    }
}
