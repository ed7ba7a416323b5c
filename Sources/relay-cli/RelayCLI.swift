import Glibc
import RelayCore
import RelayTool

/// Puts the program together for this process.
@main struct RelayCLI {
    static func main() {
        DispatchLog.turnOff()
        // A reader that goes away is seen by its error.
        signal(SIGPIPE, SIG_IGN)
        // Ctrl-\ ends the program, and starts no debugger.
        signal(SIGQUIT, SIG_DFL)
        StandardDescriptors.reserve()
        let put: @Sendable (ByteBuffer) -> Void = { text in
            var channel = OutputChannel(descriptor: STDERR_FILENO, isTerminal: isatty(STDERR_FILENO) == 1)
            channel.pending = text
            _ = channel.write()
        }
        let line: @Sendable (String) -> Void = { text in
            var line = ByteBuffer()
            line.append(text)
            line.append("\n")
            put(line)
        }
        let note: @Sendable (String) -> Void = { line("relay-cli: \(MessageText.line($0))") }
        let arguments: [String]
        do throws(UsageError) {
            arguments = try ProcessInput.arguments()
        } catch {
            note(error.message)
            exit(ExitCode.usage.rawValue)
        }
        let environment = ProcessInput.environment
        // Where both are one terminal, the results show how far it is.
        let isWatched = isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) != 1
        let progress: ((ByteBuffer) -> Void)? = if isWatched { put } else { nil }
        let tool = Tool(
            environment: environment, output: StandardDescriptors.unwaiting(STDOUT_FILENO),
            isTerminal: isatty(STDOUT_FILENO) == 1,
            time: .ofProcess(), locator: .ofProcess(environment: environment), note: note,
            connect: { service, bus, startsService, cursors, deliver throws(CLIFailure) in
                let start = startsService ? StartWatch(service, on: bus, environment: environment) : nil
                return try BusService(
                    service, on: bus, start: start, cursors: cursors, note: note, deliver: deliver)
            },
            stop: { () throws(CLIFailure) in try SignalDescriptor() }, input: STDIN_FILENO,
            columns: Terminal.columns(of: STDOUT_FILENO),
            progress: progress, complain: line)
        exit(tool.run(arguments).rawValue)
    }
}
