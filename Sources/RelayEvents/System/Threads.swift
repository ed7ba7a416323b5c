import CRelayShims

/// Threads of our own: detached, named, and deaf to the signals of the process.
package enum OwnThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    /// Runs `body` on a thread of its own, which keeps it and what it holds until it returns.
    ///
    /// Throws the kernel's error if no thread can be started; nothing is kept then.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let context = Unmanaged.passRetained(Body(body))
        let failed = relay_start_thread(
            name,
            { context in
                // Never nil: passed below. The reference goes with the scope, on the thread.
                guard let context else { return }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
            }, context.toOpaque())
        if failed != 0 {
            context.release()
            throw SystemError(failed)
        }
    }
}

/// What is left to do once a publisher's lock is released: waking, and letting go of what others may have a `deinit`
/// for.
///
/// Nearly always none or one of each: no allocation then.
struct AfterUnlock: ~Copyable, Sendable {
    private var wakeup: Wakeup?
    private var moreWakeups: [Wakeup] = []
    private var released: (any AnyObject & Sendable)?
    private var moreReleased: [any AnyObject & Sendable] = []

    mutating func wake(_ wakeup: Wakeup) {
        if self.wakeup == nil { self.wakeup = wakeup } else { moreWakeups.append(wakeup) }
    }
    mutating func notify(_ notification: QueueConsumer<Void>.Notification, of mailbox: Mailbox) {
        if case .none = notification { return }
        wake(.notify(notification, of: mailbox))
    }
    /// Keeps an object until after the lock.
    mutating func release(_ object: (any AnyObject & Sendable)?) {
        guard let object else { return }
        if released == nil { released = object } else { moreReleased.append(object) }
    }
    consuming func run() {
        wakeup?.run()
        for wakeup in moreWakeups { wakeup.run() }
    }
}
