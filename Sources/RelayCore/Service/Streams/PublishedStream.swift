import Synchronization

/// One interface's order: gives sequences, and emits in that order.
///
/// Invariant: what leaves under the lock leaves in sequence order, and every answer about the sequence is made under it too.
/// So the bus brings `Attach`'s answer, and `Head`, behind all events that they count.
final class PublishedStream: Sendable {
    /// Who gets the events.
    enum Audience: Sendable {
        /// Whoever asks the bus.
        case everyone
        /// Those who attached, and may: each gets a signal of its own.
        case attached(Set<String>)
    }
    struct State {
        /// The last that was given; of a durable interface, the last that was emitted.
        var sequence: UInt64 = 0
        /// The last sequence of each event, by its number.
        var last: [UInt64]
        var audience: Audience { didSet { updateListeners() } }
        /// Of an audience that attached: those who do not read the ring, and so get the events as signals.
        private(set) var listeners: [String] = []
        var connection: BusConnection?
        var pressure: BusBacklog?
        /// The last word was said: subscribers take it that nothing follows.
        var hasEnded = false
        /// Whether a tick is ordered that will announce the head.
        var hasTick = false
        var announced: UInt64 = 0
        var seenByTick: UInt64 = 0
        var gate: SignalRateLimiter

        /// Who attached, and for which names.
        var subscribers: [String: [String]] = [:]
        /// From the first peer that asked for it to the end of the run. Every use of it is made under this lock.
        var ring: ExportedRing? { didSet { updateListeners() } }
        /// Why there was no memory for one, and until when it is not tried again.
        var ringFailure: (error: RelayError, until: UInt64)?

        /// Of a durable interface only, as are the next two.
        var history: StreamHistory?
        /// The signals' headers, by the events' numbers.
        var templates: [MessageTemplate] = []
        /// The highest sequence that `Read` has accounted for.
        var handedOut: UInt64 = 0

        private mutating func updateListeners() {
            guard case .attached(let peers) = audience else { return }
            listeners = peers.filter { ring?.readers[$0] == nil }
        }
    }
    let interface: String
    let path: String
    let names: [String]
    /// What its ring will be, if it has one.
    let ring: RingPlan?
    /// This run's number.
    let epoch: UInt64
    private let requirement: PeerRequirement
    let state: Mutex<State>
    /// No signals for now: a hint for who does not hold the lock. Set under it, and cleared there by a tick only.
    let arePaused = Atomic<Bool>(false)
    let headTemplate: MessageTemplate

    init(
        _ interface: String, names: [String], requirement: PeerRequirement, budget: SignalBudget, ring: RingPlan?
    ) throws {
        (self.interface, self.names, path) = (interface, names, Stream1.path(of: interface))
        self.ring = ring
        self.requirement = requirement
        epoch = UInt64.random(in: 1...UInt64.max)
        state = Mutex(
            State(
                last: [UInt64](repeating: 0, count: names.count), audience: .attached([]),
                gate: SignalRateLimiter(budget)))
        headTemplate = try MessageTemplate(
            path: path, interface: Stream1.name, member: "Head", signature: Signature(Stream1.headSignature))
    }
    var isRestricted: Bool {
        state.withLock { if case .attached = $0.audience { true } else { false } }
    }
    var sequence: UInt64 { state.withLock { $0.sequence } }
    /// Where the run stands, and the oldest sequence that can be had.
    var extent: (head: UInt64, oldest: UInt64) {
        state.withLock { ($0.sequence, $0.history?.oldest(of: [Stream1.allNames]) ?? .max) }
    }

    /// From now on events go out there; before, and after `disconnect`, they only count.
    ///
    /// - Parameter isOwn: whether the bus lets in nobody but the service's user. Else a broadcast would reach peers that do
    ///   not meet the requirement.
    func connect(_ connection: BusConnection, isOwn: Bool, pressure: BusBacklog) {
        let isForAll = requirement.isAnyone || isOwn && requirement.admitsSameUser
        state.withLock { state in
            (state.connection, state.pressure) = (connection, pressure)
            state.audience = isForAll ? .everyone : .attached([])
        }
    }
    func disconnect() { state.withLock { $0.connection = nil } }
    /// Tells where the run stands, now that the name is the service's.
    func announce() { state.withLock { announce(&$0) } }

