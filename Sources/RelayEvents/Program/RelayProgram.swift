import CRelayShims
import Glibc
import Synchronization

/// The frame of a program: a signal ends the program in good order, and an error becomes one line on stderr.
///
/// ```swift
/// @main struct PrintService: RelayProgram {
///     static func run() async throws {
///         let service = try EventService(name: "org.example.Printer", exporting: Printing1.self)
///         try await service.run()
///     }
/// }
/// ```
///
/// - The first SIGTERM, SIGINT or SIGHUP cancels the task of ``run()``. A service then finishes running commands and
///   announces `End`; a relay's streams end. When `run()` returns, the program exits with 0.
/// - A second SIGTERM or SIGINT ends the process at once. Its exit code is 128 plus the signal's number, as in a shell.
///   A SIGHUP does not count: service managers send it together with SIGTERM.
/// - A signal that was already ignored when the program started stays ignored, as under nohup(1).
/// - A write past the limit of a file's size (`LimitFSIZE=`, `ulimit -f`) fails, and does not end the program.
/// - An error becomes one line on stderr, `print-service: …`, and an exit code of sysexits(3): see ``ProgramFailure``.
///   A cancellation that follows a signal is no error.
/// - What `print` writes leaves the process at the end of each line, also into a file or a pipe. Otherwise it waits there
///   until 4 KiB have gathered, and a program that is killed loses it, though its cursor may have passed the events that
///   were printed. Anything that does not go through C's `stdout`, such as a `FileHandle` or a buffer of your own, must
///   be flushed in the handler.
///
/// The frame does not read the command line: `run()` can use any parser. A program with its own main function, or with
/// swift-service-lifecycle, needs no frame.
///
/// - Isolation: `run()` runs with the isolation that it is declared with, for example on the main actor. The main
///   thread serves the main queue.
/// - Cancellation: the code that `run()` calls must respond to it. Code that does not keeps the program alive until the
///   second signal.
public protocol RelayProgram: SendableMetatype {
    /// The program's work. The program ends when this returns.
    ///
    /// - Throws: an error, which ends the program with one line on stderr and an exit code.
    static func run() async throws
}

extension RelayProgram {
    /// Runs the program, and exits. `@main` calls it.
    ///
    /// On the main actor, so that this is done before libdispatch has its first worker.
    @MainActor public static func main() async {
        // Before anything is opened.
        StandardDescriptors.reserve()
        DispatchLog.turnOff()
        let name = ProgramEnd.programName
        let request = EndRequest()
        // Before anything is printed. A stdout that is closed stays as it is.
        _ = relay_write_stdout_by_lines()
        // First: a signal that comes before the program has begun is a request, too.
        do throws(SystemError) { try EndSignals.begin { request.make() } } catch {
            ProgramEnd.say("\(name): cannot catch signals: \(error)")
            exit(ProgramEnd.osError)
        }
        let work = Task { try await run() }
        request.cancels(work)
        let end = ProgramEnd(of: await work.result, wasAsked: request.isMade)
        if let message = end.message { ProgramEnd.say("\(name): \(message)") }
        exit(end.code)
    }
}

/// That somebody wants the program to end, and what that cancels.
private final class EndRequest: Sendable {
    private struct State {
        var isMade = false
        var work: Task<Void, any Error>?
    }
    private let state = Mutex(State())
    var isMade: Bool { state.withLock { $0.isMade } }

    func make() {
        let work = state.withLock { state in
            state.isMade = true
            return state.work
        }
        work?.cancel()
    }
    /// Cancels the task when the request is made: at once, if it has been.
    func cancels(_ work: Task<Void, any Error>) {
        let isMade = state.withLock { state in
            state.work = work
            return state.isMade
        }
        if isMade { work.cancel() }
    }
}
