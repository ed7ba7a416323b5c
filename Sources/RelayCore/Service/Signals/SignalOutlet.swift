import Synchronization
import RelayWire

/// The way through the bus: which of a stream's events are sent as signals, and what is announced in place of the
/// others.
struct SignalOutlet: Sendable {
    private let requirement: PeerRequirement
    private let timing: ServiceTiming.Signals
    private let headTemplate: MessageTemplate
    /// The signals' headers, by the events' numbers.
    private let templates: [MessageTemplate]

    /// Before it is connected, and after, events only count.
    var connection: BusConnection? { didSet { takesMessages = connection != nil } }
    private(set) var takesMessages = false
    private var backlog: BusBacklog?
    private var limiter: SignalRateLimiter
    private var audience = SignalAudience()

    /// Whether a tick is ordered that will announce the head.
    var hasTick = false
    private var announced: UInt64 = 0
    private var seenByTick: UInt64 = 0

    private var counted = OutletFigures()
    /// While signals pause: the last sequence before the pause.
    private var pausedAfter: UInt64?
    private(set) var pauses = 0
    /// Counts the looks at pauses: only the latest that was ordered counts.
    private var looks = 0
    /// The one that is ordered comes late, for an audience that is served elsewhere.
    private var isLookLate = false

    init(
        path: String, requirement: PeerRequirement, budget: SignalBudget, templates: [MessageTemplate],
        timing: ServiceTiming.Signals
    ) throws {
        (self.requirement, self.templates, self.timing) = (requirement, templates, timing)
        limiter = SignalRateLimiter(budget, timing)
        headTemplate = try MessageTemplate(
            path: path, interface: Stream1.name, member: "Head", signature: Signature(Stream1.headSignature))
    }

    /// From now on events go out there.
    ///
    /// - Parameters:
    ///   - isOwn: whether the bus lets in nobody but the service's user. Else a broadcast would reach peers that do not
    ///     meet the requirement.
    ///   - backlog: of the bus; nil for one within the process, which shares its queues with nobody: there is no budget
    ///     there.
    mutating func connect(_ connection: BusConnection, isOwn: Bool, _ backlog: BusBacklog?) {
        (self.connection, self.backlog) = (connection, backlog)
        if backlog == nil { limiter = SignalRateLimiter(.unlimited, timing) }
        audience = audience.reaching(everyone: requirement.isAnyone || isOwn && requirement.admitsSameUser)
    }
    var isRestricted: Bool { !audience.isEveryone }

    // MARK: Peers

    mutating func attach(_ peer: String, names: [String], in stream: PublishedStream) {
        if names.isEmpty { return audience.depart(peer) }
        audience.attach(peer)
        lookSooner(stream)
    }
    mutating func depart(_ peer: String) { audience.depart(peer) }
    /// The ring brings a peer its events from now on.
    mutating func handOver(_ peer: String) { audience.handOver(peer) }
    /// The ring no longer does.
    mutating func takeBack(_ peer: String, in stream: PublishedStream) {
        audience.takeBack(peer)
        lookSooner(stream)
    }

    // MARK: Events

    /// Sends the event, unless signals are paused, or pause here: then `Head` announces it.
    mutating func emit(_ index: Int, _ stamp: Stamp, _ message: inout EventMessage, in stream: PublishedStream) {
        guard let connection else { return }
        if message.isSendable {
            send(index, stamp.sequence, &message, on: connection, in: stream)
        } else if !limiter.isPaused {
            counted.tooLarge += 1
        }
        if !hasTick { orderTick(stamp.sequence, on: connection, in: stream) }
    }
    private mutating func send(
        _ index: Int, _ sequence: UInt64, _ message: inout EventMessage, on connection: BusConnection,
        in stream: PublishedStream
    ) {
        let count = audience.count
        if count == 0 || limiter.isPaused { return }
        guard limiter.admits(sequence, signals: count, now: MonotonicClock.now),
            backlog?.admits(message.count * count, messages: count) != false
        else { return pause(before: sequence, on: connection, in: stream) }
        counted.carried &+= 1
        // A connection that is gone ends the service's run; see `PublishedStream.publish`.
        if audience.isEveryone {
            try? connection.send(numbering: &message.writer)
            return
        }
        let body = message.body
        for peer in audience.listeners {
            var header = templates[index].header
            header.destination = peer
            try? connection.send(header, body: body)
        }
    }

