import RelayCore
import RelayTool

/// The program, with all that it needs from outside given to it.
struct Tool {
    var environment: [String: String]
    /// The descriptor that results go to.
    let output: Int32
    let isTerminal: Bool
    /// When the program began, and where on Earth it is.
    let time: LocalTime
    let locator: BusLocator
    /// For stderr: one line, which must not wait for its reader.
    var note: (String) -> Void
    typealias Connect = (
        _ service: String, _ bus: BusChoice, _ startsService: Bool, _ cursors: String?,
        _ deliver: @escaping @Sendable (WatchInput) -> Void
    ) throws(CLIFailure) -> any FollowedService
    let connect: Connect
    /// Made when `watch` begins.
    let stop: () throws(CLIFailure) -> any EndRequest
    /// A connection to a bus that is not a service's, made before the verb's threads.
    var openPeer: (_ bus: BusChoice, _ timeout: Duration) throws(RelayError) -> any BusPeer = {
        (bus, timeout) throws(RelayError) in try BusLine(bus, timeout: timeout)
    }
    /// What others exchange on a bus, as far as these match rules let it through.
    var openMonitor:
        (_ bus: BusChoice, _ rules: [String], _ timeout: Duration) throws(RelayError) -> any MessageSource = {
            (bus, rules, timeout) throws(RelayError) in try BusMonitor(Bus(bus), rules: rules, timeout: timeout)
        }
    /// The names of the programs behind unique names, as far as the bus and the system report them.
    var programs: (_ peer: any BusPeer, _ names: [String]) -> [String: String] = { $0.programs(of: $1) }
    /// How the bridge on a bus is; nil: there is none, or this user may not ask it.
    var bridge: (_ peer: any BusPeer, _ timeout: Duration) -> BridgeStatus? = { $0.bridge(within: $1) }
    /// What the doctor asks the system.
    var facts = SystemFacts.ofProcess()
    /// The descriptor that keys come from.
    var input: Int32 = -1
    /// Of the terminal that results go to; nil: they go to none.
    var columns: Int?
    /// For stderr, where it is a terminal and results go elsewhere. nil: there is nobody to see it.
    var progress: ((ByteBuffer) -> Void)?
    /// For stderr: a line as it is, without the program's name. nil: `note` takes it.
    var complain: ((String) -> Void)?

    /// Runs a command line without the program's name.
    func run(_ arguments: [String]) -> ExitCode {
        do throws(CLIFailure) {
            switch try Program.parse(arguments, at: time) {
            case .help(let verb): try write(HelpPage.text(of: verb, in: Program.declaration, width: columns))
            case .version: try write(HelpPage.version(of: Program.declaration))
            case .run(let verb, let options) where options.host == .all && verb.asksService:
                var fan = HostFan(self, options, arguments, isBrief: !verb.goesOn)
                return try fan.run()
            case .run(let verb, var options):
                if verb.asksService { try choose(&options, within: verb.patience) }
                do throws(CLIFailure) { try verb.run(in: VerbContext(tool: self, options: options)) } catch {
                    throw explained(error, options)
                }
            }
            return .ok
        } catch {
            if Self.wantsJSON(arguments) {
                (complain ?? note)(error.json)
            } else {
                note(error.message)
                for line in error.excerpt { note(line) }
            }
            return error.code
        }
    }
    /// Whether a command line asks for JSON, also one that cannot be read.
    private static func wantsJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--" + GlobalOptions.json.name)
    }

    /// A failure in words that say what to do, where more is known than where it arose.
    private func explained(_ failure: CLIFailure, _ options: GlobalOptions) -> CLIFailure {
        guard failure.code == .notPermitted, let bus = try? locator.locate(options.bus) else { return failure }
        let policy = (try? openPeer(bus, options.timeout)).flatMap { facts.policy(bus, $0) }
        let help = AccessHelp(account: facts.account(), policy: policy, group: facts.group)
        return help.explanation(of: failure, service: options.service, on: bus) ?? failure
    }

    /// Which service is meant: the one that is named, else the only one on the bus.
    private func choose(_ options: inout GlobalOptions, within patience: Duration?) throws(CLIFailure) {
        let named = try namedService(options)
        if case .one(let host)? = options.host {
            (options.service, options.namesService) = (try mirror(of: named, at: host, options), true)
            return
        }
        if let named {
            options.service = named
            return
        }
        let bus = try locator.locate(options.bus)
        // Without a bus there is nothing to choose from, and the verb has its own word for that.
        guard let services = try? services(on: bus, timeout: options.timeout, within: patience) else { return }
        options.service = try ServiceFinder.choice(of: services)
        options.isAssumed = services.isEmpty
    }
    /// nil: none is named.
    func namedService(_ options: GlobalOptions) throws(CLIFailure) -> String? {
        if options.namesService { return options.service }
        guard let name = environment["RELAY_SERVICE"], !name.isEmpty else { return nil }
        do throws(Unfit) { return try ValueKind.busName.read(name) } catch {
            throw CLIFailure(.usage, "RELAY_SERVICE: '\(name)' \(error.reason)")
        }
    }
    func services(
        on bus: BusChoice, timeout: Duration, within patience: Duration? = nil
    ) throws(RelayError) -> [FoundService] {
        let peer = try openPeer(bus, min(timeout, patience ?? timeout))
        return try ServiceFinder(peer: peer) { serviceFile($0, on: bus) }.services(within: patience)
    }
    /// The text of a name's D-Bus service file; nil: it has none that can be read.
    func serviceFile(_ name: String, on bus: BusChoice) -> String? {
        ServiceFinder.file(of: name, on: bus, environment: environment)
    }

    /// For results.
    var channel: OutputChannel { OutputChannel(descriptor: output, isTerminal: isTerminal) }
    func write(_ text: String) throws(CLIFailure) { try write(Array(text.utf8)) }
    /// A reader that went away is not a failure.
    func write(_ bytes: [UInt8]) throws(CLIFailure) {
        var channel = channel
        channel.pending.append(bytes)
        _ = try channel.drain()
    }
}

/// What a verb runs with: the world outside, and the options of every verb.
struct VerbContext {
    let tool: Tool
    var options: GlobalOptions

    var style: OutputStyle {
        OutputStyle.choose(
            options, environment: tool.environment, isTerminal: tool.isTerminal, columns: tool.columns)
    }

    /// What the bridge says of the service. nil: there is none, or it has nothing to do with the service.
    func bridged() -> BridgedService? {
        guard let bus = try? locateBus(), let peer = try? tool.openPeer(bus, options.timeout) else { return nil }
        return tool.bridge(peer, options.timeout).flatMap { BridgedService(options.service, $0) }
    }

    /// Finds the bus, for a verb that has something to do between that and the connection.
    func locateBus() throws(CLIFailure) -> BusChoice { try tool.locator.locate(options.bus) }

    /// A service that is waited for.
    ///
    /// - Parameter startsService: whether the bus is asked to start it, as any subscriber does.
    func follow(
        on bus: BusChoice, startsService: Bool, cursors: String? = nil,
        _ deliver: @escaping @Sendable (WatchInput) -> Void
    ) throws(CLIFailure) -> any FollowedService {
        try tool.connect(options.service, bus, startsService, cursors, deliver)
    }

    /// A service that is asked, and started if it is not there.
    func caller() throws(CLIFailure) -> any ServiceCaller {
        let service = try tool.connect(options.service, try locateBus(), true, nil) { _ in }
        service.activate()
        return service
    }
}
