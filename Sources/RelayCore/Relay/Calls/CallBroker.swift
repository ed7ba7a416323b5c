/// Commands on their way: sent to the owner, waiting until it is known, or answered and waiting for the events before
/// the answer.
final class CallBroker: @unchecked Sendable {  // In a turn of the loop only.
    private var waiting = WaitingCalls()
    /// In the order in which they came.
    private var heldReplies: [HeldReply] = []
    let barriers = BarrierBroker()
    /// There are some, or barriers. Looked at in every turn of a ring.
    var holdsReplies: Bool { hasHeldReplies || barriers.areMarked }
    @exclusivity(unchecked) private var hasHeldReplies = false
    /// The calls whose progress is listened to, by their serials.
    private var progress: [UInt32: CallTicket] = [:]
    /// There are some. Looked at for every signal.
    @exclusivity(unchecked) private(set) var awaitsProgress = false
    /// Why no call can be made any more.
    private var failure: RelayError?

    private static let cancelled = RelayError(.cancelled, "the task was cancelled before its call was sent")

    /// No call waits, and no reply.
    var isIdle: Bool { waiting.isEmpty && heldReplies.isEmpty }

    // MARK: Admission

    /// Sends a call, or lets it wait until the owner is known.
    func admit(_ call: WaitingCall, _ session: SessionController) {
        if call.ticket.isCancelled { return call.end(Self.cancelled) }
        let title = call.call.title
        switch session.callRoute {
        case .inactive:
            call.end(RelayError(.unavailable, "the relay of \(session.service) is not active: call activate() first"))
        case .over: call.end(failure ?? Self.cancelled)
        case .cutOff: call.end(RelayError(.unavailable, "\(title): the bus is gone"))
        case .wait: wait(call, session)
        case .owner(let owner):
            // Code that subscribes and then calls sees the events of the call: its `Attach` goes first.
            if session.streams.contains(where: { $0.inlets.isOpening }) { return wait(call, session) }
            // By the name where it may be: a service that has just given it up, being idle, is started again by that.
            let isByName = session.requirement.isAnyone && session.activation.startsService
            send(call, to: isByName ? nil : owner, session)
        case .nobody:
            if session.requirement.isAnyone { return send(call, to: nil, session) }
            // Which peer the bus would start is not known yet: it is started first, and verified.
            guard session.activation.startsService else {
                return call.end(RelayError(.unavailable, "\(session.service) is not running"))
            }
            wait(call, session)
            session.startService()
        }
    }
    /// - Parameter owner: nil: the name's owner, which the bus may start.
    private func send(_ waiting: WaitingCall, to owner: String?, _ session: SessionController) {
        var call = waiting.call
        if let owner { call.destination = owner }
        call.flags.insert(.allowInteractiveAuthorization)
        if !session.activation.startsService { call.flags.insert(.noAutoStart) }
        let sent = call
        let isSent = session.send(call, waiting) { [self] session, result in
            endProgress(of: waiting.ticket)
            if waiting.ticket.isCancellable, case .failure(let error) = result, error.code == .timedOut {
                session?.sendCancel(sent, waiting.ticket)
            }
            waiting.ticket.isAnswered = true
            if let session { answered(result, waiting, session) } else { waiting.completion(result) }
        }
        if !isSent { return wait(waiting, session) }
        // Sent are duplicates. The caller's own are closed now: it may wait for the end of a pipe.
        for descriptor in sent.descriptors { descriptor.close() }
        waiting.ticket.call = sent
        if waiting.ticket.onProgress != nil, let serial = waiting.ticket.serial {
            progress[serial] = waiting.ticket
            awaitsProgress = true
        }
    }
    private func endProgress(of ticket: CallTicket) {
        guard ticket.onProgress != nil, let serial = ticket.serial else { return }
        progress[serial] = nil
        awaitsProgress = !progress.isEmpty
    }
    /// The owner has sent progress. That of a call that has been answered is discarded.
    func progressed(_ message: borrowing ReceivedMessage) {
        guard message.hasSignature(Stream1.progressSignature) else { return }
        let (serial, signature, body) = message.withBody { body -> (UInt32, String, [UInt8]) in
            var reader = WireReader(body)
            guard let serial = try? reader.uint32(), progress[serial] != nil, let signature = try? reader.signature(),
                (try? reader.align(8)) != nil
            else { return (0, "", []) }
            return (serial, signature.text, Array(body[reader.position...]))
        }
        if !signature.isEmpty { progress[serial]?.onProgress?(signature, body) }
    }
    private func wait(_ call: WaitingCall, _ session: SessionController) {
        if !waiting.add(call) {
            return call.end(RelayError(.limitsExceeded, "\(call.call.title): too many calls wait for the bus"))
        }
        // The timer outlives the wait: it must not keep the call and its descriptors.
        session.schedule(after: call.timeLeft) { [self, weak ticket = call.ticket, title = call.call.title] _ in
            if let ticket { drop(ticket, RelayError(.timedOut, "\(title): no bus in time")) }
        }
    }
    func admitWaiting(_ session: SessionController) {
        for call in waiting.takeAll() { admit(call, session) }
        barriers.admitWaiting(session)
    }
    func endWaiting(_ error: RelayError) {
        for call in waiting.takeAll() { call.end(error) }
    }
    private func drop(_ ticket: CallTicket, _ error: RelayError) { waiting.take(ticket)?.end(error) }

