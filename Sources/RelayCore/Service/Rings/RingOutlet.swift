import RelayWire

/// The way through shared memory, which has the events before the bus gets them.
struct RingOutlet: Sendable {
    /// What the ring will be; nil for an interface that has none.
    let plan: RingPlan?
    /// From the first peer that asked for it to the end of the run.
    private(set) var writer: RingWriter?
    /// The same, for publishers: without the two atomic counts that each copy of a reference costs.
    private var reference: Unmanaged<RingWriter>?
    /// Who has opened it.
    private(set) var readers: [String: WaitPage] = [:]
    /// Why there was no memory for one, and until when it is not tried again.
    var failure: (error: RelayError, until: UInt64)?

    /// The sequence before the ring's first event.
    private var base: UInt64 = 0
    /// Of the ring, once it has ended.
    private var finalFigures: OutletFigures?
    var requests = RingRequests()
    /// Peers that asked for it, and were refused for want of a place.
    var lacking: Set<String> = []
    /// What the rings before this one have carried.
    private var earlier = OutletFigures()
    /// Those that have it mapped, perhaps, and are no readers any more.
    private var formerReaders = FormerReaders()
    /// Until when a ring that cannot be handed out any more is not replaced again.
    private var keptUntil: UInt64 = 0

    /// Whoever breaks rings makes all their readers attach again, but no faster than this. In nanoseconds.
    private let replacementPace: UInt64
    /// How long it is not tried again.
    let memoryPause: Duration

    init(_ plan: RingPlan?, _ timing: ServiceTiming) {
        self.plan = plan
        (replacementPace, memoryPause) = (MonotonicClock.nanoseconds(timing.ringReplacement), timing.ringMemory)
    }

    /// Returns what is left to do when the lock is free, or before something that takes longer.
    // Mutating, as all that is called for each event: else the state's references might be copied, and counted.
    @inline(__always)
    mutating func emit(_ index: Int, _ stamp: Stamp, _ payload: UnsafeRawBufferPointer) -> AfterRecord {
        guard let reference else { return AfterRecord(nil) }
        // Kept by `writer`. Neither number, size nor sequence can be refused: they are the stream's.
        return reference._withUnsafeGuaranteedRef { $0.putExclusively(index, stamp, payload) }
    }
    var limit: PayloadLimit? { plan?.limit }

    /// Nothing follows.
    mutating func end(at place: borrowing StreamPlace) {
        finalFigures = figures(at: place.sequence)
        let ended = writer
        (writer, reference, readers) = (nil, nil, [:])
        // Its last event is in it: nothing is put there any more.
        ended?.end()
    }

    // MARK: Readers

    mutating func begin(_ ring: RingWriter, after sequence: UInt64) {
        ring.begin(after: sequence)
        (writer, reference, base) = (ring, .passUnretained(ring), sequence)
    }
    /// Lets a peer read. Returns nil as long as there is no ring.
    mutating func add(_ peer: String, _ page: WaitPage) -> RingWriter? {
        guard let writer else { return nil }
        if readers.updateValue(page, forKey: peer) == nil { requests.opened += 1 }
        lacking.remove(peer)
        formerReaders.remove(peer)
        if page.isSettled { writer.attach(page) }
        return writer
    }
    /// A peer's page has settled.
    func settle(_ peer: String) {
        if let page = readers[peer] { writer?.attach(page) }
    }
    /// A peer reads no more. Returns whether it did.
    ///
    /// - Parameter hasLeft: it is not on the bus any more.
    mutating func remove(_ peer: String, hasLeft: Bool = false) -> Bool {
        let page = readers.removeValue(forKey: peer)
        if let page { writer?.detach(page) }
        if writer != nil { formerReaders.add(peer, isReader: page != nil, hasLeft: hasLeft) }
        return page != nil
    }
    var hasDepartedReaders: Bool { formerReaders.haveSomeLeft }
    /// Whoever has the ring mapped could read on: it ends for all, if it is to end for one. The next request makes
    /// another one. Returns whom it served.
    mutating func withdraw(
        from peers: Set<String>, endsFormerReaders: Bool, at place: borrowing StreamPlace
    ) -> [String] {
        let isRead = peers.contains { readers[$0] != nil } || endsFormerReaders && !formerReaders.isEmpty
        guard isRead, let ended = writer else { return [] }
        let (figures, served) = (figures(at: place.sequence), Array(readers.keys))
        (writer, reference, readers, formerReaders, earlier) = (nil, nil, [:], FormerReaders(), figures)
        ended.end()
        return served
    }

