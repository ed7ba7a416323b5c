import Glibc
import RelayCore
import RingSupport

/// A thread that publishes numbered, checksummed events.
struct Publishing: Sendable {
    let ring: RingWriter
    /// Its name in the payloads.
    let writer: UInt64
    /// The numbers that were used before.
    var before: UInt64 = 0

    /// Publishes `count` events; after every so many, `wait` gets the last sequence.
    func run(_ count: Int, every: Int = 1, wait: (UInt64) -> Void = { _ in }) throws {
        try each(count) { number, bytes in
            let sequence = try ring.publish(0, bytes)
            if number % UInt64(every) == 0 { wait(sequence) }
        }
    }
    /// Publishes `count` events, with a pause between two that lets a reader fall asleep.
    ///
    /// Returns how many times the thread gave its processor away within a publish: each is a wait for something. To be
    /// interrupted for others' sake does not count.
    func paced(_ count: Int) throws -> Int {
        var waits = 0
        try each(count) { _, bytes in
            let before = Self.waits
            try ring.publish(0, bytes)
            waits += Self.waits - before
            usleep(200)
        }
        return waits
    }
    private func each(_ count: Int, _ body: (UInt64, UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 8)
        defer { buffer.deallocate() }
        for number in (before + 1)...(before + UInt64(count)) {
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<StressPayload.size(number)])
            StressPayload.fill(bytes, writer: writer, number: number)
            try body(number, UnsafeRawBufferPointer(bytes))
        }
    }
    private static var waits: Int {
        var usage = rusage()
        // RUSAGE_THREAD, which Glibc's module does not show.
        getrusage(1, &usage)
        return usage.ru_nvcsw
    }
}
extension ProgressBoard {
    /// Blocks its thread until these readers have come so far.
    func wait(for readers: Range<Int>, at sequence: UInt64) {
        while readers.contains(where: { self[$0] < sequence }) { usleep(100) }
    }
}
