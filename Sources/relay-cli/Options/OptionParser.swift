import RelayCore
import RelayTool

/// Turns a command line into what it asks for, or into a refusal that names what is wrong with it.
enum OptionParser {
    private static let commands = "there are " + CommandName.enumeration(CommandName.allCases)

    /// `time` is what times of the day and durations are reckoned from.
    static func parse(_ arguments: [String], at time: LocalTime) throws(CLIFailure) -> Invocation {
        let scanned = try refusing { () throws(RelayError) in try OptionScanner<OptionKey>.scan(arguments) }
        let keys = Set(scanned.options.map(\.key))
        if keys.contains(.help) { return Invocation(action: .help(try helpTopic(scanned.operands, isOption: true))) }
        if keys.contains(.version) { return Invocation(action: .version) }
        guard let first = scanned.operands.first else {
            throw CLIFailure(.usage, "no command; \(commands) (relay-cli --help)")
        }
        let command = try commandName(first)
        let operands = Array(scanned.operands.dropFirst())
        var invocation = Invocation(action: .help(nil))
        var watch = WatchOptions()
        var list = ListOptions()
        var range = RangeOptions(time: time)
        for option in scanned.options {
            if let owners = option.key.commands, !owners.contains(command) {
                let names = CommandName.enumeration(owners, quoted: true)
                throw CLIFailure(.usage, "option '--\(option.key.name)' belongs to \(names), not to '\(first)'")
            }
            let argument = option.argument ?? ""
            switch option.key {
            case .session: try choose(.session, &invocation.options)
            case .system: try choose(.system, &invocation.options)
            case .bus:
                try choose(
                    .address(try refusing { () throws(RelayError) in try BusAddress.check(argument) }),
                    &invocation.options)
            case .service: invocation.options.service = try serviceName(argument)
            case .json: invocation.options.json = true
            case .noColor: invocation.options.allowsColor = false
            case .timeout: invocation.options.timeout = try seconds(argument, of: option.key)
            case .since, .until, .resume, .cursors, .format: try range.take(option.key, argument)
            case .limit: range.limit = try count(argument, of: option.key)
            case .count: watch.count = try count(argument, of: option.key)
            case .duration: watch.duration = try seconds(argument, of: option.key)
            case .noWait: watch.waitsForService = false
            case .sample: watch.sample = try lines(argument)
            case .all: list.all = true
            case .version, .help: break
            }
        }
        switch command {
        case .watch:
            watch.events = try events(operands)
            watch.start = try range.start()
            if case .resuming = watch.start, watch.sample ?? 0 > 0 {
                throw CLIFailure(.usage, "'--resume' shows every event: '--sample' does not go with it")
            }
            invocation.action = .watch(watch)
        case .top:
            invocation.action = .top(
                TopOptions(
                    events: try events(operands), duration: watch.duration, waitsForService: watch.waitsForService))
        case .history:
            invocation.action = .history(try range.history(of: try events(operands)))
        case .export:
            let format = try range.format(isJSON: invocation.options.json)
            invocation.action = .export(try range.history(of: try events(operands)), format)
        case .call:
            invocation.action = .call(try call(operands))
        case .list:
            try expectNone(operands, first)
            invocation.action = .list(list)
        case .status:
            try expectNone(operands, first)
            invocation.action = .status
        case .help:
            invocation.action = .help(try helpTopic(operands, isOption: false))
        }
        return invocation
    }

    /// What the library refuses on the command line is wrong usage.
    private static func refusing<Value>(_ body: () throws(RelayError) -> Value) throws(CLIFailure) -> Value {
        do throws(RelayError) { return try body() } catch { throw CLIFailure(.usage, error.message) }
    }

    private static func commandName(_ text: String) throws(CLIFailure) -> CommandName {
        guard let name = CommandName(rawValue: text) else {
            let hint = NearMiss.hint(for: text, among: CommandName.allCases.map(\.rawValue))
            throw CLIFailure(
                .usage,
                "no command '\(text)'" + (hint.isEmpty ? "; \(commands)" : hint))
        }
        return name
    }

    /// `help`, `help watch`, `--help`, `watch --help`, `call OrderBox --help`.
    private static func helpTopic(_ operands: [String], isOption: Bool) throws(CLIFailure) -> CommandName? {
        guard let first = operands.first else { return nil }
        let topic = try commandName(first)
        if isOption { return topic == .help ? nil : topic }
        if operands.count > 1 { throw CLIFailure(.usage, "'help' takes one command: '\(operands[1])'") }
        return topic == .help ? nil : topic
    }

    private static func choose(_ choice: BusChoice, _ options: inout GlobalOptions) throws(CLIFailure) {
        if let other = options.bus, other != choice {
            throw CLIFailure(.usage, "two buses were asked for; give one of --session, --system and --bus ADDRESS")
        }
        options.bus = choice
    }

    private static func serviceName(_ text: String) throws(CLIFailure) -> String {
        guard BusNames.isBusName(text) else {
            throw CLIFailure(.usage, "'\(text)' is no bus name; one looks like \(GlobalOptions.standardService)")
        }
        return text
    }

    /// Decimal seconds, from a millisecond to 24 days (what libdbus can wait, in milliseconds).
    private static func seconds(_ text: String, of key: OptionKey) throws(CLIFailure) -> Duration {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
        guard isPlain, let value = Double(text), value >= 0.001, value <= 2_147_483 else {
            throw CLIFailure(
                .usage, "option '--\(key.name)': '\(text)' is no number of seconds between 0.001 and 2147483")
        }
        return .milliseconds(Int64((value * 1000).rounded()))
    }

    private static func count(_ text: String, of key: OptionKey) throws(CLIFailure) -> UInt64 {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let value = UInt64(text), value > 0 else {
            throw CLIFailure(.usage, "option '--\(key.name)': '\(text)' is no number of events from 1 on")
        }
        return value
    }

    private static func lines(_ text: String) throws(CLIFailure) -> UInt64 {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let value = UInt64(text), value <= 1_000_000 else {
            throw CLIFailure(.usage, "option '--sample': '\(text)' is no number of lines from 0 to 1000000")
        }
        return value
    }

    private static func events(_ operands: [String]) throws(CLIFailure) -> [String] {
        if operands.contains(where: \.isEmpty) { throw CLIFailure(.usage, "an event's name is empty: ''") }
        return operands
    }
    private static func expectNone(_ operands: [String], _ command: String) throws(CLIFailure) {
        if let extra = operands.first { throw CLIFailure(.usage, "'\(command)' takes no operand: '\(extra)'") }
    }

    private static func call(_ operands: [String]) throws(CLIFailure) -> CallOptions {
        guard let command = operands.first, !command.isEmpty else {
            throw CLIFailure(.usage, "'call' needs a command's name; 'list' shows them")
        }
        var call = CallOptions(command: command)
        var seen: Set<String> = []
        for operand in operands.dropFirst() {
            guard let equals = operand.firstIndex(of: "="), equals > operand.startIndex else {
                throw CLIFailure(.usage, "'\(operand)' is not of the form key=value")
            }
            let key = String(operand[..<equals])
            guard seen.insert(key).inserted else {
                throw CLIFailure(.usage, "'\(key)' is given twice: '\(operand)'")
            }
            call.arguments.append(.init(key: key, value: String(operand[operand.index(after: equals)...])))
        }
        return call
    }
}