    // MARK: Publishing

    /// Gives the event its place and sends it. `encode` appends the fields.
    ///
    /// Of volatile interfaces only: a durable one's come by `emit`.
    ///
    /// Throws what `encode` throws, and `TooLarge`: the sequence is then as before. A bus that is gone is no error here: the
    /// event has its place, and subscribers will find it missing.
    ///
    /// - Parameter raw: what the ring gets instead of the fields.
    func publish(
        _ index: Int, _ template: MessageTemplate, raw: UnsafeRawBufferPointer? = nil,
        _ encode: (inout WireWriter) throws -> Void
    ) throws {
        var message = WireWriter(capacity: template.bodyStart + 256)
        template.begin(&message)
        // Before the lock: an `encode(to:)` is anybody's code, which may publish, or wait for somebody who does.
        try encode(&message)
        let fields = template.bodyStart..<message.count
        try checkRing(raw?.count ?? fields.count, index)
        try state.withLock { state in
            if state.hasEnded { throw ended }
            let sequence = state.sequence + 1
            let record = RingRecord(
                kind: index, sequence: sequence, previous: state.last[index], publishedAt: .now)
            message.uint64(record.sequence)
            message.uint64(record.previous)
            message.uint64(record.publishedAt.microseconds)
            try template.finish(&message, serial: state.connection?.nextSerial() ?? 1)
            state.sequence = sequence
            state.last[index] = sequence
            let sleepers = message.withUnsafeBytes { bytes in
                putIntoRing(record, raw ?? UnsafeRawBufferPointer(rebasing: bytes[fields]), state)
            }
            // Under the lock, unlike what has no signal: sending one takes longer, and they need not wait for that.
            sleepers?.wakeSleepers()
            if let connection = state.connection {
                send(message, template, on: connection, &state)
                if !state.hasTick { orderTick(connection, &state) }
            }
        }
    }
    var ended: RelayError {
        RelayError(.unavailable, "\(interface) has ended with its service's run: nothing can be published")
    }
    /// Says that nothing more comes of this run, unless that cannot be known, and sends nothing more.
    func end(isKnown: Bool = true) {
        let ring = state.withLock { state in
            // Without a bus nobody heard of it: they know that the end is unknown.
            if state.connection != nil {
                if isKnown { send(head: "End", &state) }
                (state.connection, state.hasEnded) = (nil, true)
            }
            defer { state.ring = nil }
            return state.ring
        }
        // Its last event is in it: nothing is put there any more.
        ring?.writer.end()
    }

    // MARK: Peers

    /// Answers `Attach`, in the place where the answer is true.
    ///
    /// - Parameter names: those of the request, as `ExportedInterface.kept` has them.
    func attach(_ peer: String, _ request: AttachRequest, names: [String], answer: (Attachment) -> Void) {
        state.withLock { state in
            if case .attached(var peers) = state.audience {
                if names.isEmpty { peers.remove(peer) } else { peers.insert(peer) }
                state.audience = .attached(peers)
            }
            state.note(peer, names)
            let head = state.sequence
            // Volatile: no other run is known, and nothing can be had again.
            var (from, oldest) = (request.epoch == epoch ? min(request.after, head) : 0, UInt64.max)
            var details = AttachOptions()
            if let history = state.history {
                from = history.from(
                    epoch: request.epoch, after: request.after, ancestry: request.options.runs,
                    head: max(head, state.handedOut))
                oldest = history.oldest(of: names)
                details.runs = history.recent
            }
            answer(
                Attachment(epoch: epoch, from: from, oldest: oldest, head: head, last: last(state), details: details))
        }
    }
    func depart(_ peer: String) {
        state.withLock { state in
            state.subscribers[peer] = nil
            guard case .attached(var peers) = state.audience, peers.remove(peer) != nil else { return }
            state.audience = .attached(peers)
        }
    }
}
