import Synchronization

/// Rings: asked for, read, and given up. Whoever reads holds the loop's turn: the ring thread, or the loop's own.
extension FollowerCore {
    /// How many records are read in one turn of the ring thread: the loop's thread waits no longer for its own.
    private static let batch = 256
    /// How long a ring is left alone for those who wait for their answer; and how much of it may fill up meanwhile.
    private static let parkingTime: UInt64 = 100_000_000
    private static let parkingPart: UInt64 = 2
    /// How long a wait page may take to be mapped and sealed.
    private static let pagePatience = Duration.seconds(5)
    /// How many threads owners may hold by the lock of a wait page.
    private static let mostPreparing = 4

    func perform(_ actions: [LaneTransport.Action], _ lane: FollowedLane) {
        for action in actions {
            switch action {
            case .openRing: openRing(lane)
            case .closeRing: closeRing(lane)
            case .updateRules: updateRules(lane)
            case .attach: for member in lane.members { sendAttach(member, lane) }
            case .attachAll:
                // Who reads hears of the head by its page.
                for member in lane.members where member.machine.phase != .reading {
                    run(member.machine.unanswered(), member, lane)
                }
            }
        }
        if actions.contains(.attach) { admitWaiting() }
    }

    // MARK: Opening

    private func openRing(_ lane: FollowedLane) {
        guard let connection = state.onLoop.connection, let owner = state.onLoop.owner else { return }
        lane.ringGeneration += 1
        guard connection.canPassDescriptors else { return perform(lane.transport.refused(), lane) }
        // Asked for before, so that it is known how to read what comes.
        askSchemas(lane)
        let generation = lane.ringGeneration
        let call = MethodCall(to: owner, path: lane.path, interface: Stream1.name, member: "OpenRing")
        connection.send(call, timeout: Self.answerTime) { [weak self] result in
            // Whatever becomes of it: until then the service counts it as unread, and gives this relay no other.
            if case .success(let reply) = result, let ring = reply.descriptors.first {
                RingReceipt.acknowledge(ring.number)
            }
            guard let self else { return }
            if lane.ringGeneration == generation { return opened(result, lane) }
            // Another question is under way, or a ring is read; else the owner takes it that this one is.
            let isUnused = lane.transport.phase == .unknown || lane.transport.phase == .signals
            if case .success = result, isUnused, !lane.transport.isRetrying { giveRingBack(lane) }
        }
    }
    private func opened(_ result: Result<BusReply, RelayError>, _ lane: FollowedLane) {
        let reply: BusReply
        do throws(RelayError) { reply = try result.get() } catch {
            switch error.code {
            case .timedOut:
                perform(lane.transport.unanswered(), lane)
                orderRetry(lane)
            // Whoever waits waits for the next owner.
            case .unavailable where state.onLoop.connection == nil: break
            default:
                perform(lane.transport.refused(), lane)
                // Too many others, or no memory: that passes.
                if error.code == .limitsExceeded || error.code == .unavailable { orderRetry(lane) }
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
                lane.awaitedRing = area
                orderGivingUp(lane)
            } else {
                lane.openedRing = area
                beginRing(lane)
            }
        } catch { giveUp(lane, error) }
    }
    /// Maps and seals the owner's wait page, on a thread of its own: the lock of the file is the owner's, too, who may hold it as long as
    /// it likes. Such a thread is lost until then; there are few.
    private func preparePage(_ page: ReceivedDescriptor) throws(RelayError) {
        let generation = state.onLoop.ownerGeneration
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
        guard state.onLoop.ownerGeneration == generation, state.onLoop.owner != nil else { return }
        rings.preparation = nil
        if case .success(let waiter) = result {
            rings.thread = RingThread(waiter, loop) { [self] in readRings() }
        }
        for lane in state.onLoop.lanesInOrder {
            guard let area = lane.awaitedRing else { continue }
            lane.awaitedRing = nil
            switch result {
            case .success:
                lane.openedRing = area
                beginRing(lane)
            case .failure(let error): giveUp(lane, error)
            }
        }
    }
    private func orderGivingUp(_ lane: FollowedLane) {
        let generation = lane.ringGeneration
        loop.schedule(after: Self.pagePatience) { [weak self] in
            guard let self, lane.ringGeneration == generation, lane.awaitedRing != nil else { return }
            lane.awaitedRing = nil
            giveUp(lane, RelayError(.unavailable, "the wait page of \(service) could not be sealed in time"))
        }
    }
    /// A ring that was handed out, and cannot be read here.
    private func giveUp(_ lane: FollowedLane, _ error: RelayError) {
        // Before an `Attach`: from its answer on the owner reports and sends what it does to those without a ring.
        giveRingBack(lane)
        perform(lane.transport.unreadable(), lane)
        // No memory or no thread here: that passes.
        if error.code == .unavailable { orderRetry(lane) }
    }
    private func giveRingBack(_ lane: FollowedLane) {
        guard let connection = state.onLoop.connection, let owner = state.onLoop.owner else { return }
        let call = MessageHeader.methodCall(
            path: lane.path, interface: Stream1.name, member: "CloseRing", destination: owner,
            flags: [.noReplyExpected, .noAutoStart])
        // Fails with the connection only, and the owner sees that go.
        try? connection.send(call)
    }
    /// Signals go on; after a while the ring is asked for again.
    private func orderRetry(_ lane: FollowedLane) {
        guard lane.transport.phase == .signals else { return }
        let generation = lane.ringGeneration
        loop.schedule(after: lane.ringBackoff.delay()) { [weak self] in
            guard let self, lane.ringGeneration == generation else { return }
            perform(lane.transport.retry(), lane)
        }
    }
    /// Begins to read a ring that was opened, once it is known how.
    func beginRing(_ lane: FollowedLane) {
        guard let area = lane.openedRing, let schemas = lane.schemas, let thread = rings.thread else {
            return
        }
        lane.openedRing = nil
        let after = lane.members.compactMap { $0.machine.place(inRingOf: area.header.epoch) }.min()
        do throws(RelayError) {
            guard let kinds = try lane.kinds(area.header.events, schemas, sink) else {
                throw RelayError(.tooLarge, "\(lane.interface) has more events than a relay keeps apart")
            }
            let ring = LaneRing(area, kinds: kinds, after: after)
            ring.watch.park(ring.capacity / Self.parkingPart)
            try thread.add(ring.watch)
            lane.ring = ring
            rings.lanes.append(.passUnretained(lane))
            lane.ringBackoff.reset()
            perform(lane.transport.opened(), lane)
        } catch { giveUp(lane, error) }
    }
    private func closeRing(_ lane: FollowedLane) {
        guard let ring = lane.ring else { return }
        lane.ring = nil
        // A job comes behind this turn, in which the ring may be the one that is being read.
        loop.execute { withExtendedLifetime(ring) {} }
        rings.lanes.removeAll { $0.toOpaque() == Unmanaged.passUnretained(lane).toOpaque() }
        rings.thread?.remove(ring.watch)
        giveRingBack(lane)
    }
    /// Nobody wants anything of a lane any more.
    func endTransportIfUnused(_ lane: FollowedLane) {
        guard lane.names?.isEmpty == true else { return }
        lane.ringGeneration += 1
        (lane.openedRing, lane.awaitedRing) = (nil, nil)
        for member in lane.members { member.waitingAttach = nil }
        perform(lane.transport.ended(), lane)
        admitWaiting()
    }
    func fault(_ fault: RingFault, _ lane: FollowedLane) {
        faults.add(1, ordering: .relaxed)
        perform(lane.transport.faulted(), lane)
    }

