import RelayCore
import RelayTool

/// The program, with all that it needs from outside given to it.
struct Tool {
    let environment: [String: String]
    /// The descriptor that results go to.
    let output: Int32
    let isTerminal: Bool
    /// When the program began, and where on Earth it is.
    let time: LocalTime
    let locator: BusLocator
    /// For stderr: one line, which must not wait for its reader.
    let note: (String) -> Void
    typealias Connect = (
        _ service: String, _ bus: BusChoice, _ startsService: Bool, _ cursors: String?,
        _ deliver: @escaping @Sendable (WatchInput) -> Void
    ) throws(CLIFailure) -> any FollowedService
    let connect: Connect
    /// Made when `watch` begins.
    let stop: () throws(CLIFailure) -> any EndRequest
    /// The descriptor that keys come from.
    var input: Int32 = -1

    /// Runs a command line without the program's name.
    func run(_ arguments: [String]) -> ExitCode {
        do throws(CLIFailure) {
            switch try Program.parse(arguments, at: time) {
            case .help(let verb): try write(HelpPage.text(of: verb, in: Program.declaration))
            case .version: try write(HelpPage.version(of: Program.declaration))
            case .run(let verb, let options): try verb.run(in: VerbContext(tool: self, options: options))
            }
            return .ok
        } catch {
            note(error.message)
            return error.code
        }
    }

    func write(_ text: String) throws(CLIFailure) { try write(Array(text.utf8)) }
    /// A reader that went away is not a failure.
    func write(_ bytes: [UInt8]) throws(CLIFailure) {
        var channel = OutputChannel(descriptor: output)
        channel.pending.append(bytes)
        _ = try channel.drain()
    }
}

/// What a verb runs with: the world outside, and the options of every verb.
struct VerbContext {
    let tool: Tool
    let options: GlobalOptions

    var style: OutputStyle {
        OutputStyle.choose(options, environment: tool.environment, isTerminal: tool.isTerminal)
    }

    /// Finds the bus, for a verb that has something to do between that and the connection.
    func locateBus() throws(CLIFailure) -> BusChoice { try tool.locator.locate(options.bus) }

    /// A service that is waited for, and never started.
    func follow(
        on bus: BusChoice, cursors: String? = nil, _ deliver: @escaping @Sendable (WatchInput) -> Void
    ) throws(CLIFailure) -> any FollowedService {
        try tool.connect(options.service, bus, false, cursors, deliver)
    }

    /// A service that is asked, and started if it is not there.
    func caller() throws(CLIFailure) -> any ServiceCaller {
        let service = try tool.connect(options.service, try locateBus(), true, nil) { _ in }
        service.activate()
        return service
    }
}
