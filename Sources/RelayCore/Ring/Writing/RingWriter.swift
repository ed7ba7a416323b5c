import CRelayShims
import Synchronization

/// The writing end of a ring: any number of readers, none of which it waits for, or hears of.
///
/// - Order: records have the order of their sequences.
/// - Isolation: any thread. A publish makes no system call while nobody sleeps, and never waits for a reader.
/// - Loss: what a reader does not read before the capacity is written once more is overwritten; it learns which. A ring
///   that gets no memory for its records has ended.
package final class RingWriter: Sendable {
    /// A lock and a place beside each other: `withLock` takes nothing under its lock that the caller's memory was passed
    /// to.
    private let lock = PublishingLock(())
    nonisolated(unsafe) private let state: UnsafeMutablePointer<WriterState>  // Only under `lock`.
    private let sleepers: WakeGroup
    private let waker: RingWaker
    private let area: RingArea
    package let supply: RingSupply
    /// Called once when there is no memory for a record, on a publishing thread, which may have the caller's lock.
    private let exhausted: @Sendable (RingWriter, SystemError) -> Void
    private let hasReported = Atomic(false)

    /// To be handed to readers; open as long as the writer lives.
    package var descriptor: Int32 { area.memory.number }
    package var header: RingHeader { area.header }

    /// Makes a ring.
    ///
    /// - Parameters:
    ///   - name: for people who look into `/proc`.
    ///   - ringIndex: the ring's number among those of its service.
    ///   - base: the sequence before the first that will be published.
    ///   - exhausted: is called when there is no memory for a record: the ring has ended. On a publishing thread, once.
    ///   - source: for tests of that.
    ///   - waker: of the service; it wakes sleeping readers where that would take the publisher too long.
    /// Throws `.invalidArgument` for a capacity that is none, `.unavailable` when there is no memory.
    package init(
        _ name: String, events: [RingEvent], capacity: Int = RingLayout.defaultCapacity, epoch: UInt64,
        ringIndex: Int = 0, base: UInt64 = 0, waker: RingWaker,
        source: @escaping RingSupply.Source = { relay_supply($0, $1) },
        exhausted: @escaping @Sendable (RingWriter, SystemError) -> Void = { _, _ in }
    ) throws(RelayError) {
        let header = try RingHeader(
            epoch: epoch, ringIndex: ringIndex, base: base, capacity: capacity, events: events)
        let area = try RingArea(creating: name, header)
        (self.area, self.waker, sleepers, self.exhausted) = (area, waker, WakeGroup(waker), exhausted)
        let pen = RecordWriter(area, source: source)
        supply = pen.supply
        state = .allocate(capacity: 1)
        state.initialize(
            to: WriterState(
                pen: pen, sequence: base, last: [UInt64](repeating: 0, count: events.count),
                sizes: events.map { $0.rawSize ?? -1 }, maximumPayload: RingLayout.maximumPayload(capacity)))
    }
    deinit {
        end()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// The sequence before the first, when it was not known before the memory was there. Before any reader has the
    /// descriptor.
    package func begin(after sequence: UInt64) {
        lock.withLock { _ in state.pointee.begin(after: sequence) }
    }

    // MARK: Publishing

    /// Publishes the next event, whose sequence, predecessor and time are the ring's to give.
    ///
    /// Returns the sequence. Throws `.invalidArgument` for a number that is no event's or raw bytes of another size,
    /// `.unavailable` after the end. A payload that is too large leaves a skip record.
    @discardableResult
    package func publish(_ kind: Int, _ payload: UnsafeRawBufferPointer) throws(RelayError) -> UInt64 {
        // 0 is no sequence: the reason is found outside the lock, where it costs nobody.
        lock.take()
        let (sequence, isDue) = state.pointee.append(kind, payload)
        lock.release()
        if isDue { follow() }
        if sequence == 0 { throw refusal(kind, payload.count) }
        return sequence
    }
    /// Publishes an event that has its place already, as a committed one has.
    ///
    /// Throws what the other form throws, and `.invalidArgument` for a sequence that does not follow.
    package func publish(_ kind: Int, _ stamp: Stamp, _ payload: UnsafeRawBufferPointer) throws(RelayError) {
        lock.take()
        let (isPublished, isDue) = state.pointee.append(kind, stamp, payload)
        lock.release()
        if isDue { follow() }
        if !isPublished { throw refusal(kind, payload.count, stamp) }
    }
    /// Publishes for a caller whose own lock keeps everybody else off this ring: takes no lock, and leaves to its return
    /// value what may be a system call, to be done when that lock is free; nothing for what `publish` would refuse.
    @inline(__always)
    func putExclusively(_ kind: Int, _ stamp: Stamp, _ payload: UnsafeRawBufferPointer) -> AfterRecord {
        AfterRecord(state.pointee.append(kind, stamp, payload).1 ? self : nil)
    }
    /// How many events were too large for the ring. For the same caller.
    var skippedExclusively: UInt64 { state.pointee.skipped }
    /// The last one that is in it. For the same caller.
    var sequenceExclusively: UInt64 { state.pointee.sequence }
    /// Nothing follows: readers drain what there is, and leave. Idempotent.
    package func end() {
        lock.withLock { _ in state.pointee.end() }
        sleepers.wake()
    }

    // MARK: Sleepers

    /// From now on this peer is woken, whose page is settled. A page may serve several rings.
    package func attach(_ page: WaitPage) {
        guard sleepers.add(page) else { return }
        lock.withLock { _ in state.pointee.attach(page) }
        // It may have gone to sleep over a record that was published before.
        relay_fence_full()
        if page.isFlagged { waker.wake(page) }
    }
    package func detach(_ page: WaitPage) {
        // First the flag, whose memory the page keeps.
        lock.withLock { _ in state.pointee.detach(page) }
        sleepers.remove(page)
    }

    /// Behind a record: wakes who sleeps, and fetches memory for those that follow.
    fileprivate func follow() {
        sleepers.wake()
        supply.fetch()
        if let error = supply.error, !hasReported.exchange(true, ordering: .relaxed) { exhausted(self, error) }
    }

    private func refusal(_ kind: Int, _ count: Int, _ stamp: Stamp? = nil) -> RelayError {
        let (hasEnded, sequence) = lock.withLock { _ in (state.pointee.hasEnded, state.pointee.sequence) }
        if hasEnded {
            let reason = supply.error.map { ", without memory for more: \($0)" } ?? ""
            return RelayError(.unavailable, "the ring has ended\(reason): nothing can be published")
        }
        guard header.events.indices.contains(kind) else {
            return RelayError(.invalidArgument, "event number \(kind); the ring has \(header.events.count)")
        }
        let event = header.events[kind]
        if let size = event.rawSize, size != count {
            return RelayError(.invalidArgument, "\(event.name): \(count) bytes; its layout has \(size)")
        }
        return RelayError(
            .invalidArgument,
            "\(event.name): sequence \(stamp?.sequence ?? 0) after \(stamp?.previous ?? 0) does not follow \(sequence)"
        )
    }
}

/// What is left to do behind a record, or nothing: readers seem to sleep over it, or those that follow need memory.
struct AfterRecord {
    private let ring: RingWriter?
    @inline(__always) init(_ ring: RingWriter?) { self.ring = ring }
    @inline(__always) func run() { ring?.follow() }
}