    // MARK: Reading

    /// In the ring thread's turn: some of what is new in each ring.
    private func readRings() {
        // By numbers: a copy of the list would be counted. Who follows one whose ring ends here has its turn the next time.
        var number = 0
        while number < rings.lanes.count {
            rings.lanes[number]._withUnsafeGuaranteedRef { readOrPark($0, most: Self.batch) }
            number += 1
        }
        if rings.holdsReplies { releaseReplies() }
    }
    /// Reads what is there, unless somebody waits for an answer: until then the ring itself holds what comes.
    func readOrPark(_ lane: FollowedLane, most limit: Int = .max) {
        lane.uncountedRing?._withUnsafeGuaranteedRef { readOrPark(lane, $0, most: limit) }
    }
    @inline(__always) private func readOrPark(_ lane: FollowedLane, _ ring: LaneRing, most limit: Int) {
        if lane.awaitsAnswer {
            let now = MonotonicClock.now
            let since = ring.parkedAt ?? now
            ring.parkedAt = since
            let isPatient = now - since < Self.parkingTime && ring.reader.lag < ring.capacity / Self.parkingPart
            ring.watch.park(isPatient ? ring.capacity / Self.parkingPart : 0)
            if isPatient { return }
            // What is read before an answer that does not count it may find no room: that is asked about once more.
            for member in lane.members where member.machine.awaitsAnswer { member.machine.suspectLoss() }
        } else if ring.parkedAt != nil || ring.isFresh {
            (ring.parkedAt, ring.isFresh) = (nil, false)
            ring.watch.park(0)
        }
        read(lane, ring, most: limit)
    }
    /// Reads all that is there now, whoever waits for what: something else of the owner follows.
    func drain(_ lane: FollowedLane) { read(lane, most: .max) }
    func drainAll() { for lane in rings.lanes { readOrPark(lane.takeUnretainedValue()) } }

