import Glibc

/// How a program ends, as a value: its exit code, and its line on stderr.
package struct ProgramEnd: Equatable {
    let code: Int32
    let message: String?

    /// EX_SOFTWARE and EX_OSERR.
    static let (software, osError): (Int32, Int32) = (70, 71)
    /// In characters: a pipe takes as much at once, and nobody reads more.
    static let longest = 4_000

    /// - Parameter wasAsked: whether a signal asked the program to end.
    init(of result: Result<Void, any Error>, wasAsked: Bool) {
        guard case .failure(let error) = result else {
            (code, message) = (0, nil)
            return
        }
        if wasAsked, error is CancellationError || (error as? RelayError)?.code == .cancelled {
            (code, message) = (0, nil)
            return
        }
        if let refusal = error as? any CommandRefusal {
            let text = refusal.message == refusal.errorName ? "" : ": \(refusal.message)"
            (code, message) = (1, Self.line("the service refused, as \(refusal.errorName)\(text)"))
            return
        }
        guard let failure = error as? any ProgramFailure else {
            (code, message) = (Self.software, Self.line("\(error)"))
            return
        }
        // What a shell would take for success, or for a signal's, is no failure's.
        (code, message) = (
            1...255 ~= failure.exitCode ? failure.exitCode : Self.software, Self.line(failure.exitMessage)
        )
    }

    /// One line in which nothing acts on a terminal: parts of a message may come from anybody.
    package static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars
        return scalars.prefix(longest).plainlyVisible + (scalars.dropFirst(longest).isEmpty ? "" : "…")
    }
    /// Writes the last line to stderr.
    static func say(_ text: String) {
        // The exit code is still to come, after what else is written.
        signal(SIGPIPE, SIG_IGN)
        write(text)
    }
    /// Writes a line to stderr, by one call, so that those of several threads do not mix. A stderr that nobody reads is
    /// nobody's business, and the signal that reports it is this thread's alone.
    package static func write(_ text: String) {
        var (pipe, before) = (sigset_t(), sigset_t())
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var line = text + "\n"
        let count = line.withUTF8 { Glibc.write(2, $0.baseAddress, $0.count) }
        var atOnce = timespec()
        if count < 0, errno == EPIPE { sigtimedwait(&pipe, nil, &atOnce) }
    }
    /// The last part of the path that the program was started by.
    package static var programName: String {
        let path = CommandLine.arguments.first ?? ""
        return line(path.split(separator: "/").last.map(String.init) ?? "program")
    }
}
