import RelayCore
import RelayDaemon
import RelayTool

/// The backend service as a daemon.
@main struct RelayService: RelayProgram {
    static func run() async throws {
        if try JournalTool.runIfAsked(of: ServiceOptions.program) { return }
        let arguments: [String]
        do throws(UsageError) { arguments = try ProcessInput.arguments() } catch {
            throw ServiceFailure(code: .usage, message: error.message)
        }
        let options: ServiceOptions
        let program = ServiceOptions.program
        switch try ServiceOptions.parse(arguments) {
        case .help: return try StandardOutput.write(HelpPage.text(of: nil, in: program))
        case .manual: return try StandardOutput.write(ManualPage.text(of: nil, in: program, section: 8))
        case .version: return try StandardOutput.write(HelpPage.version(of: program))
        case .checked(let text): return try StandardOutput.write(text)
        case .run(let parsed): options = parsed
        }
        let log = Log(level: options.logLevel)
        do {
            let runner = ServiceRunner(options: options, environment: ProcessInput.environment, log: log) {
                () throws(ServiceFailure) in
                guard case .run(let options) = try ServiceOptions.parse(arguments) else { return options }
                return options
            }
            try await runner.run()
        } catch .cancelled where Task.isCancelled {
            // Before it was ready: a start can take long, after a check that found something.
        } catch let failure as ServiceFailure {
            throw failure
        } catch {
            throw ServiceFailure(error)
        }
    }
}
