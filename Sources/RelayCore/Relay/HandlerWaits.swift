import Glibc
import Synchronization

/// The threads that wait for the end of a relay's handlers.
///
/// A handler may end another relay, one of whose handlers ends the first: the two would wait for each other. So each
/// thread looks whether what it waits for waits for it, over any number of relays.
final class HandlerWaits: Sendable {
    private struct Wait {
        let thread: UInt
        let handlers: AwaitedHandlers
    }
    private let waits = Mutex<[Wait]>([])

    /// Of the whole process, as a circle may lead through any of its relays.
    static let ofProcess = HandlerWaits()

    /// Returns when nothing runs any more, or when that would wait for the calling thread: then it returns false.
    func wait(of thread: UInt, for handlers: AwaitedHandlers, while isRunning: () -> Bool) -> Bool {
        if !isRunning() { return true }
        waits.withLock { $0.append(Wait(thread: thread, handlers: handlers)) }
        // A thread waits for one thing at a time.
        defer { waits.withLock { $0.removeAll { $0.thread == thread } } }
        while isRunning() {
            if isCircle(from: thread, through: handlers) { return false }
            // A handler is short, and this is for the end of a relay: a look now and then.
            usleep(50)
        }
        return true
    }
    private func isCircle(from thread: UInt, through handlers: AwaitedHandlers) -> Bool {
        let waits = waits.withLock { $0 }
        var (seen, open) = ([ObjectIdentifier(handlers)], [handlers])
        while let next = open.popLast() {
            for wait in waits where wait.thread != thread && next.isHandling(on: wait.thread) {
                if wait.handlers.isHandling(on: thread) { return true }
                if seen.contains(ObjectIdentifier(wait.handlers)) { continue }
                seen.append(ObjectIdentifier(wait.handlers))
                open.append(wait.handlers)
            }
        }
        return false
    }
}

/// The handlers of a relay whose end is awaited: those that it has, and those that have just been ended.
final class AwaitedHandlers: Sendable {
    private let relay: EventRelay
    private let ended = Mutex<EndedHandlers?>(nil)

    init(_ relay: EventRelay) { self.relay = relay }
    func note(_ ended: EndedHandlers) { self.ended.withLock { $0 = ended } }
    /// Whether that thread is within one of them.
    func isHandling(on thread: UInt) -> Bool {
        relay.isHandling(on: thread) || ended.withLock { $0 }?.isHandling(on: thread) == true
    }
}
