/// The barriers under way: each waits for the service's word on how far its streams have come, then until they have
/// come that far here.
///
/// A barrier ends exactly once: when all has been delivered, or with what went wrong.
final class BarrierBroker: @unchecked Sendable {  // In a turn of the loop only.
    private var barriers: [Barrier] = []
    /// Some know how far they have to come. Looked at in every turn of a ring.
    @exclusivity(unchecked) private(set) var areMarked = false
    private var isAdvancing = false
    /// Why there can be none any more.
    private var failure: RelayError?

    // MARK: Beginning

    func begin(_ barrier: Barrier, _ session: SessionController) {
        if barrier.isOver { return }
        if let failure { return barrier.end(failure) }
        switch session.callRoute {
        case .inactive:
            barrier.end(
                RelayError(.unavailable, "the relay of \(session.service) is not active: call activate() first"))
        case .over: barrier.end(RelayError(.unavailable, "the relay of \(session.service) has ended"))
        case .cutOff: barrier.end(RelayError(.unavailable, "no barrier: the bus is gone"))
        case .nobody: barrier.end(RelayError(.unavailable, "no barrier: \(session.service) is not running"))
        case .wait, .owner: add(barrier, session)
        }
    }
    private func add(_ barrier: Barrier, _ session: SessionController) {
        barriers.append(barrier)
        barrier.timer = session.schedule(after: barrier.timeLeft) { [self] session in
            let text = "\(session.service) has published events that have not arrived within the barrier's time"
            end(barrier, RelayError(.timedOut, text), session)
        }
        if case .owner = session.callRoute { ask(barrier, session) }
    }
    /// The owner is known now, or that there is none.
    func admitWaiting(_ session: SessionController) {
        for barrier in barriers where !barrier.isAsked {
            switch session.callRoute {
            case .owner: ask(barrier, session)
            case .nobody:
                end(barrier, RelayError(.unavailable, "no barrier: \(session.service) is not running"), session)
            case .inactive, .over, .cutOff, .wait: break
            }
        }
    }
    private func ask(_ barrier: Barrier, _ session: SessionController) {
        barrier.isAsked = true
        let streams = session.streams.filter { stream in
            stream.names?.isEmpty != true && (barrier.interface ?? stream.interface) == stream.interface
        }
        // Nothing is subscribed to: nothing has to arrive.
        if streams.isEmpty { return end(barrier, nil, session) }
        barrier.unanswered = streams.count
        for stream in streams {
            session.ask("Barrier", at: stream.path, timeout: barrier.timeLeft) { [self] session, result in
                if let session { answered(result, barrier, stream, session) }
            }
        }
    }
    private func answered(
        _ result: Result<BusReply, RelayError>, _ barrier: Barrier, _ stream: StreamController,
        _ session: SessionController
    ) {
        if barrier.isOver { return }
        do throws(RelayError) {
            let head = try result.get().read(Stream1.headSignature) { try Stream1.readHead(&$0) }
            barrier.unanswered -= 1
            barrier.marks.append(BarrierMark(stream: stream, head: head))
            areMarked = true
            advance(session)
        } catch {
            end(barrier, RelayError(error.code, "no barrier: \(error.message)", cause: error), session)
        }
    }

    // MARK: Arriving

    /// Streams may have come further.
    func advance(_ session: SessionController) {
        // What a mark sets off may come back here.
        if !areMarked || isAdvancing { return }
        isAdvancing = true
        defer { isAdvancing = false }
        for barrier in barriers where !barrier.isOver {
            var left: [BarrierMark] = []
            for var mark in barrier.marks where !mark.hasPassed(session) { left.append(mark) }
            if barrier.isOver { continue }
            barrier.marks = left
            if left.isEmpty && barrier.isAsked && barrier.unanswered == 0 { end(barrier, nil, session) }
        }
        areMarked = barriers.contains { !$0.marks.isEmpty }
    }

    // MARK: The end

    func cancel(_ barrier: Barrier, _ session: SessionController) {
        end(barrier, RelayError(.cancelled, "the task was cancelled while it waited for a barrier"), session)
    }
    private func end(_ barrier: Barrier, _ error: RelayError?, _ session: SessionController) {
        barriers.removeAll { $0 === barrier }
        if let timer = barrier.timer { session.loop.cancel(timer: timer) }
        barrier.end(error)
    }
    /// The owner is gone: what it published last may never arrive.
    func interrupt(_ session: SessionController) {
        let error = RelayError(.unavailable, "\(session.service) went away before all of its events had arrived")
        for barrier in barriers where barrier.isAsked { end(barrier, error, session) }
        areMarked = false
    }
    /// There is no bus, or the relay has ended.
    func endAll(_ error: RelayError, isLast: Bool, _ session: SessionController) {
        if isLast { failure = error }
        for barrier in barriers { end(barrier, error, session) }
        areMarked = false
    }
}

/// One call of `EventRelay.barrier`.
final class Barrier: @unchecked Sendable {  // In a turn of the loop only.
    /// Nil: all that the relay follows.
    let interface: String?
    private let deadline: UInt64
    private var completion: (@Sendable (RelayError?) -> Void)?
    fileprivate var isAsked = false
    fileprivate var unanswered = 0
    fileprivate var marks: [BarrierMark] = []
    fileprivate var timer: UInt64?

    /// - Parameter completion: called once; without an error when all has been delivered.
    init(_ interface: String?, deadline: UInt64, _ completion: @escaping @Sendable (RelayError?) -> Void) {
        (self.interface, self.deadline, self.completion) = (interface, deadline, completion)
    }
    fileprivate var isOver: Bool { completion == nil }
    fileprivate var timeLeft: Duration {
        let now = MonotonicClock.now
        return .nanoseconds(Int64(clamping: deadline > now ? deadline - now : 0))
    }
    /// Also for one that has not begun.
    fileprivate func end(_ error: RelayError?) {
        let completion = completion
        (self.completion, marks) = (nil, [])
        completion?(error)
    }
}

/// How far one stream has to come.
private struct BarrierMark {
    let stream: StreamController
    let head: StreamHead
    /// The stream has received the head.
    var isHeard = false

    mutating func hasPassed(_ session: SessionController) -> Bool {
        if !isHeard { isHeard = stream.hear(head, session) }
        return isHeard && stream.isPast(head)
    }
}

extension SessionController {
    /// Waits until what was published has been delivered.
    func barrier(_ interface: String?, timeout: Duration) async throws(RelayError) {
        let barriers = calls.barriers
        let deadline = MonotonicClock.deadline(after: timeout)
        let pending = PendingBarrier()
        let error: RelayError? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let barrier = Barrier(interface, deadline: deadline) { continuation.resume(returning: $0) }
                loop.execute { [self] in
                    pending.barrier = barrier
                    if pending.isCancelled { barriers.cancel(barrier, self) } else { barriers.begin(barrier, self) }
                }
            }
        } onCancel: {
            loop.execute { [self] in
                pending.isCancelled = true
                if let barrier = pending.barrier { barriers.cancel(barrier, self) }
            }
        }
        if let error { throw error }
    }
}

/// Brings a cancelled task and its barrier together.
private final class PendingBarrier: @unchecked Sendable {  // In a turn of the loop only.
    var barrier: Barrier?
    var isCancelled = false
}