    /// The ring cannot be handed out any more: it ends, and the next request makes another one. Returns who has read
    /// it; nil if it is not replaced now, as that was done a moment ago.
    mutating func replace(_ former: RingWriter, at place: borrowing StreamPlace, now: UInt64) -> [String]? {
        // Another request has replaced it.
        guard let ended = writer, ended === former else { return [] }
        if now < keptUntil { return nil }
        keptUntil = now + replacementPace
        let served = Array(readers.keys)
        earlier = figures(at: place.sequence)
        (writer, reference, readers, formerReaders) = (nil, nil, [:], FormerReaders())
        ended.end()
        return served
    }

    /// There is no memory for a record: the ring has ended, and none is made for a while. Returns who has read it.
    mutating func giveUp(_ former: RingWriter, _ error: RelayError, now: UInt64) -> [String] {
        guard let ended = writer, ended === former else { return [] }
        failure = (error, MonotonicClock.deadline(after: memoryPause, from: now))
        let served = Array(readers.keys)
        earlier = figures(at: former.sequenceExclusively)
        (writer, reference, readers, formerReaders) = (nil, nil, [:], FormerReaders())
        ended.end()
        return served
    }

    // MARK: Status

    var status: [(name: String, value: DBusValue)] {
        [
            ("RingCapacity", .uint64(UInt64(plan?.capacity ?? 0))), ("RingOpen", .boolean(writer != nil)),
            ("RingLacking", .uint64(UInt64(lacking.count))),
        ]
    }
    /// All events of a ring's time are in it, so that none need be counted.
    func figures(at head: UInt64) -> OutletFigures {
        if let finalFigures { return finalFigures }
        guard let writer else { return earlier }
        let (count, skipped) = (head - min(head, base), writer.skippedExclusively)
        return OutletFigures(
            carried: earlier.carried + count - min(count, skipped), tooLarge: earlier.tooLarge + skipped)
    }
    func progress(of peer: String) -> OutletProgress? {
        guard let page = readers[peer], let plan else { return nil }
        return OutletProgress("ring") { page.progress(ringIndex: plan.ringIndex) }
    }
}

/// Who had a ring, and may still have it mapped.
private struct FormerReaders {
    /// They are on the bus, so that it can be asked whether they may read.
    private var present: Set<String> = []
    private(set) var haveSomeLeft = false

    var isEmpty: Bool { present.isEmpty && !haveSomeLeft }

    /// It is a reader again.
    mutating func remove(_ peer: String) { present.remove(peer) }
    /// A reader has given its ring back; or a peer has left, which may have done so before.
    mutating func add(_ peer: String, isReader: Bool, hasLeft: Bool) {
        if hasLeft {
            if present.remove(peer) != nil || isReader { haveSomeLeft = true }
        } else if isReader {
            present.insert(peer)
        }
    }
}

/// What became of the rings that peers asked for.
struct RingRequests: Hashable, Sendable {
    var opened = 0
    var refused = 0
    var returned = 0
}