    /// Reads up to the tail that is there now, at most so many records, none beyond a sequence.
    func read(_ lane: FollowedLane, through last: UInt64 = .max, most limit: Int) {
        if let ring = lane.ring { read(lane, ring, through: last, most: limit) }
    }
    @inline(__always)
    private func read(_ lane: FollowedLane, _ ring: LaneRing, through last: UInt64 = .max, most limit: Int) {
        do throws(RingFault) { try step(lane, ring, through: last, most: limit) } catch { return fault(error, lane) }
        ring.watch.read(to: ring.reader.position)
        if ring.sequence > 0 { rings.thread?.report(ring.sequence, lane: ring.number) }
    }
    private func step(_ lane: FollowedLane, _ ring: LaneRing, through last: UInt64, most limit: Int) throws(RingFault) {
        if let (record, isTooLarge) = ring.waiting {
            if record.sequence > last { return }
            ring.waiting = nil
            take(record, isTooLarge: isTooLarge, ring, lane)
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
                take(record, isTooLarge: false, ring, lane)
            case .tooLarge(let record):
                if record.sequence > last {
                    ring.waiting = (record, true)
                    return
                }
                take(record, isTooLarge: true, ring, lane)
            case .lapped: suspectLoss(of: lane)
            case .absent: break  // The next record shows it.
            case .empty:
                // Known records were passed over, and there are more: whoever drains goes on. Or the writer is faster than the
                // reader, and nothing came yet behind what was lost.
                if ring.reader.wasLapped { suspectLoss(of: lane) } else if limit == .max { break }
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
    private func take(_ record: RingRecord, isTooLarge: Bool, _ ring: LaneRing, _ lane: FollowedLane) {
        ring.sequence = record.sequence
        let kind = ring.kinds[record.kind]
        kind.event._withUnsafeGuaranteedRef { event in
            if isTooLarge { return skip(record, event.name, ring, lane) }
            let raw = RawEvent(kind.shape, payload: ring.reader.payload)
            let stamp = Stamp(
                epoch: ring.epoch, sequence: record.sequence, previous: record.previous,
                publishedAt: record.publishedAt)
            if lane.hasOthers {
                for member in lane.members { take(event, raw, stamp, member, lane) }
            } else if let epoch = lane.shared.machine.receiveNext(event.name, stamp.sequence, stamp.previous) {
                if event.isWanted { sink.event(event.token, raw, stamp: stamp.inEpoch(epoch)) }
            } else {
                take(event, raw, stamp, lane.shared, lane)
            }
        }
    }
    /// An event that the ring has no room for: its service keeps it, and tells here that it is there.
    private func skip(_ record: RingRecord, _ name: String, _ ring: LaneRing, _ lane: FollowedLane) {
        for member in lane.members
        where member.machine.phase != .attaching && member.machine.scope.includes(name) {
            let actions = member.machine.head(
                epoch: ring.epoch, sequence: record.sequence, last: [name: record.sequence])
            run(actions, member, lane)
        }
    }
    /// Of a single name the last event may be among those that were lost.
    func suspectLoss(of lane: FollowedLane) {
        for member in lane.members {
            member.machine.suspectLoss()
            orderTickIfNeeded(member, lane)
        }
    }
}
