import CRelayShims
import Glibc
import Synchronization

/// A delivery target for GLib, Qt or a game loop: a descriptor to poll, and a function to call when it is readable.
///
/// - Order: that of `publish`, across event types.
/// - Isolation: handlers run on the thread that calls `drain()`. Let it be one thread.
/// - Loss: each subscription is bounded by its buffer, however long nobody drains.
public final class PollableTarget: Sendable {
    /// Readable (POLLIN) while something is due. Close-on-exec. Only to be polled; lives as long as this object.
    public let fileDescriptor: Int32
    /// One job for each mailbox that holds something, so bounded by their number.
    private let due = Mutex<[@Sendable () -> Void]>([])

    /// Throws `RelayError.unavailable` when the process has no descriptors left.
    public init() throws {
        fileDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if fileDescriptor < 0 {
            throw RelayError(
                .unavailable,
                "no descriptor for a pollable target: errno \(errno); raise the limit of open files")
        }
    }
    deinit { close(fileDescriptor) }

    /// Runs what was due when it was called, on the calling thread. Also inside a handler, where it skips the one that runs.
    public func drain() {
        let jobs = due.withLock { due in
            if due.isEmpty { return due }
            var count: UInt64 = 0
            // Takes the count back to zero: not readable. It cannot block, and what it says is known already.
            _ = read(fileDescriptor, &count, MemoryLayout.size(ofValue: count))
            defer { due = [] }
            return due
        }
        for job in jobs { job() }
    }
    func enqueue(_ job: @escaping @Sendable () -> Void) {
        due.withLock { due in
            due.append(job)
            if due.count > 1 { return }
            var one: UInt64 = 1
            // Can fail only at the counter's limit, and it is 0 here.
            _ = write(fileDescriptor, &one, MemoryLayout.size(ofValue: one))
        }
    }
}
