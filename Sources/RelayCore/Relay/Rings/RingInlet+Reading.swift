/// Reading: step by step, to the tail that is there or to a sequence.
extension RingInlet {
    /// Gives the stream what is there now, at most so many events. But while `stream.awaitsAnswer` they stay in the
    /// ring, within a bound of time and room.
    @inline(__always)
    func drainOrPark(most limit: Int, _ stream: StreamController) {
        uncountedRing?._withUnsafeGuaranteedRef { drainOrPark($0, most: limit, stream) }
    }
    @inline(__always)
    private func drainOrPark(_ ring: FollowedRing, most limit: Int, _ stream: StreamController) {
        if stream.awaitsAnswer {
            let now = MonotonicClock.now
            let since = ring.parkedAt ?? now
            ring.parkedAt = since
            let isPatient =
                now < MonotonicClock.deadline(after: owner.timing.parking, from: since)
                && ring.reader.lag < ring.capacity / Self.parkingPart
            ring.watch.park(isPatient ? ring.capacity / Self.parkingPart : 0)
            if isPatient { return }
            // What is read before an answer that does not count it may find no room: that is asked about once more.
            for member in stream.members where member.machine.awaitsAnswer { member.machine.suspectLoss() }
        } else if ring.parkedAt != nil || ring.isFresh {
            (ring.parkedAt, ring.isFresh) = (nil, false)
            ring.watch.park(0)
        }
        read(ring, through: .max, most: limit, stream)
    }
    /// Gives the stream all that is there now, none beyond a sequence.
    func drain(through last: UInt64, _ stream: StreamController) {
        if let ring { read(ring, through: last, most: .max, stream) }
    }
    /// Reads up to the tail that is there now, at most so many records, none beyond a sequence.
    @inline(__always)
    private func read(_ ring: FollowedRing, through last: UInt64, most limit: Int, _ stream: StreamController) {
        do throws(RingFault) { try step(ring, through: last, most: limit, stream) } catch {
            return stream.inletFaulted()
        }
        ring.watch.read(to: ring.reader.position)
        if ring.sequence > 0 { transport.thread?.report(ring.sequence, ringIndex: ring.number) }
    }
    private func step(
        _ ring: FollowedRing, through last: UInt64, most limit: Int, _ stream: StreamController
    ) throws(RingFault) {
        if let (kind, stamp, isTooLarge) = ring.waiting {
            if stamp.sequence > last { return }
            ring.waiting = nil
            take(kind, stamp, isTooLarge: isTooLarge, ring, stream)
        }
        let tail = try ring.reader.look()
        var (left, attempts, lastEmpty) = (limit, 16, ring.reader.position)
        // One look at least: a tail that goes back is a fault.
        while ring.reader.position != tail || ring.reader.hasNews {
            switch try ring.reader.next() {
            case .record(let kind, let stamp):
                if stamp.sequence > last {
                    ring.waiting = (kind, stamp, false)
                    return
                }
                take(kind, stamp, isTooLarge: false, ring, stream)
            case .tooLarge(let kind, let stamp):
                if stamp.sequence > last {
                    ring.waiting = (kind, stamp, true)
                    return
                }
                take(kind, stamp, isTooLarge: true, ring, stream)
            case .lapped:
                stream.counts.overruns.increment()
                stream.suspectLoss()
            case .absent: break  // The next record shows it.
            case .empty:
                // Known records were passed over, and there are more: a drain goes on. Or the writer is faster than the
                // reader, and nothing came yet behind what was lost.
                let hasMoved = ring.reader.position != lastEmpty
                lastEmpty = ring.reader.position
                if ring.reader.wasLapped {
                    stream.suspectLoss()
                } else if limit == .max && hasMoved {
                    break
                }
                attempts -= 1
                // A drain ends at the tail, whatever it costs.
                if attempts <= 0 && limit == .max { try ring.reader.skip() }
            case .ended:
                ring.watch.readEnd()
                ring.hasEnded = true
                orderReattach(ring, stream)
                return
            }
            left -= 1
            let isThere = Int64(bitPattern: ring.reader.position &- tail) >= 0
            if isThere || left <= 0 || attempts <= 0 { return }
        }
    }
    /// A ring ends with its run, or because another one replaces it. The owner announces both; but if the bus has lost
    /// its word, and nothing follows, only this shows it.
    private func orderReattach(_ ring: FollowedRing, _ stream: StreamController) {
        owner.loop.schedule(after: owner.timing.answer) { [self] in
            if self.ring === ring { stream.reattach() }
        }
    }
    @inline(__always)
    private func take(
        _ kind: Int, _ stamp: Stamp, isTooLarge: Bool, _ ring: FollowedRing, _ stream: StreamController
    ) {
        ring.sequence = stamp.sequence
        let kind = ring.kinds[kind]
        kind.event._withUnsafeGuaranteedRef { event in
            // The service keeps it.
            if isTooLarge { return stream.skip(event, stamp.sequence, in: ring.epoch) }
            stream.receive(event, RawEvent(stamp, kind.format, payload: ring.reader.payload))
        }
    }
}