    /// Announces in a while that the stream has come so far without an event.
    mutating func skipped(_ sequence: UInt64, in stream: PublishedStream) {
        guard let connection, !hasTick else { return }
        orderTick(sequence, on: connection, in: stream)
    }

    /// Sends a message beside the events, to those that get them from here, within their budget. Returns false where
    /// signals are paused, or pause here: then it is to be sent when they resume.
    ///
    /// - Parameters:
    ///   - sequence: of the event that it is about, which has left.
    ///   - compose: makes the message, if there is somebody to get it; nothing is sent of one that cannot be carried.
    mutating func send(
        beside sequence: UInt64, in stream: PublishedStream, _ compose: () throws -> (MessageHeader, [UInt8])
    ) -> Bool {
        guard let connection else { return true }
        let peers = audience.destinations
        if peers.isEmpty { return true }
        if limiter.isPaused { return false }
        guard let message = try? compose() else { return true }
        var header = message.0
        let body = message.1
        let count = (body.count + headTemplate.bodyStart) * peers.count
        guard limiter.admits(sequence + 1, signals: peers.count, now: MonotonicClock.now),
            backlog?.admits(count, messages: peers.count) != false
        else {
            pause(before: sequence + 1, on: connection, in: stream)
            return false
        }
        for peer in peers {
            header.destination = peer
            try? connection.send(header, body: body)
        }
        return true
    }

    // MARK: Pausing

    private mutating func pause(before sequence: UInt64, on connection: BusConnection, in stream: PublishedStream) {
        limiter.pause(before: sequence, now: MonotonicClock.now)
        (pausedAfter, pauses) = (sequence - 1, pauses + 1)
        stream.needsPayloadsOnly.store(true, ordering: .relaxed)
        orderLook(on: connection, after: timing.firstLook, in: stream)
    }
    private mutating func orderLook(
        on connection: BusConnection, after pace: Duration, isLate: Bool = false, in stream: PublishedStream
    ) {
        looks += 1
        isLookLate = isLate
        let look = looks
        connection.loop.schedule(after: pace) { [weak stream] in
            guard let stream else { return }
            stream.withSignals { $0.lookAtPause(look, stream, $1) }
            stream.resume()
        }
    }
    /// A peer may need a `Head` now, and the next look would be late for it.
    private mutating func lookSooner(_ stream: PublishedStream) {
        guard let connection, limiter.isPaused, isLookLate, !audience.isServedElsewhere else { return }
        orderLook(on: connection, after: timing.firstLook, in: stream)
    }
    private mutating func lookAtPause(_ look: Int, _ stream: PublishedStream, _ place: borrowing StreamPlace) {
        guard let connection, let backlog, look == looks else { return }
        // Before the first signal that follows, so that the omitted range is announced.
        if announced != place.sequence { announce(stream, place) }
        let now = MonotonicClock.now
        let (isHigh, pace) = backlog.look(now)
        if announced == place.sequence, limiter.tick(place.sequence, isPressed: isHigh, now: now) {
            endPause(place)
            stream.needsPayloadsOnly.store(false, ordering: .relaxed)
        } else {
            // A look, and the bus's work with its `Head`, take time from a processor that may have a reader of the ring.
            let isLate = audience.isServedElsewhere
            orderLook(on: connection, after: isLate ? max(pace, timing.late) : pace, isLate: isLate, in: stream)
        }
    }

    /// What was left out is known by its range, so that no event of a pause is counted.
    private mutating func endPause(_ place: borrowing StreamPlace) {
        (counted, pausedAfter) = (figures(at: place.sequence), nil)
    }

    // MARK: Head

