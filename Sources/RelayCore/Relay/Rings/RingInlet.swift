import Synchronization

/// The way through shared memory: one stream's ring. The ring thread reads it in a turn of the loop, or the loop's own
/// thread does. It holds the events of one run until it is drained. The owner puts an event there before it sends
/// anything that counts the event: `Head`, `End`, a reply.
///
/// The stream calls `open`. The answer comes later, in a turn, to the stream's `choose`. Once it is open it may call
/// `inletFaulted`. It gives each event to `receive`.
final class RingInlet: @unchecked Sendable {  // In a turn of the loop only.
    let transport: RingTransport
    let owner: ServiceOwner
    @exclusivity(unchecked) private(set) var ring: FollowedRing? {
        didSet { uncountedRing = ring.map { .passUnretained($0) } }
    }
    /// The same, not counted, since it is looked up for every event: `close` keeps it to the end of the turn.
    @exclusivity(unchecked) private(set) var uncountedRing: Unmanaged<FollowedRing>?
    private struct State {
        /// Counts the requests of `OpenRing`: only the latest answer counts.
        var generation = 0
        /// The latest was not answered yet, nor given up.
        var isAsking = false
        /// Counts the requests of `CloseRing`, alike.
        var closings = 0
        /// `CloseRing` was not answered yet: the owner may take this relay for a reader, and send it no signals.
        var isReturning = false
        /// A ring that waits until the owner's wait page is mapped and sealed.
        var awaited: RingArea?
        /// A ring that waits for the schemas, without which nobody can read it.
        var opened: RingArea?
        /// How long after a refusal of `OpenRing` it is asked for again; and after one for want of a place.
        var backoff: Backoff
        var placeBackoff: Backoff
    }
    private let state: LoopBound<State>

    /// Until its lag is that part of its capacity, a ring can be left alone.
    static let parkingPart: UInt64 = 2

    init(_ transport: RingTransport) {
        (self.transport, owner) = (transport, transport.owner)
        let state = State(
            backoff: Backoff(owner.timing.ring), placeBackoff: Backoff(owner.timing.ringPlace))
        self.state = LoopBound(state, on: owner.loop)
    }

    /// The run whose events it has; nil while it is not open.
    var epoch: UInt64? { ring?.epoch }
    /// The owner takes it for open, which it is not yet.
    var isOpening: Bool { state.onLoop.opened != nil || state.onLoop.awaited != nil }
    /// The owner has ended it: nothing more comes in it.
    var hasEnded: Bool { ring?.hasEnded == true }
    /// Its events were left alone, since an answer was due that decides which of them count.
    var isParked: Bool { ring?.parkedAt != nil }

    // MARK: Opening

