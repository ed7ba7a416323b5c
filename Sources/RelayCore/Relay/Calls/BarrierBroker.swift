import Synchronization

/// The barriers under way: each waits for the service's word on how far its streams have come, then until they have
/// come that far here.
///
/// A barrier ends exactly once: when all has been delivered, or with what went wrong.
///
/// - Isolation: in a turn of the loop, but for `wait`.
final class BarrierBroker: Sendable {
    private struct State {
        var barriers: [Barrier] = []
        var isAdvancing = false
        /// Why there can be none any more.
        var failure: RelayError?
    }
    private let owner: ServiceOwner
    private let streams: FollowedStreams
    private let state: LoopBound<State>
    private let marked = Atomic<Bool>(false)

    init(_ owner: ServiceOwner, _ streams: FollowedStreams) {
        (self.owner, self.streams) = (owner, streams)
        state = LoopBound(State(), on: owner.loop)
    }
    /// Some know how far they have to come. Looked at in every turn of a ring.
    private(set) var areMarked: Bool {
        get { marked.load(ordering: .relaxed) }
        set { marked.store(newValue, ordering: .relaxed) }
    }

    // MARK: Beginning

    /// Waits until what was published has been delivered. On any thread.
    func wait(_ interface: String?, timeout: Duration) async throws(RelayError) {
        let barrier = Barrier(interface, deadline: MonotonicClock.deadline(after: timeout))
        let error: RelayError? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                owner.loop.execute { [self] in
                    barrier.completion = { continuation.resume(returning: $0) }
                    if barrier.isCancelled { cancel(barrier) } else { begin(barrier) }
                }
            }
        } onCancel: {
            owner.loop.execute { [self] in cancel(barrier) }
        }
        if let error { throw error }
    }
    private func begin(_ barrier: Barrier) {
        if let failure = state.onLoop.failure { return barrier.end(failure) }
        switch owner.callRoute {
        case .inactive:
            barrier.end(RelayError(.unavailable, "the relay of \(owner.service) is not active: call activate() first"))
        case .over: barrier.end(RelayError(.unavailable, "the relay of \(owner.service) has ended"))
        case .cutOff: barrier.end(RelayError(.unavailable, "no barrier: the bus is gone"))
        case .nobody: barrier.end(RelayError(.unavailable, "no barrier: \(owner.service) is not running"))
        case .wait, .owner: add(barrier)
        }
    }
    private func add(_ barrier: Barrier) {
        state.onLoop.barriers.append(barrier)
        barrier.timer = owner.loop.schedule(after: barrier.timeLeft) { [self] in
            let text = "\(owner.service) has published events that have not arrived within the barrier's time"
            end(barrier, RelayError(.timedOut, text))
        }
        if case .owner = owner.callRoute { ask(barrier) }
    }
    /// The owner is known now, or that there is none.
    func admitWaiting() {
        for barrier in state.onLoop.barriers where !barrier.isAsked {
            switch owner.callRoute {
            case .owner: ask(barrier)
            case .nobody: end(barrier, RelayError(.unavailable, "no barrier: \(owner.service) is not running"))
            case .inactive, .over, .cutOff, .wait: break
            }
        }
    }
    private func ask(_ barrier: Barrier) {
        barrier.isAsked = true
        let streams = streams.all.filter { stream in
            stream.names?.isEmpty != true && (barrier.interface ?? stream.interface) == stream.interface
        }
        // Nothing is subscribed to: nothing has to arrive.
        if streams.isEmpty { return end(barrier, nil) }
        barrier.unanswered = streams.count
        for stream in streams {
            owner.ask("Barrier", at: stream.path, timeout: barrier.timeLeft) { [self] result in
                answered(result, barrier, stream)
            }
        }
    }
    private func answered(_ result: Result<BusReply, RelayError>, _ barrier: Barrier, _ stream: StreamController) {
        if barrier.isOver { return }
        do throws(RelayError) {
            let head = try result.get().read(Stream1.headSignature) { try Stream1.readHead(&$0) }
            barrier.unanswered -= 1
            barrier.marks.append(BarrierMark(stream: stream, head: head))
            areMarked = true
            advance()
        } catch {
            end(barrier, RelayError(error.code, "no barrier: \(error.message)", cause: error))
        }
    }

    // MARK: Arriving

    /// Streams may have come further.
    func advance() {
        // What a mark sets off may come back here.
        if !areMarked || state.onLoop.isAdvancing { return }
        state.onLoop.isAdvancing = true
        defer { state.onLoop.isAdvancing = false }
        for barrier in state.onLoop.barriers where !barrier.isOver {
            var left: [BarrierMark] = []
            for var mark in barrier.marks where !mark.hasPassed() { left.append(mark) }
            if barrier.isOver { continue }
            barrier.marks = left
            if left.isEmpty && barrier.isAsked && barrier.unanswered == 0 { end(barrier, nil) }
        }
        areMarked = state.onLoop.barriers.contains { !$0.marks.isEmpty }
    }

    // MARK: The end

    private func cancel(_ barrier: Barrier) {
        barrier.isCancelled = true
        end(barrier, RelayError(.cancelled, "the task was cancelled while it waited for a barrier"))
    }
    private func end(_ barrier: Barrier, _ error: RelayError?) {
        state.onLoop.barriers.removeAll { $0 === barrier }
        if let timer = barrier.timer { owner.loop.cancel(timer: timer) }
        barrier.end(error)
    }
    /// The owner is gone: what it published last may never arrive.
    func interrupt() {
        let error = RelayError(.unavailable, "\(owner.service) went away before all of its events had arrived")
        for barrier in state.onLoop.barriers where barrier.isAsked { end(barrier, error) }
        areMarked = false
    }
    /// There is no bus, or the relay has ended.
    func endAll(_ error: RelayError, isLast: Bool) {
        if isLast { state.onLoop.failure = error }
        for barrier in state.onLoop.barriers { end(barrier, error) }
        areMarked = false
    }
}

/// One call of `EventRelay.barrier`.
final class Barrier: @unchecked Sendable {  // In a turn of the loop only.
    /// Nil: all that the relay follows.
    let interface: String?
    private let deadline: UInt64
    /// Called once; without an error when all has been delivered. Nil before it begins, and once it has ended.
    fileprivate var completion: (@Sendable (RelayError?) -> Void)?
    fileprivate var isCancelled = false
    fileprivate var isAsked = false
    fileprivate var unanswered = 0
    fileprivate var marks: [BarrierMark] = []
    fileprivate var timer: UInt64?

    init(_ interface: String?, deadline: UInt64) { (self.interface, self.deadline) = (interface, deadline) }
    fileprivate var isOver: Bool { completion == nil }
    fileprivate var timeLeft: Duration { MonotonicClock.left(until: deadline) }
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

    mutating func hasPassed() -> Bool {
        if !isHeard { isHeard = stream.hear(head) }
        return isHeard && stream.isPast(head)
    }
}
