import Synchronization

/// Commands on their way: sent to the owner, waiting until it is known, or answered and waiting for the events before
/// the answer.
///
/// - Isolation: in a turn of the loop, but for `call`, `begin` and `cancel`.
final class CallBroker: Sendable {
    private struct State {
        var waiting = WaitingCalls()
        /// In the order in which they came.
        var heldReplies: [HeldReply] = []
        /// The calls whose progress is listened to, by their serials.
        var progress: [UInt32: CallTicket] = [:]
        /// Those that were sent and are not answered, and the bytes of their arguments.
        var sent = (calls: 0, bytes: 0)
        var pace = CallPace()
        /// Why no call can be made any more.
        var failure: RelayError?

        /// Whether the service takes one more: past that it refuses calls of one peer. There is always room for the first.
        func hasRoom(for call: WaitingCall) -> Bool {
            let bytes = sent.bytes + call.call.body.count
            return sent.calls == 0 || sent.calls < CallBounds.calls && bytes <= CallBounds.bytes
        }
    }
    private let owner: ServiceOwner
    private let streams: FollowedStreams
    /// Any owner of the name may have a call.
    private let mayAskAnyone: Bool
    /// The bus may start the service.
    private let mayStart: Bool
    private let state: LoopBound<State>
    let barriers: BarrierBroker
    // The state in short, since it is looked at for every signal, and in every turn of a ring.
    private let listens = Atomic<Bool>(false)
    private let holds = Atomic<Bool>(false)

    private static let cancelled = RelayError(.cancelled, "the task was cancelled before its call was sent")

    init(_ owner: ServiceOwner, _ streams: FollowedStreams, mayAskAnyone: Bool, mayStart: Bool) {
        (self.owner, self.streams, self.mayAskAnyone, self.mayStart) = (owner, streams, mayAskAnyone, mayStart)
        state = LoopBound(State(), on: owner.loop)
        barriers = BarrierBroker(owner, streams)
    }
    /// There are replies that wait for events, or barriers.
    var holdsReplies: Bool { holds.load(ordering: .relaxed) || barriers.areMarked }
    /// There are calls whose progress is listened to.
    var awaitsProgress: Bool { listens.load(ordering: .relaxed) }
    /// No call waits, and no reply.
    var isIdle: Bool { state.onLoop.waiting.isEmpty && state.onLoop.heldReplies.isEmpty }

    // MARK: From any thread

