import Synchronization

/// Rings: asked for, read, and given up. Whoever reads holds the loop's turn: the ring thread, or the loop's own.
extension SessionController {
    /// How many records are read in one turn of the ring thread: the loop's thread waits no longer for its own.
    private static let batch = 256
    /// How long a ring is left alone for those who wait for their answer; and how much of it may fill up meanwhile.
    private static let parkingTime: UInt64 = 100_000_000
    private static let parkingPart: UInt64 = 2
    /// How long a wait page may take to be mapped and sealed.
    private static let pagePatience = Duration.seconds(5)
    /// How many threads owners may hold by the lock of a wait page.
    private static let mostPreparing = 4

    func perform(_ actions: [TransportChoice.Action], _ stream: FollowedStream) {
        for action in actions {
            switch action {
            case .openRing: openRing(stream)
            case .closeRing: closeRing(stream)
            case .updateRules: updateRules(stream)
            case .attach: for member in stream.members { sendAttach(member, stream) }
            case .attachAll:
                // Who reads hears of the head by its page.
                for member in stream.members where !member.machine.isReading {
                    run(member.machine.unanswered(), member, stream)
                }
            }
        }
        if actions.contains(.attach) { admitWaiting() }
    }

    // MARK: Opening

    private func openRing(_ stream: FollowedStream) {
        guard let connection = state.onLoop.connection, let owner = state.onLoop.owner else { return }
        stream.ringGeneration += 1
        guard connection.canPassDescriptors else { return perform(stream.transport.refused(), stream) }
        // Asked for before, so that it is known how to read what comes.
        askSchemas(stream)
        let generation = stream.ringGeneration
        let call = MethodCall(to: owner, path: stream.path, interface: Stream1.name, member: "OpenRing")
        connection.send(call, timeout: Self.answerTime) { [weak self] result in
            // Whatever becomes of it: until then the service counts it as unread, and gives this relay no other.
            if case .success(let reply) = result, let ring = reply.descriptors.first {
                RingReceipt.acknowledge(ring.number)
            }
            guard let self else { return }
            if stream.ringGeneration == generation { return opened(result, stream) }
            // Another question is under way, or a ring is read; else the owner takes it that this one is.
            let isUnused = stream.transport.phase == .unknown || stream.transport.phase == .signals
            if case .success = result, isUnused, !stream.transport.isRetrying { giveRingBack(stream) }
        }
    }
    private func opened(_ result: Result<BusReply, RelayError>, _ stream: FollowedStream) {
        let reply: BusReply
        do throws(RelayError) { reply = try result.get() } catch {
            switch error.code {
            case .timedOut:
                perform(stream.transport.unanswered(), stream)
                orderRetry(stream)
            // Whoever waits waits for the next owner.
            case .unavailable where state.onLoop.connection == nil: break
            default:
                perform(stream.transport.refused(), stream)
                // Too many others, or no memory: that passes.
                if error.code == .limitsExceeded || error.code == .unavailable { orderRetry(stream) }
            }
            return
        }
        do throws(RelayError) {
            guard reply.signature == "hh", reply.descriptors.count == 2 else {
                throw RelayError(.schemaMismatch, "\(service) answered OpenRing with '\(reply.signature)'")
            }
            let area = try RingArea(receiving: reply.descriptors[0].number)
            if rings.thread == nil {
                try preparePage(reply.descriptors[1])
                stream.awaitedRing = area
                orderGivingUp(stream)
            } else {
                stream.openedRing = area
                beginRing(stream)
            }
        } catch { giveUp(stream, error) }
    }
    /// Maps and seals the owner's wait page, on a thread of its own: the lock of the file is the owner's, too, who may hold it as long as
    /// it likes. Such a thread is lost until then; there are few.
    private func preparePage(_ page: ReceivedDescriptor) throws(RelayError) {
        let generation = state.onLoop.session.generation
        if rings.preparation == generation { return }
        guard rings.preparing < Self.mostPreparing else {
            throw RelayError(.unavailable, "\(service) and its former owners hold \(rings.preparing) wait pages")
        }
        do throws(SystemError) {
            try OwnThread.start("relay-page") { [weak self, loop] in
                let result = Result { () throws(RelayError) in
                    let waiter = try RingWaiter(receiving: page.number)
                    if !WaitPage.seal(page.number) { throw RingFault(.seals(.settled)).relayError() }
                    return waiter
                }
                loop.execute { [weak self] in self?.prepared(result, generation) }
            }
        } catch { throw RelayError(.unavailable, "no thread for a wait page: \(error)", cause: error) }
        rings.preparing += 1
        rings.preparation = generation
    }
    private func prepared(_ result: Result<RingWaiter, RelayError>, _ generation: Int) {
        rings.preparing -= 1
        guard state.onLoop.session.generation == generation, state.onLoop.owner != nil else { return }
        rings.preparation = nil
        if case .success(let waiter) = result {
            rings.thread = RingThread(waiter, loop) { [self] in readRings() }
        }
        for stream in state.onLoop.streamsInOrder {
            guard let area = stream.awaitedRing else { continue }
            stream.awaitedRing = nil
            switch result {
            case .success:
                stream.openedRing = area
                beginRing(stream)
            case .failure(let error): giveUp(stream, error)
            }
        }
    }
    private func orderGivingUp(_ stream: FollowedStream) {
        let generation = stream.ringGeneration
        loop.schedule(after: Self.pagePatience) { [weak self] in
            guard let self, stream.ringGeneration == generation, stream.awaitedRing != nil else { return }
            stream.awaitedRing = nil
            giveUp(stream, RelayError(.unavailable, "the wait page of \(service) could not be sealed in time"))
        }
    }
    /// A ring that was handed out, and cannot be read here.
    private func giveUp(_ stream: FollowedStream, _ error: RelayError) {
        // Before an `Attach`: from its answer on the owner reports and sends what it does to those without a ring.
        giveRingBack(stream)
        perform(stream.transport.unreadable(), stream)
        // No memory or no thread here: that passes.
        if error.code == .unavailable { orderRetry(stream) }
    }
    private func giveRingBack(_ stream: FollowedStream) {
        guard let connection = state.onLoop.connection, let owner = state.onLoop.owner else { return }
        let call = MessageHeader.methodCall(
            path: stream.path, interface: Stream1.name, member: "CloseRing", destination: owner,
            flags: [.noReplyExpected, .noAutoStart])
        // Fails with the connection only, and the owner sees that go.
        try? connection.send(call)
    }
    /// Signals go on; after a while the ring is asked for again.
    private func orderRetry(_ stream: FollowedStream) {
        guard stream.transport.phase == .signals else { return }
        let generation = stream.ringGeneration
        loop.schedule(after: stream.ringBackoff.delay()) { [weak self] in
            guard let self, stream.ringGeneration == generation else { return }
            perform(stream.transport.retry(), stream)
        }
    }
    /// Begins to read a ring that was opened, once it is known how.
    func beginRing(_ stream: FollowedStream) {
        guard let area = stream.openedRing, let schemas = stream.schemas, let thread = rings.thread else {
            return
        }
        stream.openedRing = nil
        let after = stream.members.compactMap { $0.machine.place(inRingOf: area.header.epoch) }.min()
        do throws(RelayError) {
            guard let kinds = try stream.kinds(area.header.events, schemas, sink) else {
                throw RelayError(.tooLarge, "\(stream.interface) has more events than a relay keeps apart")
            }
            let ring = FollowedRing(area, kinds: kinds, after: after)
            ring.watch.park(ring.capacity / Self.parkingPart)
            try thread.add(ring.watch)
            stream.ring = ring
            rings.streams.append(.passUnretained(stream))
            stream.ringBackoff.reset()
            perform(stream.transport.opened(), stream)
        } catch { giveUp(stream, error) }
    }
    private func closeRing(_ stream: FollowedStream) {
        guard let ring = stream.ring else { return }
        stream.ring = nil
        // A job comes behind this turn, in which the ring may be the one that is being read.
        loop.execute { withExtendedLifetime(ring) {} }
        rings.streams.removeAll { $0.toOpaque() == Unmanaged.passUnretained(stream).toOpaque() }
        rings.thread?.remove(ring.watch)
        giveRingBack(stream)
    }
    /// Nobody wants anything of a stream any more.
    func endTransportIfUnused(_ stream: FollowedStream) {
        guard stream.names?.isEmpty == true else { return }
        stream.ringGeneration += 1
        (stream.openedRing, stream.awaitedRing) = (nil, nil)
        for member in stream.members { member.waitingAttach = nil }
        perform(stream.transport.ended(), stream)
        admitWaiting()
    }
    func fault(_ fault: RingFault, _ stream: FollowedStream) {
        faults.add(1, ordering: .relaxed)
        perform(stream.transport.faulted(), stream)
    }

