import Dispatch
import Glibc

/// Publishes at an even pace, from a thread that does nothing else.
enum PacedPublishing {
    /// Calls `body` with 1, 2, … `count`, `rate` times a second. One that comes late is not waited for: the pace stays.
    static func run(count: Int, rate: Int, _ body: @escaping @Sendable (Int) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue(label: "paced publishing", qos: .userInitiated).async {
                do {
                    var next = timespec()
                    clock_gettime(CLOCK_MONOTONIC, &next)
                    for number in 1...count {
                        try body(number)
                        next.tv_nsec += 1_000_000_000 / rate
                        if next.tv_nsec >= 1_000_000_000 {
                            (next.tv_sec, next.tv_nsec) = (next.tv_sec + 1, next.tv_nsec - 1_000_000_000)
                        }
                        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nil)
                    }
                    continuation.resume()
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }
}
