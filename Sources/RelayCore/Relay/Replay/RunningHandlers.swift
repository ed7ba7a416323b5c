import Glibc
import Synchronization

/// Whether a positioned subscription's handler runs, and on which thread.
///
/// It is noted before the check whether the subscription was cancelled, which is under the buffer's lock. So the code
/// that cancels sees a handler that the cancellation did not stop.
struct HandlerActivity: ~Copyable {
    private let runner = Atomic<UInt>(0)

    func begin() { runner.store(pthread_self(), ordering: .relaxed) }
    func end() { runner.store(0, ordering: .releasing) }
    /// 0: none.
    var thread: UInt { runner.load(ordering: .acquiring) }
}

/// A subscription whose handlers can be waited for.
protocol AwaitableSubscription: SubscriptionBody {
    /// The thread that is within its handler, unless that may wait for others. 0: none.
    var handlerThread: UInt { get }
}

/// A relay's positioned subscriptions that have handlers: all of them end with the relay.
final class RunningHandlers: Sendable {
    private final class Entry: Sendable {
        private let reference: WeakBody
        init(_ body: any AwaitableSubscription) { reference = WeakBody(body) }
        var body: (any AwaitableSubscription)? { reference.body }
    }
    private final class WeakBody: @unchecked Sendable {  // A weak reference may be read from any thread.
        private(set) weak var body: (any AwaitableSubscription)?
        init(_ body: any AwaitableSubscription) { self.body = body }
    }
    private struct State {
        var entries: [Entry] = []
        /// Past so many, those that are gone are looked for.
        var limit = 16
        var isOver = false
    }
    private let state = Mutex(State())

    /// One that begins. After the end it is cancelled at once.
    func add(_ body: any AwaitableSubscription) {
        let entries = state.withLock { state -> [Entry]? in
            if state.isOver { return nil }
            state.entries.append(Entry(body))
            return state.entries.count >= state.limit ? state.entries : []
        }
        guard let entries else { return body.cancel() }
        if entries.isEmpty { return }
        // Asked for under no lock: a reference may turn out to be the last one.
        let gone = Set(entries.filter { $0.body == nil }.map { ObjectIdentifier($0) })
        state.withLock { state in
            state.entries.removeAll { gone.contains(ObjectIdentifier($0)) }
            state.limit = max(16, 2 * state.entries.count)
        }
    }
    /// Whether that thread is within one of the handlers; also after the end.
    func isHandling(on thread: UInt) -> Bool {
        state.withLock { $0.entries }.contains { $0.body?.handlerThread == thread }
    }
    /// Cancels all.
    ///
    /// - Returns: whether one of their handlers runs still, asked at any time.
    func end() -> @Sendable () -> Bool {
        let entries = state.withLock { state in
            state.isOver = true
            return state.entries
        }
        let bodies = entries.compactMap(\.body)
        for body in bodies { body.cancel() }
        return { bodies.contains { $0.handlerThread != 0 } }
    }
}