    // MARK: Answers

    /// An answer comes behind the events that the service published before it: those in rings, and those that
    /// have to be read.
    private func answered(
        _ result: Result<BusReply, RelayError>, _ call: WaitingCall, _ session: SessionController
    ) {
        for stream in session.streams { stream.drainInlet(session) }
        let timeLeft = call.timeLeft
        guard Self.isFromService(result), isCatchingUp(session), timeLeft > .zero, !call.ticket.isCancelled else {
            return call.completion(result)
        }
        let timer = session.schedule(after: timeLeft) { [self] session in _ = release(call.ticket, session) }
        heldReplies.append(HeldReply(call: call, result: result, timer: timer))
        hasHeldReplies = true
    }
    private static func isFromService(_ result: Result<BusReply, RelayError>) -> Bool {
        switch result {
        case .success: true
        case .failure(let error): error.cause is RemoteError
        }
    }
    private func isCatchingUp(_ session: SessionController) -> Bool { session.streams.contains { $0.isCatchingUp } }
    /// Completes the answers that waited, if nothing keeps them any more, and the barriers that have been reached.
    func releaseReplies(_ session: SessionController) {
        barriers.advance(session)
        if !hasHeldReplies || isCatchingUp(session) { return }
        for reply in takeReplies() {
            session.loop.cancel(timer: reply.timer)
            reply.complete()
        }
    }
    private func takeReplies() -> [HeldReply] {
        defer { (heldReplies, hasHeldReplies) = ([], false) }
        return heldReplies
    }
    /// This one waits no longer. False: it does not wait.
    private func release(_ ticket: CallTicket, _ session: SessionController) -> Bool {
        guard let index = heldReplies.firstIndex(where: { $0.call.ticket === ticket }) else { return false }
        let reply = heldReplies.remove(at: index)
        session.loop.cancel(timer: reply.timer)
        reply.complete()
        return true
    }

    // MARK: The end

    func cancel(_ ticket: CallTicket, _ session: SessionController) {
        ticket.isCancelled = true
        // It has run: its answer is worth more than that it was cancelled.
        if release(ticket, session) { return }
        if let serial = ticket.serial {
            if ticket.isCancellable, !ticket.isAnswered, let call = ticket.call { session.sendCancel(call, ticket) }
            ticket.connection?.cancel(serial)
        } else {
            drop(ticket, Self.cancelled)
        }
    }
    /// Nothing more comes: answers that waited for events are complete.
    func completeHeld() { for reply in takeReplies() { reply.complete() } }
    /// Later calls fail with this, too.
    func end(_ reason: RelayError) {
        failure = reason
        endWaiting(reason)
    }
}