    private mutating func orderTick(_ sequence: UInt64, on connection: BusConnection, in stream: PublishedStream) {
        hasTick = true
        seenByTick = sequence
        connection.loop.schedule(after: timing.quiet) { [weak stream] in
            guard let stream else { return }
            stream.withSignals { $0.tick(stream, $1) }
        }
    }
    /// After a quiet second following events: announces where the run stands.
    private mutating func tick(_ stream: PublishedStream, _ place: borrowing StreamPlace) {
        hasTick = false
        // While signals are paused, the pause's ticks announce.
        guard let connection, !limiter.isPaused else { return }
        if place.sequence != seenByTick {
            orderTick(place.sequence, on: connection, in: stream)
        } else if announced != place.sequence {
            announce(stream, place)
        }
    }
    mutating func announce(_ stream: PublishedStream, _ place: borrowing StreamPlace) {
        if send("Head", stream.head(place)) { announced = place.sequence }
    }
    /// While signals are paused a peer does not see what was published before the reply, but by this. One that gets
    /// the events elsewhere does.
    mutating func prepareReply(to peer: String, in stream: PublishedStream, at place: borrowing StreamPlace) {
        if limiter.isPaused && announced != place.sequence && !audience.isElsewhere(peer) {
            send("Head", stream.head(place), to: [peer])
        }
    }
    mutating func end(isKnown: Bool, in stream: PublishedStream, at place: borrowing StreamPlace) -> Bool {
        if connection == nil { return false }
        if isKnown { send("End", stream.head(place)) }
        disconnect(place)
        return true
    }
    /// Nothing leaves from now on, and nothing is counted.
    mutating func disconnect(_ place: borrowing StreamPlace) {
        endPause(place)
        connection = nil
    }
    /// Announces the interface's head to the peers that get its events from here, or to `some`; a run's end also to
    /// peers that get them elsewhere. Returns false if the bus holds too much even for that, which the last word
    /// ignores.
    @discardableResult private func send(_ member: String, _ head: StreamHead, to some: [String?]? = nil) -> Bool {
        guard let connection else { return false }
        var body = WireWriter()
        var header = headTemplate.header
        header.member = member
        // Neither the head nor its sending can fail but by a bus that is gone.
        try? Stream1.write(head, into: &body)
        let peers = some ?? (member == "Head" ? audience.destinations : audience.allDestinations)
        let count = (headTemplate.bodyStart + body.count) * peers.count
        let isAdmitted = backlog?.admitsHead(count, messages: peers.count) != false
        if !isAdmitted && member == "Head" { return false }
        for peer in peers {
            header.destination = peer
            try? connection.send(header, body: body.bytes)
        }
        return true
    }

    /// Tells peers that their attachment or their ring has ended, behind all events that they have.
    func sendReattach(to peers: Set<String>) {
        guard let connection else { return }
        var header = headTemplate.header
        (header.member, header.signature) = ("Reattach", .empty)
        for peer in peers {
            header.destination = peer
            try? connection.send(header)
        }
    }

    // MARK: Status

    var status: [(name: String, value: DBusValue)] { [("SignalsPaused", .boolean(limiter.isPaused))] }
    func figures(at head: UInt64) -> OutletFigures {
        var figures = counted
        if let pausedAfter { figures.heldBack += head - min(head, pausedAfter) }
        return figures
    }
}

extension PublishedStream {
    /// The signal outlet's own door, under the stream's lock.
    func withSignals<Result: Sendable>(
        _ body: (inout SignalOutlet, borrowing StreamPlace) throws -> Result
    ) rethrows -> Result {
        try state.withLock { state in try body(&state.outlets.signals, state.place) }
    }
    func connect(_ connection: BusConnection, isOwn: Bool, _ backlog: BusBacklog?) {
        withSignals { signals, _ in signals.connect(connection, isOwn: isOwn, backlog) }
    }
    func disconnect() { withSignals { $0.disconnect($1) } }
    /// Tells where the run stands, now that the name is the service's.
    func announce() { withSignals { $0.announce(self, $1) } }
    /// Whether not everybody on the bus may have the events.
    var isRestricted: Bool { withSignals { signals, _ in signals.isRestricted } }
}
