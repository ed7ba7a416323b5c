import CRelayShims
import Glibc

/// SIGTERM, SIGINT and SIGHUP: requests to end in good order.
enum EndSignals {
    /// Calls `request` at the first of them, on a thread of its own. A second SIGTERM or SIGINT ends the process.
    ///
    /// Once in a process. Throws the kernel's error.
    static func begin(_ request: @escaping @Sendable () -> Void) throws(SystemError) {
        let pipe = try SystemPipe.open()
        try OwnThread.start("end-signals") {
            var byte: UInt8 = 0
            while read(pipe.reading, &byte, 1) < 0 && errno == EINTR {}
            request()
        }
        // Both ends stay open: a handler may use the one at any time.
        let failed = relay_catch_end_signals(pipe.writing)
        if failed != 0 { throw SystemError(failed) }
    }
}
