import RelayCore
import Synchronization

/// Exports one interface: performs what its machine demands, and goes on when the origin, the bus or the carrier is back.
///
/// One task's. What it knows is in the machine; all else can be asked for again.
struct InterfaceExporter {
    /// What ends an exporter, whatever is tried again.
    struct End: Error { let error: RelayError }

    private let channel: ChannelName
    private let carrier: any MirrorCarrier
    private let bus: Bus
    private let loop: BusLoop
    private let timing: ExporterTiming
    private let report: @Sendable ((inout ExportStatus) -> Void) -> Void
    private let bell = Bell()

    private(set) var machine: ExporterMachine
    private var sink: (any MirrorSink)?
    private var connection: OriginConnection?
    private var origin: Origin?
    /// Read, and not appended yet.
    private var pages: [MirrorMessage] = []
    /// The page behind those, on its way.
    private var ahead: (after: UInt64, page: Task<Origin.Page, any Error>)?
    private var nextLook = ContinuousClock.now

    init(
        _ channel: ChannelName, to carrier: any MirrorCarrier, on bus: Bus, _ loop: BusLoop, _ timing: ExporterTiming,
        writer: UInt64, report: @escaping @Sendable ((inout ExportStatus) -> Void) -> Void
    ) {
        (self.channel, self.carrier, self.bus, self.loop) = (channel, carrier, bus, loop)
        (self.timing, self.report) = (timing, report)
        machine = ExporterMachine(writer: writer)
    }

    /// Returns only by an error: `End`, or that the task was cancelled.
    mutating func run() async throws -> Never {
        defer { ahead?.page.cancel() }
        var pause = timing.firstPause
        while true {
            if Task.isCancelled { throw RelayError(.cancelled, "the exporter's task was cancelled") }
            do throws(RelayError) {
                if try await step() { pause = timing.firstPause }
            } catch {
                if case .stop = machine.demand { throw End(error: error) }
                if error.code == .invalidArgument, case .attach = machine.demand { throw End(error: error) }
                recover()
                if Task.isCancelled { continue }
                let head = connection?.liveHead ?? 0
                report { ($0.error, $0.head) = (error.message, max($0.head, head)) }
                await bell.wait(atMost: pause)
                pause = min(pause * 2, timing.longestPause)
            }
        }
    }
    /// After an error: what it came from is asked for again.
    private mutating func recover() {
        switch machine.demand {
        case .attach, .read:
            forgetOrigin()
            machine.originChanged()
        case .connect, .look, .message, .appendPage, .appendSnapshot, .stop:
            sink = nil
            machine.disconnected()
        }
        if let connection, !connection.isOpen { self.connection = nil }
    }
    private mutating func forgetOrigin() {
        ahead?.page.cancel()
        (origin, pages, ahead) = (nil, [], nil)
    }
    /// Performs one demand. True: a message was appended, or there is nothing to do.
    private mutating func step() async throws(RelayError) -> Bool {
        if let origin, let connection, connection.owner != origin.owner {
            forgetOrigin()
            machine.originChanged()
        }
        switch machine.demand {
        case .connect:
            sink = try await carrier.sink(of: channel)
            machine.connected()
        case .look:
            report { $0.resyncs += 1 }
            let sink = try connected()
            let bounds = try await sink.bounds()
            machine.found(bounds, newest: try await sink.newestSnapshot(within: bounds)?.found)
        case .message(let number): machine.received(try await news(number, try connected()))
        case .attach: try await attach()
        case .read(let after): return try await read(after)
        case .appendSnapshot(let position, let table, let last):
            try await appendSnapshot(position, table, last)
            return true
        case .appendPage(let events, _, let last):
            try await appendPage(events, last)
            return true
        case .stop(let writer):
            throw RelayError(
                .conflict,
                "two exporters write to the channel of \(channel): this one (writer \(machine.writer)) stops, as the "
                    + "other one (writer \(writer)) exports another history; give one of the two hosts another name, or "
                    + "stop the other exporter and start this one again")
        }
        return false
    }

    // MARK: The channel

    private func connected() throws(RelayError) -> any MirrorSink {
        if let sink { return sink }
        throw RelayError(.unavailable, "the carrier's connection is gone")
    }
    private func news(_ number: UInt64, _ sink: any MirrorSink) async throws(RelayError) -> MirrorNews {
        guard let message = try await sink.whole(number), message.header.kind == .page,
            (try? MirrorPage(message)) != nil
        else { return .other }
        return .page(message.header)
    }

    // MARK: The origin

