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
            try perform(try OptionParser.parse(arguments, at: time))
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
            let cursors: String? = if case .resuming(_, let folder) = watch.start { folder } else { nil }
            try WatchCommand(
                options: watch, service: options.service, style: style(options), timeout: options.timeout,
                output: output, linesPerSecond: watch.linesPerSecond(isTerminal: isTerminal),
                stop: signals.descriptor, note: note,
                connect: { deliver throws(CLIFailure) in try connect(options.service, bus, false, cursors, deliver) }
            ).run()
        case .top(let top): try self.top(top, options)
        case .history(let history):
            let printer = LinesPrinter(style: style(options), clock: EventClock(offset: time.offset), note: note)
            try read(history, options) { _ in printer }
        case .export(let history, .json):
            let style = OutputStyle(json: true, hasEpoch: true)
            let printer = LinesPrinter(
                style: style, clock: EventClock(offset: time.offset), notesGaps: true, note: note)
            try read(history, options) { _ in printer }
        case .export(let history, .csv):
            try read(history, options) { event in
                CSVPrinter(columnsOf: event, escapesControls: isTerminal, note: note)
            }
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
        case .status:
            let caller = try self.caller(options)
            let command = StatusCommand(
                service: options.service, style: style(options), timeout: options.timeout, caller: caller)
            try write(try Waiting.result { try await command.run() })
        }
    }

    private func top(_ top: TopOptions, _ options: GlobalOptions) throws(CLIFailure) {
        let bus = try locator.locate(options.bus)
        let (style, isUTF8) = (style(options), OutputStyle.isUTF8(environment))
        let isDrawn = isTerminal && !options.json && !["", "dumb"].contains(environment["TERM"] ?? "")
        // Before any other thread.
        let signals = try isDrawn ? SignalDescriptor(TopCommand.signals) : SignalDescriptor()
        try TopCommand(
            options: top, service: options.service, timeout: options.timeout,
            place: isDrawn
                ? .screen(Terminal(output: output, input: input), hasColor: style.hasColor, isUTF8: isUTF8)
                : .table(isJSON: options.json, isUTF8: isUTF8),
            output: output, signals: signals,
            connect: { deliver throws(CLIFailure) in try connect(options.service, bus, false, nil, deliver) }
        ).run()
    }

    private func read(
        _ history: HistoryOptions, _ options: GlobalOptions, printer: (_ only: String?) -> any JournalPrinter
    ) throws(CLIFailure) {
        let command = HistoryCommand(
            options: history, service: options.service, timeout: options.timeout, caller: try caller(options),
            output: output, now: { Timestamp.now.microseconds }, note: note)
        try command.run(printer)
    }

    private func style(_ options: GlobalOptions) -> OutputStyle {
        OutputStyle.choose(options, environment: environment, isTerminal: isTerminal)
    }

    private func caller(_ options: GlobalOptions) throws(CLIFailure) -> any ServiceCaller {
        let service = try connect(options.service, try locator.locate(options.bus), true, nil) { _ in }
        service.activate()
        return service
    }

    /// A reader that went away is not a failure.
    private func write(_ bytes: [UInt8]) throws(CLIFailure) {
        var channel = OutputChannel(descriptor: output)
        channel.pending.append(bytes)
        _ = try channel.drain()
    }
}
