import RelayCore

/// The in-process transport, as a relay has it.
final class InProcessTransport: DirectTransport {
    private let streams: InProcessStreams
    init(_ streams: InProcessStreams) { self.streams = streams }

    func inlet(of interface: String) -> any DirectInlet { InProcessInlet(interface, streams) }
    func forgetOwner() {}
}

/// The way into a relay out of the memory of its own process: reads the queue that the owner's outlet fills.
final class InProcessInlet: DirectInlet, @unchecked Sendable {  // In a turn of the loop only.
    private struct Open {
        let outlet: InProcessOutlet
        let queue: InProcessQueue
        /// The events and how their payloads are read, by the events' numbers.
        let kinds: [(event: StreamEvent, format: PayloadFormat)]
    }
    private let interface: String
    private let streams: InProcessStreams
    /// Waits for the schemas, without which nobody can read it.
    private var found: InProcessOutlet?
    private var reading: Open?
    private(set) var isParked = false

    init(_ interface: String, _ streams: InProcessStreams) { (self.interface, self.streams) = (interface, streams) }

    /// What it loses is seen when the next event comes.
    var reportsLoss: Bool { true }
    /// The run's last word, which comes as a signal.
    func rules(for names: NameScope, _ stream: StreamAddress) -> [MatchRule] {
        [MatchRule(sender: stream.service, path: stream.path, interface: Stream1.name, member: "End")]
    }
    var epoch: UInt64? { reading?.outlet.epoch }
    var isOpening: Bool { found != nil }

    // MARK: Opening and closing

    func open(_ stream: StreamController, _ session: SessionController) {
        guard let owner = session.owner else { return }
        guard let outlet = streams.outlet(of: interface, by: owner) else { return stream.inletRefused(session) }
        found = outlet
        stream.askSchemas(session)
        begin(stream, session)
    }
    func schemasArrived(_ stream: StreamController, _ session: SessionController) { begin(stream, session) }
    private func begin(_ stream: StreamController, _ session: SessionController) {
        guard let outlet = found, let schemas = stream.schemas, let peer = session.ownName else { return }
        found = nil
        var kinds: [(event: StreamEvent, format: PayloadFormat)] = []
        do throws(RelayError) {
            for entry in outlet.events {
                guard let event = stream.listedEvent(entry.name, session) else {
                    throw RelayError(.tooLarge, "\(interface) has more events than a relay keeps apart")
                }
                kinds.append((event, try PayloadFormat(entry, schemas, transport: .memory)))
            }
        } catch {
            return stream.inletUnreadable(session)
        }
        let queue = InProcessQueue { [weak stream, weak session] in
            session?.loop.execute { [weak stream, weak session] in
                if let stream, let session { stream.drainInlet(session) }
            }
        }
        outlet.add(queue, of: peer)
        reading = Open(outlet: outlet, queue: queue, kinds: kinds)
        stream.inletOpened(session)
    }
    func close(_ stream: StreamController, _ session: SessionController) {
        guard let reading else { return }
        reading.outlet.remove(reading.queue)
        (self.reading, isParked) = (nil, false)
    }
    func forget(isNewOwner: Bool) { found = nil }

    // MARK: Events

    func drainOrPark(most limit: Int, _ stream: StreamController, _ session: SessionController) {
        isParked = reading != nil && stream.awaitsAnswer
        // The answer comes: it is in this process. The queue has room for what is published meanwhile.
        if !isParked { drain(through: .max, stream, session) }
    }
    func drain(through last: UInt64, _ stream: StreamController, _ session: SessionController) {
        // Looked up each time: an event's handler may end what is read.
        while let reading {
            if reading.queue.takeLoss() { stream.suspectLoss(session) }
            guard let event = reading.queue.next(through: last) else { return }
            let kind = reading.kinds[event.place.index]
            let stamp = Stamp(
                epoch: reading.outlet.epoch, sequence: event.place.sequence, previous: event.place.previous,
                publishedAt: event.place.publishedAt)
            event.payload.withUnsafeBytes { payload in
                // Kept by `reading`, as the payload is by `event`.
                let raw = RawEvent(.passUnretained(kind.format), payload: payload)
                stream.receive(kind.event, raw, stamp, session)
            }
        }
    }
}

extension InProcessBus: DirectTransportSource {
    func makeTransport(to service: String) -> any DirectTransport { InProcessTransport(streams) }
}