    private mutating func attach() async throws(RelayError) {
        if connection?.isOpen != true {
            connection = try await OriginConnection.open(
                bus, on: loop, service: channel.service, interface: channel.interface, bell, timing)
        }
        guard let connection else { return }
        await connection.askOwner()
        let origin = try await Origin(connection, channel.interface)
        (self.origin, pages) = (origin, [])
        // What lies between the channel's end and the first signal is in the journal.
        connection.doubtLive()
        machine.attached(runs: origin.runs, oldest: origin.oldest)
    }
    private func attached() throws(RelayError) -> Origin {
        if let origin { return origin }
        throw RelayError(.unavailable, "\(channel.service) is to be asked again")
    }
    private mutating func read(_ after: UInt64) async throws(RelayError) -> Bool {
        if ContinuousClock.now >= nextLook {
            machine.removed(below: try await lookAtChannel().first)
            nextLook = ContinuousClock.now + timing.look
            // An announcement may have been lost.
            connection?.doubtLive()
            await connection?.askOwner()
            if origin?.isCutOff == true {
                forgetOrigin()
                machine.originChanged()
            }
            guard case .read(after) = machine.demand else { return false }
        }
        if let page = pages.first?.header, page.first == after + 1 {
            machine.read(page.events, epoch: page.epoch, oldest: page.first)
            return false
        }
        guard let page = try await page(after, try attached()) else {
            await bell.wait(atMost: timing.look)
            return true
        }
        pages = page.messages
        report { status in
            (status.position, status.head, status.error) = (after, page.head, nil)
            status.waitingSince = page.since
            if let oldest = page.oldest { status.oldest = oldest }
        }
        guard let next = pages.first?.header else {
            machine.read(nil, epoch: page.epoch, oldest: max(page.oldest ?? 0, page.through + 1))
            return false
        }
        machine.read(next.events, epoch: page.epoch, oldest: max(page.oldest ?? 0, next.first))
        return false
    }
    /// What follows a sequence, as signals or the journal have it. nil: nothing is known to.
    private mutating func page(_ after: UInt64, _ origin: Origin) async throws(RelayError) -> Origin.Page? {
        if ahead == nil {
            switch origin.connection.live(after: after) {
            case .nothing: return nil
            case .events(let events):
                if let page = try origin.page(of: events, writer: machine.writer) { return page }
            case .ask: break
            }
        }
        let page = try await take(after, origin)
        if page.through < page.head, !page.messages.isEmpty { readAhead(page.through, origin) }
        return page
    }
    private mutating func lookAtChannel() async throws(RelayError) -> ChannelBounds {
        do throws(RelayError) { return try await connected().bounds() } catch {
            // Not the origin's, although its events are wanted.
            sink = nil
            machine.disconnected()
            throw error
        }
    }
    private mutating func take(_ after: UInt64, _ origin: Origin) async throws(RelayError) -> Origin.Page {
        guard let ahead, ahead.after == after else {
            self.ahead?.page.cancel()
            self.ahead = nil
            return try await origin.read(after: after, writer: machine.writer)
        }
        self.ahead = nil
        do {
            return try await withTaskCancellationHandler {
                try await ahead.page.value
            } onCancel: {
                ahead.page.cancel()
            }
        } catch { throw RelayError(asking: channel.service, error) }
    }
    /// While pages are appended, the next one is on its way.
    private mutating func readAhead(_ after: UInt64, _ origin: Origin) {
        let writer = machine.writer
        ahead = (
            after,
            Task(executorPreference: HandlerThreads.own) { try await origin.read(after: after, writer: writer) }
        )
    }

    // MARK: Appending

    private mutating func append(_ message: MirrorMessage, _ last: UInt64) async throws(RelayError) {
        let sink = try connected()
        if try await !sink.append(message.bytes, expecting: last) {
            machine.appended(nil)
            throw RelayError(
                .conflict, "the channel of \(channel) ends elsewhere than at #\(last): its end is looked up")
        }
    }
    private mutating func appendPage(_ events: ClosedRange<UInt64>, _ last: UInt64) async throws(RelayError) {
        guard let page = pages.first, page.header.events == events else {
            machine.originChanged()
            return
        }
        try await append(page, last)
        pages.removeFirst()
        machine.appended(last + 1)
        report { status in
            (status.position, status.epoch, status.number) = (events.upperBound, page.header.epoch, last + 1)
            if events.upperBound >= status.head { status.waitingSince = nil }
            status.events += UInt64(events.count)
            status.messages += 1
        }
    }
    private mutating func appendSnapshot(
        _ position: UInt64, _ table: RunTable, _ last: UInt64
    ) async throws(RelayError) {
        let origin = try attached()
        let snapshot: MirrorSnapshot
        do throws(RelayError) { snapshot = try await origin.snapshot(table) } catch {
            // The channel is as it was.
            forgetOrigin()
            machine.originChanged()
            throw error
        }
        let header = MirrorHeader.snapshot(
            at: position, epoch: origin.epoch, journal: origin.journal, writer: machine.writer)
        let parts = try snapshot.messages(header)
        for (index, part) in parts.enumerated() { try await append(part, last + UInt64(index)) }
        machine.appended(last + UInt64(parts.count))
        report { status in
            (status.position, status.epoch, status.number) = (position, origin.epoch, last + UInt64(parts.count))
            status.messages += UInt64(parts.count)
        }
    }
}
