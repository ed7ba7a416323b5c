import Glibc
import RelayCore
import RelayTool

/// `top`: joins the bus, the machine and the terminal.
struct TopCommand {
    /// Where it is shown.
    enum Place {
        /// Full screen, until it is told to end.
        case screen(Terminal, hasColor: Bool, isUTF8: Bool)
        /// A table of one second's figures, or of `duration`'s.
        case table(isJSON: Bool, isUTF8: Bool)
    }
    /// Those that would leave a terminal as it must not be left, and those that change it.
    static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]

    let options: TopOptions
    let service: String
    let timeout: Duration
    let place: Place
    let output: Int32
    let signals: SignalDescriptor
    let connect: (@escaping @Sendable (WatchInput) -> Void) throws(CLIFailure) -> any FollowedService

    /// Returns when it is over, waiting on this thread until then.
    func run() throws(CLIFailure) {
        let (counters, inbox) = (TopCounters(), TopInbox(wakeup: try Wakeup()))
        let followed = try connect { input in
            switch input {
            case .event(let event): counters.add(event, now: Timestamp.now.microseconds)
            case .gap(let interface, let gap): counters.add(gap, of: interface)
            case .state(let state): inbox.post(.state(state))
            }
        }
        let discovery = Discovery(caller: followed, timeout: timeout)
        let reader = JournalReader(caller: followed, timeout: timeout)
        followed.activate()
        defer { followed.invalidate() }
        let perform = { (action: TopMachine.Action) in
            switch action {
            case .discover: Task { inbox.post(.discovered(await discovery.outcome())) }
            case .follow(let selection):
                Task {
                    await followed.follow(selection)
                    inbox.post(.following)
                }
            case .end: break  // The loop's own.
            }
        }
        let askStatus = { (interfaces: [String]) in
            _ = Task {
                var all: [(String, TopStatus?)] = []
                for interface in interfaces { all.append((interface, try? await reader.topStatus(of: interface))) }
                inbox.post(.status(all))
            }
        }
        let failure: CLIFailure?
        switch place {
        case .screen(let terminal, let hasColor, let isUTF8):
            var loop = TopLoop(
                TopMachine(events: options.events, service: service, waits: options.waitsForService),
                TopScreen(terminal, hasColor: hasColor), terminal: terminal, counters: counters, inbox: inbox,
                signals: signals, duration: options.duration, isUTF8: isUTF8, perform: perform, askStatus: askStatus)
            failure = loop.run()
        case .table(let isJSON, let isUTF8):
            var table = TopTable(
                TopMachine(events: options.events, service: service, waits: false), counters: counters, inbox: inbox,
                signals: signals, duration: options.duration ?? .seconds(1), perform: perform, askStatus: askStatus)
            failure = table.measure()
            if failure == nil, let model = table.result {
                var channel = OutputChannel(descriptor: output)
                if isJSON {
                    TopJSON.append(model, to: &channel.pending)
                } else {
                    for line in TopView(isUTF8: isUTF8).lines(model) { channel.pending.append(line.text + "\n") }
                }
                _ = try channel.drain()
            }
        }
        if let failure { throw failure }
    }
}

extension JournalReader {
    /// Throws `ServiceAbsent` or `CLIFailure`.
    fileprivate func topStatus(of interface: String) async throws -> TopStatus {
        try await ask("Status", of: interface, TopStatus.signature) { try TopStatus.read(&$0) }
    }
}