    // MARK: Reading

    /// In the ring thread's turn: some of what is new in each ring.
    private func readRings() {
        // By numbers: a copy of the list would be counted. Who follows one whose ring ends here has its turn the next time.
        var number = 0
        while number < rings.streams.count {
            rings.streams[number]._withUnsafeGuaranteedRef { readOrPark($0, most: Self.batch) }
            number += 1
        }
        if rings.holdsReplies { releaseReplies() }
    }
    /// Reads what is there, unless somebody waits for an answer: until then the ring itself holds what comes.
    func readOrPark(_ stream: FollowedStream, most limit: Int = .max) {
        stream.uncountedRing?._withUnsafeGuaranteedRef { readOrPark(stream, $0, most: limit) }
    }
    @inline(__always) private func readOrPark(_ stream: FollowedStream, _ ring: FollowedRing, most limit: Int) {
        if stream.awaitsAnswer {
            let now = MonotonicClock.now
            let since = ring.parkedAt ?? now
            ring.parkedAt = since
            let isPatient = now - since < Self.parkingTime && ring.reader.lag < ring.capacity / Self.parkingPart
            ring.watch.park(isPatient ? ring.capacity / Self.parkingPart : 0)
            if isPatient { return }
            // What is read before an answer that does not count it may find no room: that is asked about once more.
            for member in stream.members where member.machine.awaitsAnswer { member.machine.suspectLoss() }
        } else if ring.parkedAt != nil || ring.isFresh {
            (ring.parkedAt, ring.isFresh) = (nil, false)
            ring.watch.park(0)
        }
        read(stream, ring, most: limit)
    }
    /// Reads all that is there now, whoever waits for what: something else of the owner follows.
    func drain(_ stream: FollowedStream) { read(stream, most: .max) }
    func drainAll() { for stream in rings.streams { readOrPark(stream.takeUnretainedValue()) } }