    /// Asks the owner for it. An answer under way no longer counts.
    func open(_ stream: StreamController) {
        guard owner.isPresent else { return }
        state.onLoop.generation += 1
        (state.onLoop.opened, state.onLoop.awaited) = (nil, nil)
        guard transport.isUsed, owner.canPassDescriptors else { return stream.choose { $0.refused() } }
        // The ring and the wait page, and one more for what happens meanwhile.
        guard owner.hasRoom(forDescriptors: 3, "the ring of \(stream.interface)") else {
            stream.ringRefusal.withLock { $0 = "this process has no file descriptors left for the ring" }
            stream.choose { $0.refused() }
            return orderRetry(stream)
        }
        // Asked for before, so that it is known how to read what comes.
        stream.askSchemas()
        state.onLoop.isAsking = true
        let generation = state.onLoop.generation
        transport.open(at: stream.path) { [self] in
            state.onLoop.generation == generation && owner.isPresent
        } _: { [self] result in
            // A ring of an answer that no longer counts was given back.
            if state.onLoop.generation == generation { answered(result, stream) }
        }
    }
    private func answered(_ result: Result<BusReply, RelayError>, _ stream: StreamController) {
        state.onLoop.isAsking = false
        let reply: BusReply
        do throws(RelayError) { reply = try result.get() } catch {
            switch error.code {
            case .timedOut:
                stream.choose { $0.unanswered() }
                orderRetry(stream)
            // Calls that wait go to the next owner.
            case .unavailable where owner.connection == nil: break
            default:
                // Not repeated while this was under way, which it would have ended.
                if state.onLoop.isReturning { giveBack(stream, isRepeated: true) }
                stream.choose { $0.refused() }
                // There is none.
                if error.code == .notFound { break }
                stream.ringRefusal.withLock { $0 = error.message }
                // Others have all places; or no memory, and that passes.
                if error.code == .limitsExceeded { orderRetry(stream, isForPlace: true) }
                if error.code == .unavailable { orderRetry(stream) }
            }
            return
        }
        endReturning()
        do throws(RelayError) {
            guard reply.signature == "hh", reply.descriptors.count == 2 else {
                throw RelayError(.schemaMismatch, "\(owner.service) answered OpenRing with '\(reply.signature)'")
            }
            let area = try reply.descriptors[0].withNumber { number throws(RelayError) in
                try RingArea(receiving: number)
            }
            if transport.thread == nil {
                try transport.prepare(reply.descriptors[1], reportingTo: stream.observer)
                state.onLoop.awaited = area
                orderGivingUp(stream)
            } else {
                state.onLoop.opened = area
                begin(stream)
            }
        } catch { giveUp(stream, error) }
    }
    /// The owner's wait page is mapped and sealed, or will not be.
    func pagePrepared(_ result: Result<Void, RelayError>, _ stream: StreamController) {
        guard let area = state.onLoop.awaited else { return }
        state.onLoop.awaited = nil
        switch result {
        case .success:
            state.onLoop.opened = area
            begin(stream)
        case .failure(let error): giveUp(stream, error)
        }
    }
    private func orderGivingUp(_ stream: StreamController) {
        let generation = state.onLoop.generation
        owner.loop.schedule(after: owner.timing.page) { [self] in
            guard state.onLoop.generation == generation, state.onLoop.awaited != nil else { return }
            state.onLoop.awaited = nil
            let text = "the wait page of \(owner.service) could not be sealed in time"
            giveUp(stream, RelayError(.unavailable, text))
        }
    }
    /// A ring that was handed out, and cannot be read here.
    private func giveUp(_ stream: StreamController, _ error: RelayError) {
        stream.ringRefusal.withLock { $0 = error.message }
        stream.choose { $0.unreadable() }
        // No memory or no thread here: that passes.
        if error.code == .unavailable { orderRetry(stream) }
    }
    /// Signals go on; after a while the ring is asked for again.
    private func orderRetry(_ stream: StreamController, isForPlace: Bool = false) {
        guard stream.inlets.choice.phase == .signals else { return }
        let generation = state.onLoop.generation
        let delay = isForPlace ? state.onLoop.placeBackoff.spread() : state.onLoop.backoff.spread()
        owner.loop.schedule(after: delay) { [self] in
            if state.onLoop.generation == generation { stream.choose { $0.retry() } }
        }
    }
    /// It is known now which fields the owner's events have.
    func schemasArrived(_ stream: StreamController) { begin(stream) }
    /// Begins to read a ring that was opened, once it is known how.
    private func begin(_ stream: StreamController) {
        guard let area = state.onLoop.opened, let schemas = stream.schemas, let thread = transport.thread
        else { return }
        state.onLoop.opened = nil
        let after = stream.place(inRun: area.header.epoch)
        do throws(RelayError) {
            let kinds = try kinds(area.header.events, schemas, stream)
            let ring = FollowedRing(area, kinds: kinds, after: after)
            ring.watch.park(ring.capacity / Self.parkingPart)
            try thread.add(ring.watch)
            self.ring = ring
            transport.add(self, stream)
            resetBackoff()
            stream.ringRefusal.withLock { $0 = nil }
            stream.choose { $0.opened() }
        } catch { giveUp(stream, error) }
    }
    /// Throws for an event that nobody could read, and when there are too many of them.
    private func kinds(
        _ list: [RingEvent], _ schemas: StreamSchemas, _ stream: StreamController
    ) throws(RelayError) -> [(event: StreamEvent, format: EventFormat)] {
        var kinds: [(event: StreamEvent, format: EventFormat)] = []
        for entry in list {
            guard let event = stream.events.listed(entry.name, for: stream.members) else {
                throw RelayError(.tooLarge, "\(stream.interface) has more events than a relay keeps apart")
            }
            kinds.append((event, try EventFormat(entry, schemas)))
        }
        return kinds
    }

    // MARK: Closing

    /// Gives it back, also what the owner may have given without its answer having come.
    func close(_ stream: StreamController) {
        // Behind `OpenRing`, whatever becomes of that, and before an `Attach`: from its answer on the owner reports and
        // sends what it does to those without a ring.
        giveBack(stream)
        guard let ring else { return }
        self.ring = nil
        // A job comes behind this turn, in which the ring may be the one that is being read.
        owner.loop.execute { withExtendedLifetime(ring) {} }
        transport.remove(self)
        transport.thread?.remove(ring.watch)
    }
    /// An `OpenRing` that follows puts it off, and has another ring, or is refused.
    private func giveBack(_ stream: StreamController, isRepeated: Bool = false) {
        state.onLoop.isReturning = true
        state.onLoop.closings += 1
        let number = state.onLoop.closings
        owner.insist("CloseRing", at: stream.path, isRepeated: isRepeated) { [self] in
            state.onLoop.closings == number && !state.onLoop.isAsking
        } _: { [self] isRepeated in
            guard state.onLoop.closings == number else { return }
            endReturning()
            // Nothing was sent until now, and nothing that is sent from now on need show that.
            if isRepeated { stream.askWhereItStands() }
        }
    }
    private func endReturning() {
        state.onLoop.closings += 1
        state.onLoop.isReturning = false
    }
    /// An answer under way no longer counts, and what was given is not opened any more.
    ///
    /// - Parameter isNewOwner: the owner is gone; else nothing is wanted of it.
    func forget(_ stream: StreamController, isNewOwner: Bool) {
        state.onLoop.generation += 1
        stream.ringRefusal.withLock { $0 = nil }
        (state.onLoop.opened, state.onLoop.awaited) = (nil, nil)
        state.onLoop.isAsking = false
        guard isNewOwner else { return }
        resetBackoff()
        endReturning()
    }
    private func resetBackoff() {
        state.onLoop.backoff.reset()
        state.onLoop.placeBackoff.reset()
    }
}
