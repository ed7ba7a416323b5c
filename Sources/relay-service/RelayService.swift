import Glibc
import RelayCore
import RelayTool

/// The backend service as a daemon.
@main struct RelayService {
    static func main() {
        EndSignals.block()
        let options: ServiceOptions
        do throws(UsageError) {
            switch try ServiceOptions.parse(ProcessInput.arguments()) {
            case .help: return print(HelpPage.text(of: nil, in: ServiceOptions.program), terminator: "")
            case .version: return print(HelpPage.version(of: ServiceOptions.program), terminator: "")
            case .serve(let parsed): options = parsed
            }
        } catch {
            Log(level: .error).error(error.message)
            exit(ExitCode.usage.rawValue)
        }
        let log = Log(level: options.logLevel)
        let runner = ServiceRunner(options: options, environment: ProcessInput.environment, log: log)
        // Detached: `main()` is on the main actor, whose thread is to wait for signals.
        let serving = Task.detached {
            do {
                try await runner.run()
                exit(ExitCode.ok.rawValue)
            } catch .cancelled where Task.isCancelled {
                // Before it was ready: a start can take long, after a check that found something.
                exit(ExitCode.ok.rawValue)
            } catch {
                log.error((error as? RelayError)?.message ?? (error as? ServiceFailure)?.message ?? "\(error)")
                exit(exitCode(error).rawValue)
            }
        }
        // The main thread does nothing else: no part of the daemon is on the main actor. (`dispatchMain()` would not
        // do: it suspends with every signal unblocked.)
        log.info("\(EndSignals.wait()): finishing")
        serving.cancel()
        exit(128 + EndSignals.waitAgain())
    }
    private static func exitCode(_ error: any Error) -> ExitCode {
        if let failure = error as? ServiceFailure { return failure.code }
        return switch (error as? RelayError)?.code {
        case RelayError.Code.unavailable?, RelayError.Code.notFound?: .unavailable
        case RelayError.Code.conflict?: .timedOut
        case RelayError.Code.notPermitted?: .notPermitted
        default: .software
        }
    }
}
