import Synchronization

/// Replies with file descriptors: sent while their callers read them. Commands wait here for room, then rings.
final class DescriptorRoom: Sendable {
    private struct State {
        /// In their order.
        var waits: [Wait] = []
        var hasTimer = false
        var isStopping = false
        var serveRings: (@Sendable (_ reader: String?) -> Bool)?
    }
    /// A command whose reply has descriptors: it waits to run, or its reply to be sent.
    private struct Wait {
        let peer: String
        /// Those of the reply; nil: it has not run.
        let count: Int?
        let deadline: UInt64
        let completion: @Sendable (Grant) -> Void
    }
    private enum Grant: Sendable {
        /// With what the reply holds, if it is to be sent.
        case free(PeerLedger.Charge?)
        /// There was none in time: why.
        case full(String)
        /// The caller has left.
        case departed
    }
    private let state: LoopBound<State>
    private let service: String
    private let connection: LoopBound<BusConnection?>
    private let replies: ReplySender
    private let ledger: PeerLedger
    private let loop: BusLoop
    private let notices: NoticeReporter
    private let timing: ServiceTiming

    init(
        _ service: String, _ connection: LoopBound<BusConnection?>, _ replies: ReplySender, _ ledger: PeerLedger,
        _ loop: BusLoop, _ notices: NoticeReporter, _ timing: ServiceTiming
    ) {
        (self.service, self.connection, self.replies, self.ledger) = (service, connection, replies, ledger)
        (self.loop, self.notices, self.timing) = (loop, notices, timing)
        state = LoopBound(State(), on: loop)
        replies.onRead { [weak self] peer in self?.grant(readBy: peer) }
    }
    /// Waits until a command may run whose reply has descriptors. Returns why it must not; nil if it may.
    ///
    /// Not on the loop's thread, and in the place of the caller's commands, which run one at a time.
    func refusal(of call: IncomingCall) async -> (code: RelayError.Code, reason: String)? {
        if !call.wantsReply { return nil }
        if !call.connection.canTransferDescriptors {
            return (.unavailable, "this bus passes no file descriptors, as the reply of \(call.member) may have")
        }
        if case .full(let reason) = await room(for: call, count: nil, timing.descriptorCall) {
            return (.limitsExceeded, "\(reason); report what was read with \(Stream1.name).Received")
        }
        return nil
    }
    /// Sends a reply with descriptors when there is room. They are closed here in any case.
    func reply(
        to call: IncomingCall, _ command: AnyExportedCommand, body: [UInt8], _ descriptors: [ReceivedDescriptor]
    ) async {
        defer { for descriptor in descriptors { descriptor.close() } }
        if !call.wantsReply { return }
        switch await room(for: call, count: descriptors.count, timing.reply) {
        case .departed: break
        case .full(let reason):
            let text =
                "\(command.name) has run; its reply with \(descriptors.count) file descriptors was not sent: \(reason)"
            notices.report(.limitsExceeded, .warning, "\(call.sender): \(text)")
            replies.prepareReply(to: call.sender)
            replies.fail(call, .tooLarge, text)
        case .free(let charge):
            replies.prepareReply(to: call.sender)
            do throws(RelayError) {
                try replies.deliver(to: call, charge, bytes: body.count) { serial throws(RelayError) in
                    try call.connection.reply(
                        to: call, command.replySignature, body: body, descriptors: descriptors, serial: serial)
                }
            } catch {
                let text = "\(command.name) has run; its reply cannot be sent: \(error.message)"
                replies.fail(call, .internalFailure, text)
            }
        }
    }
    private func room(for call: IncomingCall, count: Int?, _ patience: Duration) async -> Grant {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                let wait = Wait(
                    peer: call.sender, count: count,
                    deadline: MonotonicClock.deadline(after: patience)
                ) { continuation.resume(returning: $0) }
                // Room is counted as soon as it is found: it is looked for once.
                if state.onLoop.isStopping { return wait.completion(room(for: wait) ?? full(wait)) }
                state.onLoop.waits.append(wait)
                grant()
            }
        }
    }

    // MARK: On the loop's thread

    private func full(_ wait: Wait) -> Grant { .full(refusal(of: wait)?.message ?? "\(service) is stopping") }
    private func refusal(of wait: Wait) -> PeerLedger.Refusal? {
        if !replies.unread.withLock({ $0.holds(.replyDescriptors, wait.peer) }) {
            return ledger.refusal(.replyDescriptors, wait.count ?? 1, for: wait.peer)
        }
        // One reply at a time, however few it has.
        let held = ledger.held(.replyDescriptors, of: wait.peer)
        return PeerLedger.Refusal(
            resource: .replyDescriptors, holder: .peer(wait.peer), held: held, more: wait.count ?? 1, bound: held)
    }
    /// Nil: there is none yet.
    private func room(for wait: Wait) -> Grant? {
        // Its departure was seen: what is counted for it now would be counted for ever.
        if !ledger.isPresent(wait.peer) { return .departed }
        if refusal(of: wait) != nil { return nil }
        guard let count = wait.count else { return .free(nil) }
        return (try? ledger.charge(.replyDescriptors, count, to: wait.peer)).map { .free($0) }
    }
    /// Lets those go on that may now, in their order, and those that have waited long enough.
    private func release() {
        if state.onLoop.waits.isEmpty { return }
        let now = MonotonicClock.now
        var left: [Wait] = []
        for wait in state.onLoop.waits {
            if let room = room(for: wait) {
                wait.completion(room)
            } else if wait.deadline <= now {
                wait.completion(full(wait))
            } else {
                left.append(wait)
            }
        }
        state.onLoop.waits = left
    }
    /// What hands out rings is called behind the commands, and returns whether none waits for one.
    func serveRings(_ serve: @escaping @Sendable (_ reader: String?) -> Bool) {
        loop.withTurn { state.onLoop.serveRings = serve }
    }
    /// Gives room to those that wait for it, commands first. While some still do, it is looked again and again: peers
    /// that report nothing are asked for at the bus.
    ///
    /// - Parameter reader: a peer that has read something; nil: others wait now.
    func grant(readBy reader: String? = nil) {
        release()
        if connection.onLoop == nil { return }
        let hasNoRings = state.onLoop.serveRings?(reader) ?? true
        if hasNoRings && state.onLoop.waits.isEmpty || state.onLoop.hasTimer { return }
        state.onLoop.hasTimer = true
        replies.askAboutDeliveries()
        loop.schedule(after: timing.roomLook) { [weak self] in
            guard let self else { return }
            state.onLoop.hasTimer = false
            grant()
        }
    }
    /// The end of the run: nobody waits for a peer any more.
    func stop() {
        state.onLoop.isStopping = true
        for wait in state.onLoop.waits { wait.completion(full(wait)) }
        state.onLoop.waits = []
    }
}
