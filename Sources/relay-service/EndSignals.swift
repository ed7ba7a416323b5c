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
    /// Waits for the first; returns its name.
    static func wait() -> String { next() == SIGTERM ? "SIGTERM" : "SIGINT" }
    /// Waits for a second one, of somebody who does not want to wait; returns its number.
    static func waitAgain() -> Int32 { next() }

    private static func next() -> Int32 {
        var set = endSignals
        var number: Int32 = 0
        // Fails for an invalid set only.
        _ = sigwait(&set, &number)
        return number
    }
    private static var endSignals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        sigaddset(&set, SIGINT)
        return set
    }
}
