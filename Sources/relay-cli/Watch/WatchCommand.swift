import RelayCore

/// `watch`: joins the bus, the machine and the output.
struct WatchCommand {
    let options: WatchOptions
    let service: String
    let style: OutputStyle
    let timeout: Duration
    let output: Int32
    let linesPerSecond: UInt64?
    /// Readable when the end is asked for.
    let stop: Int32
    let note: (String) -> Void
    let connect: (@escaping @Sendable (WatchInput) -> Void) throws(CLIFailure) -> any FollowedService

    /// Returns when the watch is over, waiting on this thread until then.
    func run() throws(CLIFailure) {
        let wakeup = try Wakeup()
        let queue = WatchQueue(wakeup: wakeup)
        let followed = try connect { queue.append($0) }
        let discovery = Discovery(caller: followed, timeout: timeout)
        let beginning = WatchBeginning(
            options.start, service: service, followed: followed,
            reader: JournalReader(caller: followed, timeout: timeout), onNews: { wakeup.wake() })
        followed.activate()
        defer { followed.invalidate() }
        var loop = WatchLoop(
            WatchMachine(
                options, service: service, printer: EventPrinter(style: style, clock: .local()),
                linesPerSecond: linesPerSecond),
            output: OutputChannel(descriptor: output), queue: queue, wakeup: wakeup, stop: stop,
            duration: options.duration, now: { Timestamp.now.microseconds },
            perform: { action in
                switch action {
                case .discover: Task { queue.post(.discovered(await discovery.outcome())) }
                case .follow(let selection):
                    Task { queue.post(await beginning.begin(selection)) }
                case .note(let text): note(text)
                case .end: break  // The loop's own.
                }
            })
        if let failure = loop.run() { throw failure }
    }
}
