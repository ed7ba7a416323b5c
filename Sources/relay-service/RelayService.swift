import RelayCore
import RelayTool

/// The backend service as a daemon.
@main struct RelayService: RelayProgram {
    static func run() async throws {
        let options: ServiceOptions
        do throws(UsageError) {
            switch try ServiceOptions.parse(ProcessInput.arguments()) {
            case .help: return print(HelpPage.text(of: nil, in: ServiceOptions.program), terminator: "")
            case .version: return print(HelpPage.version(of: ServiceOptions.program), terminator: "")
            case .serve(let parsed): options = parsed
            }
        } catch {
            throw ServiceFailure(code: .usage, message: error.message)
        }
        let log = Log(level: options.logLevel)
        do {
            try await ServiceRunner(options: options, environment: ProcessInput.environment, log: log).run()
        } catch .cancelled where Task.isCancelled {
            // Before it was ready: a start can take long, after a check that found something.
        } catch let failure as ServiceFailure {
            throw failure
        } catch {
            throw ServiceFailure(error)
        }
    }
}
