import Glibc
import Synchronization

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
