import Dispatch
import Glibc
import Synchronization

/// Publishes at an even pace, from a thread that does nothing else.
enum PacedPublishing {
    private final class Failure: Sendable {
        let error = Mutex<(any Error)?>(nil)
    }
    /// Calls `body` with 1, 2, … `count`, `rate` times a second, one after the other. One that comes late is not waited for: the
    /// pace stays.
    static func run(count: Int, rate: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue(label: "paced publishing", qos: .userInitiated).async {
                let isDone = DispatchSemaphore(value: 0)
                let failure = Failure()
                var next = timespec()
                clock_gettime(CLOCK_MONOTONIC, &next)
                for number in 1...count {
                    Task {
                        do { try await body(number) } catch { failure.error.withLock { $0 = error } }
                        isDone.signal()
                    }
                    // This thread is nobody's but ours: it may wait.
                    isDone.wait()
                    if let error = failure.error.withLock({ $0 }) { return continuation.resume(throwing: error) }
                    next.tv_nsec += 1_000_000_000 / rate
                    if next.tv_nsec >= 1_000_000_000 {
                        (next.tv_sec, next.tv_nsec) = (next.tv_sec + 1, next.tv_nsec - 1_000_000_000)
                    }
                    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nil)
                }
                continuation.resume()
            }
        }
    }
}
