import Synchronization

/// The ring stream: shared memory that has the events before the bus gets them.
extension PublishedStream {
    /// Lets a peer read, and be woken by its page as soon as that is settled. The first one who asks makes the ring; by one thread at
    /// a time.
    ///
    /// Returns the ring, which keeps the descriptor open also when the run ends just now.
    /// Throws `NotFound` for an interface that has none, `Unavailable` after the end of the run, and when there is no memory: that is
    /// tried again after a while, as it takes long to find out.
    func openRing(for peer: String, _ page: WaitPage, _ waker: RingWaker) throws(RelayError) -> RingWriter {
        guard let plan = ring else {
            throw RelayError(.notFound, "\(interface) has no ring: its events come as signals")
        }
        if let ring = attach(peer, page) { return ring }
        if let (error, due) = state.withLock({ $0.ringFailure }), MonotonicClock.now < due { throw error }
        let ring: RingWriter
        do throws(RelayError) {
            // Without the lock: a large one takes its time, and nobody who publishes should wait for that.
            ring = try RingWriter(
                "relay-ring", events: plan.events, capacity: plan.capacity, epoch: epoch, ringIndex: plan.ringIndex,
                waker: waker)
        } catch {
            let due = MonotonicClock.deadline(after: .seconds(10))
            state.withLock { $0.ringFailure = (error, due) }
            throw error
        }
        let isOpen = state.withLock { state in
            if state.hasEnded { return false }
            ring.begin(after: state.sequence)
            state.ring = ExportedRing(ring)
            return true
        }
        guard isOpen, let ring = attach(peer, page) else { throw ended }
        return ring
    }
    var hasRing: Bool { state.withLock { $0.ring != nil } }
    func hasReader(_ peer: String) -> Bool { state.withLock { $0.ring?.readers[peer] != nil } }
    private func attach(_ peer: String, _ page: WaitPage) -> RingWriter? {
        state.withLock { state in
            state.ring?.readers[peer] = page
            if page.isSettled { state.ring?.writer.attach(page) }
            return state.ring?.writer
        }
    }
    /// A peer's page has settled.
    func wakeReader(_ peer: String) {
        state.withLock { state in
            if let page = state.ring?.readers[peer] { state.ring?.writer.attach(page) }
        }
    }
    /// A peer does not read the ring, or has left: nobody wakes it, and its events come as signals again. Idempotent.
    func closeRing(for peer: String) {
        state.withLock { state in
            if let page = state.ring?.readers.removeValue(forKey: peer) { state.ring?.writer.detach(page) }
        }
    }

    /// Puts an event into the ring, if there is one, under the stream's lock. Returns the ring if somebody sleeps, to be woken when the
    /// lock is free, or before a signal is sent.
    @inline(__always)
    func putIntoRing(_ record: RingRecord, _ payload: UnsafeRawBufferPointer, _ state: borrowing State) -> RingWriter? {
        state.ring?.put(record, payload)
    }
    /// Throws `TooLarge` for what the ring could only tell the absence of, though nobody could read it elsewhere.
    func checkRing(_ count: Int, _ index: Int) throws(RelayError) {
        guard let ring, count > ring.largestPayload else { return }
        throw RelayError(
            .tooLarge,
            "\(interface).\(names[index]): \(count) bytes; \(ring.largestPayload) fit into a record of the ring, which is a "
                + "quarter of it, at most 1 MiB: give the interface a larger ringCapacity, or the event less")
    }

    // MARK: Without a signal

    /// Gives the event its place and puts it into the ring, while signals pause.
    ///
    /// Returns false when they do not, and nothing was done: they may have gone on since `arePaused` was looked at.
    /// Throws as `publish`.
    func publishPaused(_ index: Int, _ payload: UnsafeRawBufferPointer) throws -> Bool {
        let (isDone, sleepers) = try state.withLock { state -> (Bool, RingWriter?) in
            if state.hasEnded { throw ended }
            guard arePaused.load(ordering: .relaxed) else { return (false, nil) }
            let record = RingRecord(
                kind: index, sequence: state.sequence + 1, previous: state.last[index], publishedAt: .now)
            state.sequence = record.sequence
            state.last[index] = record.sequence
            return (true, putIntoRing(record, payload, state))
        }
        sleepers?.wakeSleepers()
        return isDone
    }
}
