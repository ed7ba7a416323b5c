import Synchronization
import RelayWire

/// One interface's order: gives sequences, and emits in that order to the ring and as signals.
///
/// Invariant: what leaves under the lock leaves in sequence order, and every answer about the sequence is made under
/// it too. So the bus brings `Attach`'s answer, and `Head`, behind all events that they count.
package final class PublishedStream: Sendable {
    struct State {
        var place: StreamPlace
        var outlets: StreamOutlets
        /// `End` was sent: subscribers rely on it that nothing follows.
        var hasEnded = false
        /// Who attached, and for which names.
        var subscribers: [String: [String]] = [:]
        var refusals = CallRefusals()
        /// Of a durable interface only, as is the next one.
        var history: StreamHistory?
        /// The highest sequence that `Read` has accounted for.
        var handedOut: UInt64 = 0
    }
    let interface: String
    let path: String
    let names: [String]
    /// This run's number.
    let epoch: UInt64
    /// An event that does not fit is refused before it is published: it could not be had anywhere else.
    let limit: PayloadLimit?
    /// The headers of the events' messages, by the events' numbers.
    let templates: [MessageTemplate]
    let listener: (any EmissionListener)?
    /// Beside it, since every durable event passes here; and which events it follows.
    let hasListener: Bool
    let followed: [Bool]
    let state: PublishingLock<State>
    /// A test's time; nil: the machine's.
    let clock: ManualClock?
    /// Payloads are enough: no peer gets messages for now. A hint for code that does not hold the lock; changed under
    /// it, by the outlet that takes messages.
    let needsPayloadsOnly = Atomic<Bool>(false)

    init(
        _ interface: String, names: [String], templates: [MessageTemplate], _ outlets: StreamOutlets,
        following listener: (any EmissionListener)? = nil, of followed: Set<Int> = [],
        epoch: UInt64 = .random(in: 1...UInt64.max), clock: ManualClock? = nil
    ) {
        (self.interface, self.names, self.templates) = (interface, names, templates)
        (path, limit, self.listener) = (Stream1.path(of: interface), outlets.limit, listener)
        (hasListener, self.followed) = (!followed.isEmpty, names.indices.map { followed.contains($0) })
        (self.epoch, self.clock) = (epoch, clock)
        state = PublishingLock(State(place: StreamPlace(events: names.count), outlets: outlets))
    }
    var sequence: UInt64 { state.withLock { $0.place.sequence } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    /// Where the run stands, and the oldest sequence that can be had.
    var extent: (head: UInt64, oldest: UInt64) {
        state.withLock { ($0.place.sequence, $0.history?.oldest(of: [Stream1.allNames]) ?? .max) }
    }
    /// The same, for readers.
    func head(_ place: borrowing StreamPlace) -> StreamHead {
        StreamHead(epoch: epoch, sequence: place.sequence, last: last(place))
    }
    private func last(_ place: borrowing StreamPlace) -> [String: UInt64] {
        var last = place.former
        for (index, name) in names.enumerated() where place.last[index] > 0 { last[name] = place.last[index] }
        return last
    }

    // MARK: Publishing

    /// Gives the event its place and emits it.
    ///
    /// Of volatile interfaces only: a durable one's come by `emit`.
    ///
    /// Throws `TooLarge`, and `Unavailable` after the end: the sequence is then as before. A bus that is gone is no
    /// error here: the event has its place, and subscribers will find it missing.
    ///
    /// - Parameters:
    ///   - message: made before the lock: an `encode(to:)` is a user's code, which may publish, or wait for code that
    ///     does.
    ///   - value: its own bytes, where these are the payload.
    func publish(_ index: Int, _ message: inout EventMessage, value: UnsafeRawBufferPointer? = nil) throws {
        try check(value?.count ?? message.fields.count, index)
        try state.withLock { state in
            if state.hasEnded { throw ended }
            let stamp = next(index, state.place)
            emit(index, stamp, &message, value, &state)
            if isFollowed(index), let listener {
                message.withPayload(nil) { listener.emitted(index, stamp.sequence, $0) }
                listener.send(by: &state.outlets, of: self)
            }
        }
    }
    /// Publishes an event as a payload alone, while no outlet needs a message.
    ///
    /// Returns false when they are not, and nothing was done: that may have changed since `needsPayloadsOnly` was read.
    /// Throws `Unavailable` after the end.
    func publish(_ index: Int, _ payload: UnsafeRawBufferPointer) throws -> Bool {
        let rest = try state.withLock { state -> StreamOutlets.Rest? in
            if state.hasEnded { throw ended }
            guard needsPayloadsOnly.load(ordering: .relaxed) else { return nil }
            return emit(index, next(index, state.place), payload, &state)
        }
        rest?.run()
        return rest != nil
    }
    /// The same of fields in the wire encoding, whose number is not known before. Throws `TooLarge`, too.
    func publish(_ index: Int, fields: UnsafeRawBufferPointer) throws -> Bool {
        try check(fields.count, index)
        return try publish(index, fields)
    }
    /// What events are stamped with.
    private var now: Timestamp { clock?.timestamp ?? .now }
    /// The place of the next event of a volatile interface.
    @inline(__always) func next(_ index: Int, _ place: borrowing StreamPlace) -> Stamp {
        Stamp(epoch: epoch, sequence: place.sequence + 1, previous: place.last[index], publishedAt: now)
    }
    /// Puts an event into its place, and lets it out, as a payload alone. Returns what is left to do when the lock is
    /// free.
    @inline(__always)
    func emit(
        _ index: Int, _ stamp: Stamp, _ payload: UnsafeRawBufferPointer, _ state: inout State
    ) -> StreamOutlets.Rest {
        state.place.enter(stamp, of: index)
        return state.outlets.emit(index, stamp, payload)
    }
    /// The same with a message.
    @inline(__always)
    func emit(
        _ index: Int, _ stamp: Stamp, _ message: inout EventMessage, _ value: UnsafeRawBufferPointer?,
        _ state: inout State
    ) {
        state.place.enter(stamp, of: index)
        state.outlets.emit(index, stamp, &message, value, in: self)
    }
    /// Throws `TooLarge` for an event that an outlet could only skip, and that could not be had elsewhere.
    func check(_ count: Int, _ index: Int) throws(RelayError) {
        guard let limit, count > limit.bytes else { return }
        throw RelayError(.tooLarge, "\(interface).\(names[index]): \(count) bytes; \(limit.bytes) \(limit.reason)")
    }
    var ended: RelayError {
        RelayError(.unavailable, "\(interface) has ended with its service's run: nothing can be published")
    }
    /// Says that nothing more comes of this run, unless that cannot be known, and emits nothing more.
    func end(isKnown: Bool = true) {
        state.withLock { state in
            // Where nobody heard of it, they know that the end is unknown.
            if state.outlets.end(isKnown: isKnown, in: self, at: state.place) { state.hasEnded = true }
        }
    }

    // MARK: Peers

    /// Takes a peer in, and answers its `Attach` in the place where the answer is true.
    ///
    /// Returns what the log has to be asked before, if anything: then the peer is in, and `answer` is for later.
    ///
    /// - Parameter names: those of the request, as `ExportedInterface.kept` has them.
    func attach(
        _ peer: String, _ request: AttachRequest, names: [String], answer: (Attachment) -> Void
    ) -> RunQuestion? {
        state.withLock { state in
            state.outlets.attach(peer, names: names, in: self)
            state.note(peer, names)
            var common: CommonRun?
            if let history = state.history {
                let question = RunQuestion(
                    epoch: request.epoch, after: request.after, ancestry: request.options.runs)
                guard case .known(let known) = history.common(question) else { return question }
                common = known
            } else if request.epoch == epoch {
                // Volatile: no other run is known.
                common = CommonRun(limit: request.after, end: nil)
            }
            answer(attachment(common, names: names, &state))
            return nil
        }
    }
    /// Answers an `Attach` whose question the log has answered.
    func attach(_ common: CommonRun?, names: [String], answer: (Attachment) -> Void) {
        state.withLock { answer(attachment(common, names: names, &$0)) }
    }
    private func attachment(_ common: CommonRun?, names: [String], _ state: inout State) -> Attachment {
        let head = state.place.sequence
        // Of a volatile interface nothing can be had again.
        guard let history = state.history else {
            return Attachment(
                epoch: epoch, from: common?.from(head: head) ?? 0, oldest: .max, head: head, last: last(state.place))
        }
        let from = common?.from(head: max(head, state.handedOut)) ?? 0
        return Attachment(
            epoch: epoch, from: from, oldest: history.oldest(of: names), head: head, last: last(state.place),
            details: history.details(above: from))
    }
    /// Answers how far the stream has come, in the place where the answer is true.
    func withHead(_ answer: (StreamHead) -> Void) { state.withLock { answer(head($0.place)) } }
    func depart(_ peer: String) {
        state.withLock { state in
            state.subscribers[peer] = nil
            state.outlets.depart(peer)
        }
    }
    /// Detaches peers that may receive no more events, and notifies them. An outlet that cannot keep its events from
    /// one of them ends for all that it serves: these attach again, too.
    ///
    /// - Parameter endsFormerReaders: whether an outlet also ends for a former reader, which may still have its memory.
    func withdraw(_ peers: Set<String>, endsFormerReaders: Bool = false) {
        state.withLock { state in
            for peer in peers { state.subscribers[peer] = nil }
            state.outlets.withdraw(from: peers, endsFormerReaders: endsFormerReaders, in: self, at: state.place)
        }
    }
    /// A reply to a peer is about to leave: what was published before is to be seen before it.
    func prepareReply(to peer: String) {
        // Messages leave at once, and payloads are there when `publish` returns.
        if !needsPayloadsOnly.load(ordering: .relaxed) { return }
        state.withLock { state in
            if state.subscribers[peer] != nil {
                state.outlets.prepareReply(to: peer, in: self, at: state.place)
            }
        }
    }
}
