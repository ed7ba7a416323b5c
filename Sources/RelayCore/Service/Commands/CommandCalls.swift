import Synchronization
import RelayWire

/// Commands: through the gate into their peers' queues, from there to their handlers, and on to their replies.
final class CommandCalls: Sendable {
    let running: RunningCalls
    /// How commands ended.
    let answered = Mutex(CommandCounts())
    /// `End` was sent: nothing volatile can be published any more.
    let hasEndedStreams = Atomic<Bool>(false)
    private let service: String
    private let tree: ObjectTree
    private let queues: CommandQueues
    private let gate: CallGate
    private let directory: PeerDirectory
    private let replies: ReplySender
    private let room: DescriptorRoom
    private let ledger: PeerLedger

    init(
        _ service: String, _ tree: ObjectTree, _ queues: CommandQueues, _ gate: CallGate, _ directory: PeerDirectory,
        _ replies: ReplySender, _ room: DescriptorRoom, _ ledger: PeerLedger,
        _ handlers: HandlerThreads
    ) {
        running = RunningCalls(handlers)
        (self.service, self.tree, self.queues, self.gate) = (service, tree, queues, gate)
        (self.directory, self.replies, self.room, self.ledger) = (directory, replies, room, ledger)
    }
    func run(_ command: AnyExportedCommand, _ call: IncomingCall) {
        if call.signature != command.signature,
            let difference = SchemaDifference.text(of: call.signature, from: command.arguments)
        {
            let text = "\(command.name) takes \(SchemaDifference.text(command.arguments)); \(difference)"
            answered.withLock { $0.unreadable += 1 }
            return replies.fail(call, ErrorNames.invalidArgs, text)
        }
        let hold: PeerLedger.Charge?
        do throws(PeerLedger.Refusal) {
            let count = call.transferred.count
            hold = count == 0 ? nil : try ledger.charge(.callDescriptors, count, to: call.sender)
        } catch { return replies.refuse(call, .limitsExceeded, error.message) }
        if let peer = gate.caller(of: call, meeting: command.requirement) { return enqueue(command, call, peer, hold) }
        gate.admit(call, command.requirement, command.name, isCommand: true, holding: hold) { [weak self] credentials in
            self?.enqueue(command, call, Peer(call.sender, user: credentials?.userID), hold)
        }
    }
    private func enqueue(
        _ command: AnyExportedCommand, _ call: IncomingCall, _ peer: Peer, _ hold: PeerLedger.Charge?
    ) {
        if command.isCancellable { running.admit(call) }
        let isAdmitted = enqueue(call, .command(command, peer, holding: hold))
        if command.isCancellable && !isAdmitted { running.remove(call) }
    }
    /// `Cancel`: of the caller's own calls only; whether there is one is nobody's business.
    func cancel(_ call: IncomingCall) {
        if let serial = call.read({ try $0.uint32() }) {
            gate.cancel(serial, of: call.sender)
            running.cancel(serial, of: call.sender)
        }
        replies.reply(to: call)
    }
    /// Runs what answers a call that anybody may make, after the peer's earlier calls, whose queue bounds how much a
    /// peer can ask for. It counts for its caller's user, who is looked up for that.
    func enqueueForUser(_ call: IncomingCall, _ job: @escaping @Sendable () async -> Void) {
        directory.credentials(of: call) { [weak self] result in
            guard let self else { return }
            // Not known: the caller has left, or the bus is slow. All such calls count as one user's.
            if case .failure(let error) = result, error.code != .unavailable {
                return replies.refuse(call, error.code, error.message)
            }
            enqueue(call, .answer(job))
        }
    }
    /// Serves a call after the peer's earlier calls; or refuses it, and returns false.
    @discardableResult private func enqueue(_ call: IncomingCall, _ work: QueuedWork) -> Bool {
        switch queues.add(call, work) {
        case .admitted: return true
        case .full(let reason): replies.refuse(call, .limitsExceeded, reason)
        case .closed: refuseStopping(call)
        }
        return false
    }
    func serve(_ call: IncomingCall, _ work: QueuedWork) async {
        switch work {
        case .command(let command, let peer, let hold):
            await answer(command, call, peer)
            withExtendedLifetime(hold) {}
        case .answer(let body): await body()
        }
    }
    func refuseStopping(_ call: IncomingCall) {
        replies.fail(call, .unavailable, "\(service) is stopping")
    }
    /// Whether it came while the service ended, and its interface is volatile: what its handler publishes would be lost.
    private func isTooLate(_ call: IncomingCall) -> Bool {
        guard hasEndedStreams.load(ordering: .acquiring), let interface = tree.interface(at: call.path) else {
            return false
        }
        return interface.log == nil
    }
    private func answer(_ command: AnyExportedCommand, _ call: IncomingCall, _ peer: Peer) async {
        if isTooLate(call) { return refuseStopping(call) }
        if command.returnsDescriptors, let (code, reason) = await room.refusal(of: call) {
            if command.isCancellable { running.remove(call) }
            return replies.refuse(call, code, reason)
        }
        var context = CommandContext(of: peer)
        if command.takesDescriptors { context.descriptors = call.transferred }
        if command.reportsProgress && call.wantsReply {
            context.outlet = ProgressOutlet(call, at: tree.interface(at: call.path)?.path ?? call.path, replies)
        }
        let begun = MonotonicClock.now
        let result: AnyExportedCommand.Answer
        if command.isCancellable {
            result = await running.run(call) { [context] in await command.answer(call.body, context) }
        } else {
            result = await command.answer(call.body, context)
        }
        context.outlet?.finish()
        let duration = MonotonicClock.now &- begun
        command.length.note(duration)
        answered.withLock { $0.count(result, after: duration) }
        let (body, descriptors): ([UInt8], [ReceivedDescriptor])
        switch result {
        case .reply(let reply, let sent): (body, descriptors) = (reply, sent)
        case .error(let name, let message): return fail(call, name, message)
        case .failed(let code, let message, let cause):
            replies.report(
                .commandFailed,
                "\(call.member) of \(call.sender) failed in the service: \(RelayError.kinds(of: cause))",
                of: call, code, cause: cause)
            return fail(call, ErrorNames.name(for: code), message)
        case .unreadable(let message):
            return fail(call, ErrorNames.name(for: .invalidArgument), message)
        }
        guard await replies.hasRoom(for: call, bytes: body.count) else {
            let text =
                "\(command.name) has run; its reply of \(body.count) bytes was not sent, because the replies before it are unread"
            replies.note(.limitsExceeded, "\(call.sender): \(text)", of: call, .tooLarge)
            return fail(call, ErrorNames.name(for: .tooLarge), text)
        }
        if !descriptors.isEmpty { return await room.reply(to: call, command, body: body, descriptors) }
        replies.prepareReply(to: call.sender)
        replies.reply(to: call, command.replySignature, body: body)
    }
    private func fail(_ call: IncomingCall, _ name: String, _ message: String) {
        replies.prepareReply(to: call.sender)
        replies.fail(call, name, message)
    }
    /// A peer has left: what only it waited for does not run.
    func depart(_ peer: String) {
        queues.depart(peer)
        running.depart(peer)
    }
}
