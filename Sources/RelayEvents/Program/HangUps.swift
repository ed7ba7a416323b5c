import CRelayShims
import Glibc

/// SIGHUP as a request to read the configuration again, as service managers have it, and no longer as one to end.
package enum HangUps {
    /// Takes SIGHUP from now on, for the process. Returns one element for each, or for several that come at once.
    ///
    /// Throws the kernel's error.
    package static func begin() throws(SystemError) -> AsyncStream<Void> {
        let pipe = try SystemPipe.open()
        let (requests, request) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        do throws(SystemError) {
            try OwnThread.start("hang-ups") {
                var byte: UInt8 = 0
                while true {
                    let count = read(pipe.reading, &byte, 1)
                    if count == 1 { request.yield() } else if count == 0 || errno != EINTR { return request.finish() }
                }
            }
        } catch {
            for end in [pipe.reading, pipe.writing] { close(end) }
            throw error
        }
        // A handler must not wait where nobody reads for a while: a full pipe has requests enough.
        _ = fcntl(pipe.writing, F_SETFL, O_NONBLOCK)
        // Both ends stay open: the handler may use the one at any time.
        let failed = relay_catch_hang_up(pipe.writing)
        if failed != 0 { throw SystemError(failed) }
        return requests
    }
}
