import CRelayShims

/// Threads of our own: detached, named, and deaf to the signals of the process.
package enum OwnThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    /// Runs `body` on a thread of its own, which keeps it and what it holds until it returns.
    ///
    /// Throws what the kernel says when there is no thread to be had; nothing is kept then.
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