    func call(_ call: MethodCall, timeout: Duration, isCancellable: Bool = false) async throws -> BusReply {
        let ticket = CallTicket(isCancellable: isCancellable)
        let result: Result<BusReply, RelayError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(call, timeout: timeout, ticket) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            cancel(ticket)
        }
        return try result.get()
    }
    /// Sends a call, or lets it wait. The completion comes once, on the loop's thread.
    func begin(
        _ call: MethodCall, timeout: Duration, _ ticket: CallTicket,
        completion: @escaping @Sendable (Result<BusReply, RelayError>) -> Void
    ) {
        let waiting = WaitingCall(
            call: call, deadline: MonotonicClock.deadline(after: timeout), ticket: ticket, completion: completion)
        owner.loop.executeSoon { [self] in
            // Behind those that wait for others' answers.
            if case .owner = owner.callRoute, !state.onLoop.waiting.isEmpty { return wait(waiting) }
            admit(waiting)
        } then: { [self] in
            awaitAnswer(ticket)
        }
    }
    func cancel(_ ticket: CallTicket) {
        owner.loop.execute { [self] in
            ticket.isCancelled = true
            // It has run: its answer is worth more than that it was cancelled.
            if release(ticket) { return }
            if let serial = ticket.serial {
                if ticket.isCancellable, !ticket.isAnswered { ticket.sendCancel() }
                ticket.connection?.cancel(serial)
            } else {
                drop(ticket, Self.cancelled)
            }
        }
    }

    /// Waits on the calling thread for an answer that comes soon, in its turn of the loop. Only where this is the only
    /// call: it is no time for others.
    private func awaitAnswer(_ ticket: CallTicket) {
        guard !ticket.isAnswered, state.onLoop.sent.calls == 1, let connection = ticket.connection,
            let patience = state.onLoop.pace.patience
        else { return }
        connection.serve(for: patience) { ticket.isAnswered }
    }

    // MARK: Admission

    /// Sends a call, or lets it wait until the owner is known.
    private func admit(_ call: WaitingCall) {
        if call.ticket.isCancelled { return call.end(Self.cancelled) }
        let title = call.call.title
        switch owner.callRoute {
        case .inactive:
            call.end(RelayError(.unavailable, "the relay of \(owner.service) is not active: call activate() first"))
        case .over: call.end(state.onLoop.failure ?? Self.cancelled)
        case .cutOff: call.end(RelayError(.unavailable, "\(title): the bus is gone"))
        case .wait: wait(call)
        case .owner(let name):
            // Code that subscribes and then calls sees the events of the call: its `Attach` goes first.
            if streams.areOpening { return wait(call) }
            // The service would refuse it.
            if !state.onLoop.hasRoom(for: call) { return wait(call) }
            // By the name where it may be: a service that has just given it up, being idle, is started again by that.
            send(call, to: mayAskAnyone && mayStart ? nil : name)
        case .nobody:
            if mayAskAnyone { return send(call, to: nil) }
            // Which peer the bus would start is not known yet: it is started first, and verified.
            guard mayStart else { return call.end(RelayError(.unavailable, "\(owner.service) is not running")) }
            wait(call)
            startService()
        }
    }
    /// Asks the bus to start the service. Not activatable is no failure: then it is waited for, but not by calls.
    func startService() {
        owner.start { [self] error in
            endWaiting(RelayError(.unavailable, "\(owner.service) is not running: \(error.message)", cause: error))
        }
    }
    /// - Parameter name: nil: the name's owner, which the bus may start.
    private func send(_ waiting: WaitingCall, to name: String?) {
        var call = waiting.call
        if let name { call.destination = name }
        call.flags.insert(.allowInteractiveAuthorization)
        if !mayStart { call.flags.insert(.noAutoStart) }
        guard let connection = owner.connection else { return wait(waiting) }
        owner.noteWaiting()
        let (ticket, bytes, begun) = (waiting.ticket, call.body.count, MonotonicClock.now)
        state.onLoop.sent.calls += 1
        state.onLoop.sent.bytes += bytes
        (ticket.call, ticket.connection) = (call, connection)
        ticket.serial = connection.send(call, timeout: waiting.timeLeft) { [self] result in
            endProgress(of: ticket)
            state.onLoop.sent.calls -= 1
            state.onLoop.sent.bytes -= bytes
            state.onLoop.pace.note(MonotonicClock.now &- begun)
            if ticket.isCancellable, case .failure(let error) = result, error.code == .timedOut { ticket.sendCancel() }
            ticket.isAnswered = true
            answered(result, waiting)
            admitNext()
        }
        // Sent are duplicates. The caller's own are closed now: it may wait for the end of a pipe.
        for descriptor in call.descriptors { descriptor.close() }
        if ticket.onProgress != nil, let serial = ticket.serial {
            state.onLoop.progress[serial] = ticket
            listens.store(true, ordering: .relaxed)
        }
    }
    private func endProgress(of ticket: CallTicket) {
        guard ticket.onProgress != nil, let serial = ticket.serial else { return }
        state.onLoop.progress[serial] = nil
        listens.store(!state.onLoop.progress.isEmpty, ordering: .relaxed)
    }
    /// The owner has sent progress. That of a call that has been answered is discarded.
    func progressed(_ message: borrowing ReceivedMessage) {
        guard message.hasSignature(Stream1.progressSignature) else { return }
        let (serial, signature, body) = message.withBody { body -> (UInt32, String, [UInt8]) in
            var reader = WireReader(body)
            guard let serial = try? reader.uint32(), state.onLoop.progress[serial] != nil,
                let signature = try? reader.signature(), (try? reader.align(8)) != nil
            else { return (0, "", []) }
            return (serial, signature.text, Array(body[reader.position...]))
        }
        if !signature.isEmpty, let ticket = state.onLoop.progress[serial] { ticket.onProgress?(signature, body) }
    }
    private func wait(_ call: WaitingCall) {
        if !state.onLoop.waiting.add(call) {
            return call.end(RelayError(.limitsExceeded, "\(call.call.title): too many calls wait for the bus"))
        }
        // The timer outlives the wait: it must not keep the call and its descriptors.
        owner.loop.schedule(after: call.timeLeft) { [self, weak ticket = call.ticket, title = call.call.title] in
            if let ticket { drop(ticket, RelayError(.timedOut, "\(title): \(whyWaiting)")) }
        }
    }
    private var whyWaiting: String {
        guard case .owner = owner.callRoute else { return "no bus in time" }
        return "it waited for \(state.onLoop.sent.calls) other calls of this relay, which were not answered in time"
    }
    /// One was answered: the first of those that wait for that goes.
    private func admitNext() {
        while case .owner = owner.callRoute, !streams.areOpening, let next = state.onLoop.waiting.first,
            state.onLoop.hasRoom(for: next)
        {
            state.onLoop.waiting.removeFirst()
            admit(next)
        }
    }
    func admitWaiting() {
        for call in state.onLoop.waiting.takeAll() { admit(call) }
        barriers.admitWaiting()
    }
    func endWaiting(_ error: RelayError) {
        for call in state.onLoop.waiting.takeAll() { call.end(error) }
    }
    private func drop(_ ticket: CallTicket, _ error: RelayError) { state.onLoop.waiting.take(ticket)?.end(error) }

    // MARK: Answers

    /// An answer comes behind the events that the service published before it: those in rings, and those that
    /// have to be read.
    private func answered(_ result: Result<BusReply, RelayError>, _ call: WaitingCall) {
        for stream in streams.all { stream.drainInlet() }
        let timeLeft = call.timeLeft
        guard Self.isFromService(result), streams.areCatchingUp, timeLeft > .zero, !call.ticket.isCancelled else {
            return call.completion(result)
        }
        let timer = owner.loop.schedule(after: timeLeft) { [self] in _ = release(call.ticket) }
        state.onLoop.heldReplies.append(HeldReply(call: call, result: result, timer: timer))
        holds.store(true, ordering: .relaxed)
    }
    private static func isFromService(_ result: Result<BusReply, RelayError>) -> Bool {
        switch result {
        case .success: true
        case .failure(let error): error.cause is RemoteError
        }
    }
    /// Completes the answers that waited, if nothing keeps them any more, and the barriers that have been reached.
    func releaseReplies() {
        barriers.advance()
        if !holds.load(ordering: .relaxed) || streams.areCatchingUp { return }
        for reply in takeReplies() {
            owner.loop.cancel(timer: reply.timer)
            reply.complete()
        }
    }
    private func takeReplies() -> [HeldReply] {
        holds.store(false, ordering: .relaxed)
        defer { state.onLoop.heldReplies = [] }
        return state.onLoop.heldReplies
    }
    /// This one waits no longer. False: it does not wait.
    private func release(_ ticket: CallTicket) -> Bool {
        guard let index = state.onLoop.heldReplies.firstIndex(where: { $0.call.ticket === ticket }) else {
            return false
        }
        let reply = state.onLoop.heldReplies.remove(at: index)
        owner.loop.cancel(timer: reply.timer)
        reply.complete()
        return true
    }

    // MARK: The end

    /// Nothing more comes: answers that waited for events are complete.
    func completeHeld() { for reply in takeReplies() { reply.complete() } }
    /// Later calls fail with this, too.
    func end(_ reason: RelayError) {
        state.onLoop.failure = reason
        endWaiting(reason)
    }
}
