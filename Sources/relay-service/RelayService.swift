import Dispatch
import Glibc
import RelayCore
import RelayTool

/// The backend service as a daemon.
@main struct RelayService {
    static func main() {
        EndSignals.block()
        let options: ServiceOptions
        do throws(RelayError) {
            switch try ServiceOptions.parse(Array(CommandLine.arguments.dropFirst())) {
            case .help: return print(ServiceOptions.help, terminator: "")
            case .version: return print(ServiceOptions.version, terminator: "")
            case .serve(let parsed): options = parsed
            }
        } catch {
            Log(level: .error).error(error.message)
            exit(ExitCode.usage.rawValue)
        }
        let log = Log(level: options.logLevel)
        let runner = ServiceRunner(options: options, environment: Environment.own, log: log)
        let serving = Task {
            do {
                try await runner.run()
                exit(ExitCode.ok.rawValue)
            } catch {
                log.error((error as? RelayError)?.message ?? "\(error)")
                exit(exitCode(error).rawValue)
            }
        }
        EndSignals.wait { name in
            log.info("\(name): finishing")
            serving.cancel()
        }
        dispatchMain()
    }
    private static func exitCode(_ error: any Error) -> ExitCode {
        switch (error as? RelayError)?.code {
        case RelayError.Code.unavailable?, RelayError.Code.notFound?: .unavailable
        case RelayError.Code.conflict?: .timedOut
        case RelayError.Code.notPermitted?: .notPermitted
        default: .software
        }
    }
}
