import Glibc

/// SIGTERM, SIGINT and, from a terminal that is closed, SIGHUP: a request to end in good order.
enum EndSignals {
    /// To be called while the process has one thread: those made later inherit what is blocked.
    static func block() {
        var set = endSignals
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A reader that goes away is an error of a write, not an end.
        signal(SIGPIPE, SIG_IGN)
    }
    /// Waits for the first; returns its name.
    static func wait() -> String {
        switch next() {
        case SIGTERM: "SIGTERM"
        case SIGHUP: "SIGHUP"
        default: "SIGINT"
        }
    }
    /// Waits for a second one, of somebody who does not want to wait; returns its number.
    static func waitAgain() -> Int32 {
        while true {
            let number = next()
            // Kernel and shell may both send it for the same closed terminal.
            if number != SIGHUP { return number }
        }
    }

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
        if !ignoresHangUp { sigaddset(&set, SIGHUP) }
        return set
    }
    /// Whether nohup(1) or the like wants the daemon to outlive its terminal: blocked, the signal would come all the
    /// same.
    private static var ignoresHangUp: Bool {
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        // C's function pointers can be compared by their bits only.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
            == unsafeBitCast(SIG_IGN, to: UInt.self)
    }
}
