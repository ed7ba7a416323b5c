import Glibc
import RelayTool

/// The program, with all that it needs from outside given to it.
struct Tool {
    let environment: [String: String]
    /// The descriptor that results go to.
    let output: Int32
    let isTerminal: Bool
    let locator: BusLocator
    /// For stderr: one line, which must not wait for its reader.
    let note: (String) -> Void
    typealias Connect = (
        _ service: String, _ bus: BusChoice, _ startsService: Bool, _ deliver: @escaping @Sendable (WatchInput) -> Void
    ) throws(CLIFailure) -> any FollowedService
    let connect: Connect
    /// Made when `watch` begins.
    let stop: () throws(CLIFailure) -> any EndRequest

    /// Runs a command line without the program's name.
    func run(_ arguments: [String]) -> ExitCode {
        do throws(CLIFailure) {
            try perform(try OptionParser.parse(arguments))
            return .ok
        } catch {
            note(error.message)
            return error.code
        }
    }

    private func perform(_ invocation: Invocation) throws(CLIFailure) {
        let options = invocation.options
        switch invocation.action {
        case .help(let command): try write(Array(HelpText.text(for: command).utf8))
        case .version: try write(Array(HelpText.version.utf8))
        case .watch(let watch):
            let bus = try locator.locate(options.bus)
            let signals = try stop()
            try WatchCommand(
                options: watch, service: options.service, style: style(options), timeout: options.timeout,
                output: output, stop: signals.descriptor, note: note,
                connect: { deliver throws(CLIFailure) in try connect(options.service, bus, false, deliver) }
            ).run()
        case .call(let call):
            let caller = try self.caller(options)
            let command = CallCommand(
                options: call, style: style(options), timeout: options.timeout, caller: caller)
            try write(try Waiting.result { try await command.run() })
        case .list(let list):
            let caller = try self.caller(options)
            let command = ListCommand(
                options: list, service: options.service, style: style(options), timeout: options.timeout,
                caller: caller)
            let result = try Waiting.result { try await command.run() }
            try write(result.output)
            if let text = result.note { note(text) }
        }
    }

    private func style(_ options: GlobalOptions) -> OutputStyle {
        OutputStyle.choose(options, environment: environment, isTerminal: isTerminal)
    }

    private func caller(_ options: GlobalOptions) throws(CLIFailure) -> any ServiceCaller {
        let service = try connect(options.service, try locator.locate(options.bus), true) { _ in }
        service.activate()
        return service
    }

    /// A reader that went away is not a failure.
    private func write(_ bytes: [UInt8]) throws(CLIFailure) {
        var channel = OutputChannel(descriptor: output)
        channel.pending.append(bytes)
        while true {
            switch channel.write() {
            case .drained, .closed: return
            case .failed(let number): throw CLIFailure.cannotWrite(errno: number)
            case .blocked:
                var room = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
                _ = poll(&room, 1, -1)
            }
        }
    }
}