    /// Reads up to the tail that is there now, at most so many records, none beyond a sequence.
    func read(_ stream: FollowedStream, through last: UInt64 = .max, most limit: Int) {
        if let ring = stream.ring { read(stream, ring, through: last, most: limit) }
    }
    @inline(__always)
    private func read(_ stream: FollowedStream, _ ring: FollowedRing, through last: UInt64 = .max, most limit: Int) {
        do throws(RingFault) { try step(stream, ring, through: last, most: limit) } catch {
            return fault(error, stream)
        }
        ring.watch.read(to: ring.reader.position)
        if ring.sequence > 0 { rings.thread?.report(ring.sequence, ringIndex: ring.number) }
    }
    private func step(_ stream: FollowedStream, _ ring: FollowedRing, through last: UInt64, most limit: Int)
        throws(RingFault)
    {
        if let (record, isTooLarge) = ring.waiting {
            if record.sequence > last { return }
            ring.waiting = nil
            take(record, isTooLarge: isTooLarge, ring, stream)
        }
        let tail = ring.reader.tail
        var (left, attempts) = (limit, 16)
        // One look at least: a tail that goes back is a fault.
        while ring.reader.position != tail || ring.reader.hasNews {
            switch try ring.reader.next() {
            case .record(let record):
                if record.sequence > last {
                    ring.waiting = (record, false)
                    return
                }
                take(record, isTooLarge: false, ring, stream)
            case .tooLarge(let record):
                if record.sequence > last {
                    ring.waiting = (record, true)
                    return
                }
                take(record, isTooLarge: true, ring, stream)
            case .lapped: suspectLoss(of: stream)
            case .absent: break  // The next record shows it.
            case .empty:
                // Known records were passed over, and there are more: whoever drains goes on. Or the writer is faster than the
                // reader, and nothing came yet behind what was lost.
                if ring.reader.wasLapped { suspectLoss(of: stream) } else if limit == .max { break }
                attempts -= 1
                // A drain ends at the tail, whatever it costs.
                if attempts <= 0 && limit == .max { try ring.reader.skip() }
            case .ended:
                ring.watch.readEnd()
                return
            }
            left -= 1
            let isThere = Int64(bitPattern: ring.reader.position &- tail) >= 0
            if isThere || left <= 0 || attempts <= 0 { return }
        }
    }
    @inline(__always)
    private func take(_ record: RingRecord, isTooLarge: Bool, _ ring: FollowedRing, _ stream: FollowedStream) {
        ring.sequence = record.sequence
        let kind = ring.kinds[record.kind]
        kind.event._withUnsafeGuaranteedRef { event in
            if isTooLarge { return skip(record, event.name, ring, stream) }
            let raw = RawEvent(kind.shape, payload: ring.reader.payload)
            let stamp = Stamp(
                epoch: ring.epoch, sequence: record.sequence, previous: record.previous,
                publishedAt: record.publishedAt)
            if stream.hasOthers {
                for member in stream.members { take(event, raw, stamp, member, stream) }
            } else if let epoch = stream.shared.machine.receiveNext(event.name, stamp.sequence, stamp.previous) {
                if event.isWanted { sink.event(event.token, raw, stamp: stamp.inEpoch(epoch)) }
            } else {
                take(event, raw, stamp, stream.shared, stream)
            }
        }
    }
    /// An event that the ring has no room for: its service keeps it, and tells here that it is there.
    private func skip(_ record: RingRecord, _ name: String, _ ring: FollowedRing, _ stream: FollowedStream) {
        for member in stream.members where member.machine.accounts(for: name) {
            let action = member.machine.head(
                epoch: ring.epoch, sequence: record.sequence, last: [name: record.sequence])
            run(action, member, stream)
        }
    }
    /// Of a single name the last event may be among those that were lost.
    func suspectLoss(of stream: FollowedStream) {
        for member in stream.members {
            member.machine.suspectLoss()
            orderTickIfNeeded(member, stream)
        }
    }
}
