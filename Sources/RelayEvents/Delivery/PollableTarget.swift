import CRelayShims
import Glibc
import Synchronization

/// A delivery target for GLib, Qt or a game loop: a descriptor to poll, and a function to call when it is readable.
///
/// ```swift
/// let target = try PollableTarget()
/// let relay = try EventRelay(following: name, interfaces: Printing1.self, delivery: .pollable(target))
/// // In the main loop, when target.fileDescriptor is readable:
/// target.drain()
/// ```
///
/// - Order: that of `publish`, across event types.
/// - Isolation: handlers run on the thread that calls ``drain()``. Use one thread.
/// - Loss: each subscription is bounded by its buffer, however long nobody drains.
/// - Cancellation: cancel its subscriptions, or drain it a last time, before releasing it.
public final class PollableTarget: Sendable {
    /// Readable (`POLLIN`) while something is due. Only to be polled. Close-on-exec, and open as long as this object
    /// lives.
    public let fileDescriptor: Int32
    private let due = Mutex<[Job]>([])
    /// At most one for each mailbox, so bounded by their number.
    private enum Job {
        case mailbox(Mailbox)
        case other(@Sendable () -> Void)
    }

    /// Creates a target.
    ///
    /// - Throws: `.unavailable` if the process has no descriptors left.
    public init() throws {
        fileDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if fileDescriptor < 0 {
            throw RelayError(
                .unavailable,
                "no descriptor for a pollable target: errno \(errno); raise the limit of open files")
        }
    }
    deinit { close(fileDescriptor) }

    /// Runs what is due at this moment, on the calling thread.
    ///
    /// May be called inside a handler; then it skips the one that runs.
    public func drain() {
        let jobs = due.withLock { due in
            var count: UInt64 = 0
            // Takes the count back to zero: not readable. It cannot block, and its result is known already.
            _ = read(fileDescriptor, &count, MemoryLayout.size(ofValue: count))
            defer { due = [] }
            return due
        }
        for job in jobs {
            switch job {
            case .mailbox(let mailbox): mailbox.drain()
            case .other(let body): body()
            }
        }
    }
    func enqueue(_ mailbox: Mailbox) { enqueue(.mailbox(mailbox)) }
    package func enqueue(_ body: @escaping @Sendable () -> Void) { enqueue(.other(body)) }
    private func enqueue(_ job: Job) {
        due.withLock { due in
            due.append(job)
            if due.count > 1 { return }
            var one: UInt64 = 1
            // Can fail only at the counter's limit, and it is 0 here.
            _ = write(fileDescriptor, &one, MemoryLayout.size(ofValue: one))
        }
    }
    /// A mailbox that nobody uses is due no more: it and this target would keep each other. Returned, if it was due, to
    /// be released where no lock is held. The descriptor may stay readable: `drain()` then finds nothing.
    func forget(_ mailbox: Mailbox) -> Mailbox? {
        due.withLock { due in
            let index = due.firstIndex { if case .mailbox(let known) = $0 { known === mailbox } else { false } }
            guard let index else { return nil }
            due.remove(at: index)
            return mailbox
        }
    }
}

/// Somebody to wake for a delivery.
enum Wakeup: Sendable {
    case resume(UnsafeContinuation<Void, Never>)
    case schedule(Mailbox)
    case deliver(StreamBuffer.Waiter, DeliveryQueue.Item)
    case finish(StreamBuffer.Waiter)

    func run() {
        switch self {
        case .resume(let continuation): continuation.resume()
        case .schedule(let mailbox): mailbox.schedule()
        case .deliver(let continuation, let item): continuation.resume(returning: item)
        case .finish(let continuation): continuation.resume(returning: nil)
        }
    }
}
