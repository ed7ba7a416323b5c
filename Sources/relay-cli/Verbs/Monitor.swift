import Glibc
import RelayCore
import RelayTool
import RelayWire

/// Messages between others. The seam between `monitor` and the bus.
protocol MessageSource {
    /// Readable when there may be something.
    var descriptor: Int32 { get }
    /// nil: nothing now. Throws when nothing comes any more.
    func next() throws(RelayError) -> MonitoredMessage?
}
extension BusMonitor: MessageSource {}

/// `monitor`: what a service and others exchange, typed.
struct Monitor: Verb {
    var all = false
    var count: UInt64?
    var duration: Duration?

    static let declaration = CommandDeclaration(
        "monitor",
        summary: "what goes over the bus: events, calls, replies",
        options: [all, count, duration],
        details: [
            """
            Prints a line for each message between the service and anybody: events and states of documents that are sent as
            signals, calls of commands, and their replies, refusals and errors, each with the time that it took. It is what
            dbus-monitor shows, with the names and types of the service's description.
            """,
            .lines(
                """
                09:15:04.120 call     OrderBox from :1.12: label="Kitchen" capacity=10
                09:15:04.123 event    #17 BoxProvisioned: boxID=3 capacity=10 title="Kitchen"
                09:15:04.123 reply    OrderBox to :1.12 in 3.1 ms: boxID=3
                """),
            """
            It asks the bus to become a monitor, which the bus permits to its own user (on the session bus, you) and to
            root. Events that travel by a ring alone, or while signals pause, do not go over the bus: 'watch' shows all of
            them.
            """,
            """
            With --json an object a line: kind (event, document, signal, call, reply, refusal, error, owner), time,
            interface, name, from or to, fields; of an event its sequence and publishedAt; of a reply microseconds.
            """,
        ],
        examples: [
            Example("monitor", summary: "until ctrl-C"),
            Example("monitor", "--all", "--for", "10", summary: "ten seconds, with what keeps the streams whole"),
        ],
        exitCodes: Program.exitCodes(
            ExitMeaning(.ok, "ended by a signal, --count or --for"),
            ExitMeaning(.unavailable, "no bus, or it ended the connection"),
            ExitMeaning(.notPermitted, "the bus does not permit to monitor it")))

    private static let all = Option(
        switch: "all", "also Stream1 and D-Bus's own interfaces, and objects of other makes")
    private static let count = Option<UInt64?>("count", .events, "end after N events")
    private static let duration = Option<Duration?>("for", .seconds, "end after this time")

    func run(in context: VerbContext) throws(CLIFailure) {
        let bus = try context.locateBus()
        let (tool, options) = (context.tool, context.options)
        // Before any other thread.
        let stop = try tool.stop()
        let peer: any BusPeer
        let source: any MessageSource
        do throws(RelayError) {
            peer = try tool.openPeer(bus, options.timeout)
            source = try tool.openMonitor(bus, Self.rules(options.service), options.timeout)
        } catch {
            throw Self.failure(error, on: bus, userID: tool.facts.userID)
        }
        var printer = MonitorPrinter(
            service: options.service, all: all, style: context.style,
            clock: EventClock(offset: tool.time.offset), isUTF8: OutputStyle.isUTF8(tool.environment))
        printer.owner = MethodCall.toBus("GetNameOwner", of: options.service).flatMap { call in
            try? peer.ask(call, within: options.timeout).read("s") { try $0.string() }
        }
        learn(&printer, peer, options.timeout)
        tool.note(
            printer.owner == nil
                ? "\(options.service) is not there; what comes of it is shown" : "monitoring \(options.service)")
        try show(source, &printer, stop: stop.descriptor, peer, context)
    }
    private func learn(_ printer: inout MonitorPrinter, _ peer: any BusPeer, _ timeout: Duration) {
        guard let owner = printer.owner else { return }
        // What the introspection data lacks is shown without names.
        if let catalogue = try? PeerWalk(peer: peer, timeout: timeout).catalogue(of: owner) { printer.learn(catalogue) }
    }

    /// Composed ahead of a slow output. Past it nothing more is read.
    private static let mostComposed = 1 << 20

    private func show(
        _ source: any MessageSource, _ printer: inout MonitorPrinter, stop: Int32, _ peer: any BusPeer,
        _ context: VerbContext
    ) throws(CLIFailure) {
        var output = context.tool.channel
        let end = duration.map { ContinuousClock.now + $0 }
        while true {
            var isIdle = false
            while !isIdle, output.waitingBytes < Self.mostComposed, count.map({ printer.printed < $0 }) ?? true {
                let message: MonitoredMessage?
                do throws(RelayError) { message = try source.next() } catch {
                    _ = try output.drain()
                    throw CLIFailure(.unavailable, error.message)
                }
                guard let message else {
                    isIdle = true
                    break
                }
                if printer.take(message, now: Timestamp.now.microseconds, to: &output.pending) {
                    learn(&printer, peer, context.options.timeout)
                }
            }
            if let count, printer.printed >= count {
                _ = try output.drain()
                return
            }
            let outcome = output.write()
            switch outcome {
            case .closed: return
            case .failed(let number): throw CLIFailure.cannotWrite(errno: number)
            case .drained, .blocked: break
            }
            if let end, ContinuousClock.now >= end { return }
            var polls = [
                pollfd.reading(isIdle ? source.descriptor : -1), .reading(stop),
                .writing(output.descriptor, forRoom: outcome == .blocked),
            ]
            let isBusy = !isIdle && outcome == .drained
            Poll.wait(&polls, until: isBusy ? .now : end)
            if polls[1].revents != 0 || polls[2].isOver { return }
        }
    }

    private static func rules(_ service: String) -> [String] {
        [
            "sender='\(service)'", "destination='\(service)'",
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(service)'",
        ]
    }
    private static func failure(_ error: RelayError, on bus: BusChoice, userID: UInt32) -> CLIFailure {
        guard error.code == .notPermitted || error.code == .notFound else {
            return CLIFailure(FailureMapping.exitCode(error.code), error.message)
        }
        return CLIFailure(
            .notPermitted,
            "\(Bus(bus)) does not let user \(userID) monitor it (\(error.message)); run it as root or as the bus's user, or "
                + "use 'watch', which needs no such permission")
    }
}

extension Monitor {
    init(_ line: ParsedLine, at time: LocalTime) {
        (all, count, duration) = (line[Self.all], line[Self.count], line[Self.duration])
    }
}