extension PublishedStream {
    /// The ring outlet's own door, under the stream's lock.
    func withRing<Result: Sendable>(_ body: (inout RingOutlet) throws -> Result) rethrows -> Result {
        try state.withLock { try body(&$0.outlets.ring) }
    }
    /// Lets a peer read, and be woken by its page as soon as that is settled. The first request makes the ring; by one
    /// thread at a time.
    ///
    /// Returns the ring, which keeps the descriptor open also when the run ends just now.
    /// Throws `NotFound` for an interface that has none, `Unavailable` after the end of the run, and when there is no
    /// memory: that is tried again after a while, as it takes long to find out.
    func openRing(
        for peer: String, _ page: WaitPage, _ waker: RingWaker, _ loop: BusLoop
    ) throws(RelayError) -> RingWriter {
        let (plan, failure) = withRing { ($0.plan, $0.failure) }
        guard let plan else {
            throw RelayError(.notFound, "\(interface) has no ring: its events come as signals")
        }
        if let ring = addReader(peer, page) { return ring }
        if let failure, MonotonicClock.now < failure.until { throw failure.error }
        let new: RingWriter
        do throws(RelayError) {
            // Without the lock: a large ring takes time to make, and publishers must not wait for that.
            new = try RingWriter(
                "relay-ring", events: plan.events, capacity: plan.capacity, epoch: epoch, ringIndex: plan.ringIndex,
                waker: waker,
                // On a publishing thread, which may have the lock.
                exhausted: { [weak self, loop] ring, error in
                    loop.execute { [weak self] in self?.giveUpRing(ring, error) }
                })
        } catch {
            let now = MonotonicClock.now
            withRing { $0.failure = (error, MonotonicClock.deadline(after: $0.memoryPause, from: now)) }
            throw error
        }
        state.withLock { state in
            if !state.hasEnded { state.outlets.ring.begin(new, after: state.place.sequence) }
        }
        guard let ring = addReader(peer, page) else { throw ended }
        return ring
    }
    /// A ring has ended since there is no memory for its records: its readers get the events as signals, and are to ask
    /// where they stand.
    func giveUpRing(_ ring: RingWriter, _ cause: SystemError) {
        let error = RelayError(.unavailable, "no memory for the ring of \(interface): \(cause)", cause: cause)
        state.withLock { state in
            let served = state.outlets.ring.giveUp(ring, error, now: MonotonicClock.now)
            for reader in served { state.outlets.signals.takeBack(reader, in: self) }
            state.outlets.signals.sendReattach(to: Set(served))
        }
    }
    /// Replaces a ring that cannot be handed out any more: its readers attach again. Returns false if that was done a
    /// moment ago.
    ///
    /// - Parameter peer: for whom it is done, and who gets the new one in its answer.
    func replaceRing(_ ring: RingWriter, for peer: String) -> Bool {
        state.withLock { state in
            let served = state.outlets.ring.replace(ring, at: state.place, now: MonotonicClock.now)
            guard let served else { return false }
            for reader in served { state.outlets.signals.takeBack(reader, in: self) }
            state.outlets.signals.sendReattach(to: Set(served).subtracting([peer]))
            return true
        }
    }
    /// The peer for which a ring was replaced does not get the new one: it is no reader. If it read the former one,
    /// which has ended, it attaches again as the others do.
    func giveUpReplacement(for peer: String, wasReading: Bool) {
        closeRing(for: peer)
        if wasReading { state.withLock { $0.outlets.signals.sendReattach(to: [peer]) } }
    }
    private func addReader(_ peer: String, _ page: WaitPage) -> RingWriter? {
        state.withLock { state in
            let ring = state.outlets.ring.add(peer, page)
            if ring != nil { state.outlets.signals.handOver(peer) }
            return ring
        }
    }
    var mayHaveRing: Bool { withRing { $0.plan != nil } }
    var hasRing: Bool { withRing { $0.writer != nil } }
    /// Whether a ring may be mapped by a former reader that is not on the bus any more.
    var hasDepartedReaders: Bool { withRing { $0.hasDepartedReaders } }
    func hasReader(_ peer: String) -> Bool { withRing { $0.readers[peer] != nil } }
    /// A peer's page has settled.
    func wakeReader(_ peer: String) { withRing { $0.settle(peer) } }
    /// A peer does not read the ring, or has left: nobody wakes it, and its events come as signals again. Idempotent.
    ///
    /// - Parameter isReturned: the peer has given it back itself.
    /// - Parameter hasLeft: the peer has left the bus.
    func closeRing(for peer: String, isReturned: Bool = false, hasLeft: Bool = false) {
        state.withLock { state in
            guard state.outlets.ring.remove(peer, hasLeft: hasLeft) else { return }
            if isReturned { state.outlets.ring.requests.returned += 1 }
            state.outlets.signals.takeBack(peer, in: self)
        }
    }
}
