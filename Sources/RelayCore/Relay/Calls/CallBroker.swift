import Synchronization
import RelayWire

/// Commands on their way: sent to the owner, waiting until it and its contract are known, or answered and waiting for
/// the events before the answer.
///
/// - Isolation: in a turn of the loop, but for `call`, `begin` and `cancel`.
final class CallBroker: Sendable {
    private typealias Calls = CallMachine<WaitingCall, ServiceContract>
    private struct State {
        var machine = Calls()
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
        mutating func next(_ readiness: (mayAsk: Bool, maySend: Bool)) -> Calls.Step? {
            // Where the first one may not go, the others wait behind it.
            let maySend = readiness.maySend && machine.waiting.first.map { hasRoom(for: $0.call) } ?? false
            return machine.next(mayAsk: readiness.mayAsk) { _ in maySend }
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
    var isIdle: Bool { state.onLoop.machine.isEmpty && state.onLoop.heldReplies.isEmpty }

    // MARK: From any thread

    /// - Parameter form: of a command.
    func call(
        _ call: MethodCall, _ form: CommandForm? = nil, timeout: Duration, isCancellable: Bool = false
    ) async throws -> BusReply {
        try await result(of: call, form, timeout: timeout, isCancellable: isCancellable).get()
    }
    func result(
        of call: MethodCall, _ form: CommandForm?, timeout: Duration, isCancellable: Bool
    ) async -> Result<BusReply, RelayError> {
        let ticket = CallTicket(isCancellable: isCancellable)
        return await withTaskCancellationHandler {
            // Unsafe: the completion comes exactly once, which a check at each call would have to count.
            await withUnsafeContinuation { continuation in
                begin(call, form, timeout: timeout, ticket) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            cancel(ticket)
        }
    }
    /// Sends a call, or lets it wait. The completion comes once, on the loop's thread.
    func begin(
        _ call: MethodCall, _ form: CommandForm? = nil, timeout: Duration, _ ticket: CallTicket,
        completion: @escaping @Sendable (Result<BusReply, RelayError>) -> Void
    ) {
        let waiting = WaitingCall(
            call, form, deadline: MonotonicClock.deadline(after: timeout), ticket, completion: completion)
        owner.loop.executeSoon { [self] in
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

    /// Sends a call, or lets it wait behind others, and until the owner and its contract are known.
    private func admit(_ call: WaitingCall) {
        if call.ticket.isCancelled { return call.end(Self.cancelled) }
        if let refusal = refusal(of: call) { return call.end(refusal) }
        if readiness.maySend, state.onLoop.hasRoom(for: call), let step = state.onLoop.machine.direct(call, call.kind) {
            return perform(step)
        }
        wait(call)
        startIfNeeded()
        advance()
    }
    /// Why a call need not wait.
    private func refusal(of call: WaitingCall) -> RelayError? {
        switch owner.callRoute {
        case .inactive: RelayError(.unavailable, "the relay of \(owner.service) is not active: call activate() first")
        case .over: state.onLoop.failure ?? Self.cancelled
        case .cutOff: RelayError(.unavailable, "\(call.call.title): the bus is gone")
        case .nobody where !mayAskAnyone && !mayStart: RelayError(.unavailable, "\(owner.service) is not running")
        case .wait, .owner, .nobody: nil
        }
    }
    /// Whether the service can be asked for its contract, and calls can be sent to it.
    private var readiness: (mayAsk: Bool, maySend: Bool) {
        if owner.connection == nil { return (false, false) }
        return switch owner.callRoute {
        // Code that subscribes and then calls sees the events of the call: its `Attach` goes first.
        case .owner: (true, !streams.areOpening)
        case .nobody: (mayAskAnyone, mayAskAnyone)
        case .inactive, .over, .cutOff, .wait: (false, false)
        }
    }
    /// Which peer the bus would start is not known yet: where that matters it is started first, and verified.
    private func startIfNeeded() {
        if case .nobody = owner.callRoute, !mayAskAnyone, mayStart { startService() }
    }
    /// Does whatever is due: asks for the contract, sends the calls for which there is room.
    private func advance() {
        if state.onLoop.machine.isEmpty { return }
        while let step = state.onLoop.next(readiness) { perform(step) }
    }
    private func perform(_ step: Calls.Step) {
        switch step {
        case .ask: askForContract()
        case .send(let entry, let contract): send(entry, contract)
        }
    }
    /// Whom a call is for. By the name where it may be: a service that has just given it up, being idle, is started again
    /// by that.
    private var destination: String {
        mayAskAnyone && mayStart ? owner.service : owner.name ?? owner.service
    }
    /// Asks the bus to start the service. Not activatable is no failure: then it is waited for, but not by calls.
    func startService() {
        owner.start { [self] error in
            endWaiting(RelayError(.unavailable, "\(owner.service) is not running: \(error.message)", cause: error))
        }
    }
    private func send(_ entry: Calls.Entry, _ contract: ServiceContract?) {
        let waiting = entry.call
        var call = waiting.call
        call.destination = destination
        call.flags.insert(.allowInteractiveAuthorization)
        if !mayStart { call.flags.insert(.noAutoStart) }
        guard let connection = owner.connection else { return wait(waiting) }
        let ticket = waiting.ticket
        (ticket.destination, ticket.path, ticket.connection) = (call.destination, call.path, connection)
        do throws(RelayError) { ticket.plan = try waiting.applied(contract, to: &call) } catch {
            for descriptor in call.descriptors { descriptor.close() }
            return waiting.end(error)
        }
        owner.noteWaiting()
        let (bytes, begun) = (call.body.count, MonotonicClock.now)
        state.onLoop.sent.calls += 1
        state.onLoop.sent.bytes += bytes
        ticket.serial = connection.send(call, timeout: waiting.timeLeft) { [self] result in
            endProgress(of: ticket)
            state.onLoop.sent.calls -= 1
            state.onLoop.sent.bytes -= bytes
            if case .failure(let error) = result {
                if let contract, Self.isForAnother(error) {
                    resend(entry, contract)
                    return advance()
                }
                if ticket.isCancellable, error.code == .timedOut { ticket.sendCancel() }
            }
            state.onLoop.pace.note(MonotonicClock.now &- begun)
            ticket.isAnswered = true
            answered(ticket.plan?.read(result, of: waiting.call.member) ?? result, waiting)
            advance()
        }
        // Sent are duplicates. The caller's own are closed now: it may wait for the end of a pipe.
        for descriptor in call.descriptors { descriptor.close() }
        if ticket.onProgress != nil, let serial = ticket.serial {
            state.onLoop.progress[serial] = ticket
            listens.store(true, ordering: .relaxed)
        }
    }
    /// The service has another contract than the call was encoded for, and has not run it.
    private static func isForAnother(_ error: RelayError) -> Bool {
        (error.cause as? RemoteError)?.name == ErrorNames.unknownObject
    }
    private func resend(_ entry: Calls.Entry, _ contract: ServiceContract) {
        let (call, title) = (entry.call, entry.call.call.title)
        call.ticket.returned()
        // The cancellation is still on its way: it has no serial to cancel any more.
        if call.ticket.isCancelled {
            state.onLoop.machine.doubt(contract)
            return call.end(Self.cancelled)
        }
        switch state.onLoop.machine.refused(entry, for: contract) {
        case .waits: scheduleEnd(of: call)
        case .isOver:
            call.end(
                RelayError(
                    .unavailable,
                    "\(title): the service was replaced by one with another contract while the call was on its way; it has "
                        + "not run, and its file descriptors are closed: make the call again"))
        case .isHopeless:
            call.end(
                RelayError(
                    .unavailable,
                    "\(title): the service had another contract \(Calls.resends + 1) times in succession, and the call has "
                        + "not run: see whether two versions of the service take the name from each other"))
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
        guard !signature.isEmpty, let ticket = state.onLoop.progress[serial] else { return }
        guard let plan = ticket.plan else { return ticket.onProgress?(signature, body) ?? () }
        if let read = plan.read(progress: signature, body) { ticket.onProgress?(read.signature, read.body) }
    }
    private func wait(_ call: WaitingCall) {
        if !state.onLoop.machine.wait(call, call.kind) {
            return call.end(RelayError(.limitsExceeded, "\(call.call.title): too many calls wait for the bus"))
        }
        scheduleEnd(of: call)
    }
    private func scheduleEnd(of call: WaitingCall) {
        // The timer outlives the wait: it must not keep the call and its descriptors.
        owner.loop.schedule(after: call.timeLeft) { [self, weak ticket = call.ticket, title = call.call.title] in
            if let ticket { drop(ticket, RelayError(.timedOut, "\(title): \(whyWaiting)")) }
        }
    }
    private var whyWaiting: String {
        guard case .owner = owner.callRoute else { return "no bus in time" }
        if state.onLoop.machine.contract == nil { return "the service has not reported its contract in time" }
        return "it waited for \(state.onLoop.sent.calls) other calls of this relay, which were not answered in time"
    }
    /// The owner is known, or that there is none.
    func admitWaiting() {
        if let first = state.onLoop.machine.waiting.first, refusal(of: first.call) != nil {
            for call in state.onLoop.machine.takeAll() { call.end(refusal(of: call) ?? Self.cancelled) }
        } else if !state.onLoop.machine.isEmpty {
            startIfNeeded()
            advance()
        }
        barriers.admitWaiting()
    }
    func endWaiting(_ error: RelayError) {
        for call in state.onLoop.machine.takeAll() { call.end(error) }
    }
    private func drop(_ ticket: CallTicket, _ error: RelayError) {
        guard let call = state.onLoop.machine.remove(where: { $0.ticket === ticket }) else { return }
        call.end(error)
        // It may have been the first.
        advance()
    }

    // MARK: The contract

    private func askForContract() {
        guard let connection = owner.connection, let first = state.onLoop.machine.waiting.first?.call.call else {
            return
        }
        var question = MethodCall(to: destination, path: first.path, interface: Stream1.name, member: "Contract")
        if !mayStart { question.flags.insert(.noAutoStart) }
        owner.noteWaiting()
        // The bus may have to start the service first.
        let timeout = owner.name == nil ? owner.timing.start : owner.timing.answer
        connection.send(question, timeout: timeout) { [self, question] result in
            do throws(RelayError) {
                let (id, texts) = try result.get().read(Stream1.contractSignature) { try Stream1.readContract(&$0) }
                state.onLoop.machine.learned(ServiceContract(id, texts))
            } catch {
                notLearned(error, question)
            }
            advance()
        }
    }
    private func notLearned(_ error: RelayError, _ question: MethodCall) {
        let remote = (error.cause as? RemoteError)?.name
        // A unique name without an owner: the service has just left, which is announced.
        let isPassing =
            [.timedOut, .limitsExceeded].contains(error.code) || error.mayHaveRun && error.code == .unavailable
            || error.code == .unavailable && question.destination != owner.service
        guard let ended = state.onLoop.machine.failed(isPassing: isPassing) else {
            owner.loop.schedule(after: owner.timing.retry) { [weak self] in
                self?.state.onLoop.machine.resume()
                self?.advance()
            }
            return
        }
        let isOther = [ErrorNames.unknownObject, ErrorNames.unknownInterface, ErrorNames.unknownMethod].contains(remote)
        for call in ended {
            let reason =
                isOther
                ? "it does not report a contract, as every event service does: update the service" : error.message
            call.end(
                RelayError(
                    error.code,
                    "\(call.call.title): the service's contract is not known, and nothing was sent: \(reason)",
                    cause: error))
        }
    }
    /// A call that was made for a contract met another one. On any thread.
    func doubt(_ contract: ServiceContract) {
        owner.loop.execute { [self] in state.onLoop.machine.doubt(contract) }
    }
    /// The service has another owner, or none.
    func forgetOwner() { state.onLoop.machine.ownerChanged() }

    // MARK: Answers

    /// An answer comes behind the events that the service published before it: those in rings, and those that
    /// have to be read.
    private func answered(_ result: Result<BusReply, RelayError>, _ call: WaitingCall) {
        for stream in streams.all { stream.drainInlet() }
        guard streams.areCatchingUp, Self.isFromService(result), call.timeLeft > .zero, !call.ticket.isCancelled else {
            return call.completion(result)
        }
        let timer = owner.loop.schedule(after: call.timeLeft) { [self] in _ = release(call.ticket) }
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
