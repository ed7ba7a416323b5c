import Glibc

/// SIGTERM and SIGINT, as a request to end in good order.
enum EndSignals {
    /// To be called while the process has one thread: those made later inherit what is blocked.
    static func block() {
        var set = endSignals
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A reader that goes away is an error of a write, not an end.
        signal(SIGPIPE, SIG_IGN)
    }
    /// Waits on a thread of its own; a second signal ends the process at once.
    static func wait(_ body: @escaping @Sendable (_ name: String) -> Void) {
        let context = Unmanaged.passRetained(Context(body))
        var thread = pthread_t()
        let failed = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Context>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        if failed != 0 { context.release() } else { pthread_detach(thread) }
    }

    fileprivate static var endSignals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        sigaddset(&set, SIGINT)
        return set
    }
    private final class Context: Sendable {
        private let body: @Sendable (String) -> Void
        init(_ body: @escaping @Sendable (String) -> Void) { self.body = body }

        func run() {
            var set = endSignals
            var number: Int32 = 0
            guard sigwait(&set, &number) == 0 else { return }
            body(number == SIGTERM ? "SIGTERM" : "SIGINT")
            guard sigwait(&set, &number) == 0 else { return }
            _exit(128 + number)
        }
    }
}
