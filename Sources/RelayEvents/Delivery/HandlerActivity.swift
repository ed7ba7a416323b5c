import Glibc
import Synchronization

/// What calls handlers that can be waited for.
package protocol HandlerHost: AnyObject, Sendable {
    /// The thread that is within one of them, unless that may wait for others. 0: none.
    var handlerThread: UInt { get }
}

/// The handlers of subscriptions that have ended.
package struct EndedHandlers: Sendable {
    private let hosts: [any HandlerHost]
    package init(_ hosts: [any HandlerHost]) { self.hosts = hosts }
    package var areRunning: Bool { hosts.contains { $0.handlerThread != 0 } }
    /// Whether that thread is within one of them.
    package func isHandling(on thread: UInt) -> Bool { hosts.contains { $0.handlerThread == thread } }
    package static func + (a: Self, b: Self) -> Self { Self(a.hosts + b.hosts) }
}

/// Whether a handler runs, and on which thread.
///
/// It is noted before the check whether the subscription was cancelled. So the code that cancels, and looks here
/// afterwards, sees a handler that the cancellation did not stop.
package struct HandlerActivity: ~Copyable {
    private let runner = Atomic<UInt>(0)

    package init() {}
    package func begin() { runner.store(pthread_self(), ordering: .sequentiallyConsistent) }
    package func end() { runner.store(0, ordering: .sequentiallyConsistent) }
    /// 0: none.
    package var thread: UInt { runner.load(ordering: .sequentiallyConsistent) }
    /// Runs `body`, within which other handlers may run, on a thread that may be within one: `body` learns whether it is.
    /// That one goes on to be noted, whatever is delivered within it.
    func nesting(_ body: (_ isWithin: Bool) -> Void) {
        let outer = thread
        body(outer != 0)
        runner.store(outer, ordering: .sequentiallyConsistent)
    }
}
