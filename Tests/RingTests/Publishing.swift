import Glibc
import RelayCore
import RingSupport

/// A thread that publishes numbered, checksummed events.
struct Publishing: Sendable {
    let ring: RingWriter
    /// Its name in the payloads.
    let writer: UInt64

    /// Publishes `count` events; after every so many, `wait` gets the last sequence.
    func run(_ count: Int, every: Int = 1, wait: (UInt64) -> Void = { _ in }) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 8)
        defer { buffer.deallocate() }
        for number in 1...UInt64(count) {
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<StressPayload.size(number)])
            StressPayload.fill(bytes, writer: writer, number: number)
            let sequence = try ring.publish(0, UnsafeRawBufferPointer(bytes))
            if number % UInt64(every) == 0 { wait(sequence) }
        }
    }
}
extension ProgressBoard {
    /// Blocks its thread until these readers have come so far.
    func wait(for readers: Range<Int>, at sequence: UInt64) {
        while readers.contains(where: { self[$0] < sequence }) { usleep(100) }
    }
}
