import Glibc
import Synchronization

/// The frame of a program: it ends in good order when it is asked to, and says in one line what went wrong.
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
/// - The first SIGTERM, SIGINT or SIGHUP cancels the task of ``run()``. A service then finishes what runs and announces
///   `End`; a relay's streams end. When `run()` returns, the program exits with 0.
/// - A second SIGTERM or SIGINT ends the process at once, with 128 and the signal's number, as a shell has it.
/// - A signal that the program was started to ignore stays ignored, as under nohup(1).
/// - An error is one line on stderr, `print-service: …`, and an exit code of sysexits(3): see ``ProgramFailure``. A
///   cancellation that follows a signal is no error.
///
/// It parses no options, and reads none: `run()` does, with whatever parser it likes. A program with another main
/// function, or with swift-service-lifecycle, needs no frame.
///
/// - Isolation: `run()` runs where it is declared; on the main actor, if the type is. The main thread serves the main
///   queue.
/// - Cancellation: what `run()` calls has to heed it. What does not keeps the program until the second signal.
public protocol RelayProgram: SendableMetatype {
    /// What the program does. Its return ends the program.
    ///
    /// - Throws: what ends the program otherwise, as one line and an exit code.
    static func run() async throws
}

extension RelayProgram {
    /// Runs the program, and exits. `@main` calls it.
    public static func main() async {
        let name = ProgramEnd.programName
        let work = Task { try await run() }
        let isAsked = SignalFlag()
        do throws(SystemError) {
            try EndSignals.begin {
                isAsked.set()
                work.cancel()
            }
        } catch {
            work.cancel()
            ProgramEnd.say("\(name): cannot catch signals: \(error)")
            exit(ProgramEnd.osError)
        }
        let end = ProgramEnd(of: await work.result, wasAsked: isAsked.isSet)
        if let message = end.message { ProgramEnd.say("\(name): \(message)") }
        exit(end.code)
    }
}

private final class SignalFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    var isSet: Bool { flag.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
}
