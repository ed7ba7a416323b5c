import Synchronization
import RelayWire

/// A service's connection: its life with its name, and which component each message is for.
final class ServiceCore: Sendable {
    private enum End {
        case running
        case ended(RelayError?)
        case awaited(CheckedContinuation<RelayError?, Never>)
    }
    let name: String
    let bus: Bus
    let tree: ObjectTree
    let contract: ExportedContract
    let interfaces: [ExportedInterface]
    let routes: LoopBound<CommandRoutes>
    let commandsTakeDescriptors: Bool
    /// The journal's, if an interface is durable.
    let log: (any EventLogStorage)?
    let loop: BusLoop
    let notices: NoticeReporter
    let ledger = PeerLedger()
    /// Where the handlers of commands run, which may block.
    let handlers = HandlerThreads("handlers")
    let queues: CommandQueues
    let accounts: AccountCache<SystemAccounts>
    let timing: ServiceTiming
    /// While there is one.
    let connection: LoopBound<BusConnection?>
    let directory: PeerDirectory
    let replies: ReplySender
    let room: DescriptorRoom
    let rings: RingHandout
    let reads: LogReads
    let authority: PolkitAuthority
    let permissions: PolkitPermissions
    let gate: CallGate
    let calls: CommandCalls
    let documents: DocumentAnswers
    let standard: StandardAnswers
    let status: StatusAnswers
    let attachments: Attachments
    let census: Census
    let idle: IdleWatch
    private let end = Mutex(End.running)
    private let hasLogFailed = Atomic<Bool>(false)
    /// It was told to end. It does not ask for a next run then.
    let isToldToEnd = Atomic<Bool>(false)

    init(
        _ name: String, _ bus: Bus, _ interfaces: [ExportedInterface], _ contract: ExportedContract, _ loop: BusLoop,
        _ notices: NoticeReporter, _ timing: ServiceTiming
    ) {
        (self.timing, accounts) = (timing, AccountCache(of: SystemAccounts(), timing: timing.accounts))
        (self.name, self.bus, self.loop, self.notices) = (name, bus, loop, notices)
        (tree, self.contract, self.interfaces) = (ObjectTree(interfaces, contract.id), contract, interfaces)
        routes = LoopBound(CommandRoutes(tree), on: loop)
        commandsTakeDescriptors = interfaces.contains { $0.commands.values.contains(where: \.takesDescriptors) }
        log = interfaces.lazy.compactMap(\.log).first?.storage
        queues = CommandQueues(ledger, handlers, loop)
        connection = LoopBound(nil, on: loop)
        directory = PeerDirectory(
            ledger, loop, notices, timing,
            readsUnits: interfaces.contains { $0.requirements.contains(where: \.needsUnit) })
        replies = ReplySender(tree, connection, directory, ledger, loop, notices, timing)
        room = DescriptorRoom(name, connection, replies, ledger, loop, notices, timing)
        rings = RingHandout(interfaces, directory, replies, room, ledger, loop, timing)
        reads = LogReads(directory, replies, ledger, loop)
        authority = PolkitAuthority(connection, loop, timing)
        permissions = PolkitPermissions(
            interfaces, connection, authority, accounts, loop, notices, timing
        ) { [reads, rings] peer, interface, text in
            reads.depart(peer)
            rings.withdraw(peer, interface, .notPermitted, text)
        }
        gate = CallGate(name, directory, replies, authority, permissions, accounts, ledger, loop)
        calls = CommandCalls(name, tree, queues, gate, directory, replies, room, ledger, handlers)
        documents = DocumentAnswers(calls, replies)
        standard = StandardAnswers(gate, documents, replies)
        status = StatusAnswers(calls, queues, replies, notices)
        attachments = Attachments(replies, rings, reads, loop)
        census = Census(connection, ledger, loop, timing, isNeeded: bus.linked == nil)
        idle = IdleWatch(tree.streams, log, queues, loop, timing) { [directory, replies, reads, gate, rings] in
            directory.waitingCount + replies.state.onLoop.held.count + reads.openCount
                + gate.state.onLoop.queue.count + (rings.isIdle ? 0 : 1)
        }
        queues.setServer(self)
        census.onDeparture { [weak self] in self?.depart($0) }
        // Here, on the caller's thread: a look-up may ask the network.
        for interface in interfaces {
            for requirement in interface.requirements {
                for name in requirement.lookUp(in: accounts) {
                    notices.report(
                        .lookUpFailed, .warning,
                        "\(interface.name) requires \(name), which there is not, or which cannot be looked up: nobody meets that",
                        of: Notice.Subject(interface: interface.name))
                }
            }
        }
    }

    deinit { loop.stop() }

    // MARK: Life

    /// Returns when the bus is gone, with the reason; or when the task is cancelled.
    func untilEnd() async -> RelayError? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let reason = end.withLock { end -> RelayError?? in
                    if case .ended(let reason) = end { return .some(reason) }
                    end = .awaited(continuation)
                    return nil
                }
                if let reason { continuation.resume(returning: reason) }
            }
        } onCancel: {
            finish(nil)
        }
    }
    /// Ends the wait for the end. The first reason counts.
    func finish(_ reason: RelayError?) {
        let waiter = end.withLock { end -> CheckedContinuation<RelayError?, Never>? in
            defer { if case .ended = end {} else { end = .ended(reason) } }
            if case .awaited(let waiter) = end { return waiter }
            return nil
        }
        waiter?.resume(returning: reason)
    }
    /// Why the service is to end already; nil when it is not, or without a reason.
    var endReason: RelayError? { end.withLock { if case .ended(let reason) = $0 { reason } else { nil } } }

    /// What is durable can no longer be: the service has to start again, and see what its log has.
    func logFailed(_ reason: RelayError) {
        hasLogFailed.store(true, ordering: .releasing)
        finish(reason)
    }

    /// Finishes what runs within `patience`, announces `End`, releases the name, and answers what the bus had routed
    /// here by then.
    ///
    /// A service that nobody uses releases the name first: there is no subscriber to which `End` would mean anything,
    /// and the bus starts the next run for later calls. Somebody may have attached since that was decided, while work
    /// beside the service came to its end: the bus is asked to start the next run for them, too.
    ///
    /// - Parameter startsNext: whether a next run is wanted of a service that has ended because nobody used it.
    func stop(patience: Duration, startsNext: Bool = false) async {
        loop.execute { [self] in
            replies.stop()
            room.stop()
            gate.stop()
        }
        let deadline = MonotonicClock.deadline(after: patience)
        let isIdle = idle.hasIdled.load(ordering: .acquiring)
        // One turn: those who attach are answered in one.
        let (connection, isUnused) = await withCheckedContinuation { continuation in
            loop.execute { [self] in
                let isUnused = isIdle && !isUsed
                if isUnused { attachments.close() }
                continuation.resume(returning: (self.connection.onLoop, isUnused))
            }
        }
        let isReleased: Bool
        var isMissed = false
        if isUnused {
            isReleased = await connection?.releaseName(name) ?? false
            await idle.settle(until: deadline)
            await queues.close(patience: Self.rest(until: deadline), grace: timing.grace)
            endStreams()
            isMissed = await attachments.hasRefused()
        } else {
            // What comes from here on waits until `End` is out.
            await queues.close(patience: patience, grace: timing.grace, holding: true)
            let isQuiet = queues.count == 0
            isMissed = isIdle && isUsed
            endStreams()
            // What was published before goes out before, however much it is.
            _ = await connection?.drainOutgoing(patience: timing.drain)
            isReleased = await connection?.releaseName(name) ?? false
            queues.goOn()
            // A handler that does not heed its cancellation is not waited for twice.
            if isQuiet {
                await idle.settle(until: max(deadline, MonotonicClock.deadline(after: timing.grace)))
                await queues.close(patience: Self.rest(until: deadline), grace: timing.grace)
            } else {
                queues.abandon()
            }
        }
        guard let connection else { return }
        if isMissed, startsNext, !isToldToEnd.load(ordering: .acquiring) { connection.requestStart(of: name) }
        let isOut = await connection.drainOutgoing(patience: timing.drain)
        // The bus has taken all replies when it answers.
        if isOut, isReleased { await connection.roundTrip() }
        connection.close()
        await notices.finish()
    }
    /// Peers have events from it.
    private var isUsed: Bool { interfaces.contains { $0.stream.users > 0 } }
    private static func rest(until deadline: UInt64) -> Duration {
        let now = MonotonicClock.now
        return deadline > now ? .nanoseconds(Int64(clamping: deadline - now)) : .zero
    }
    private func endStreams() {
        // Of a log that has failed nobody knows what it holds, and how far its events went.
        let isKnown = !hasLogFailed.load(ordering: .acquiring)
        calls.hasEndedStreams.store(true, ordering: .releasing)
        for interface in interfaces { interface.stream.end(isKnown: isKnown || interface.log == nil) }
    }
    func disconnected(_ reason: RelayError) {
        connection.onLoop = nil
        for stream in tree.streams { stream.disconnect() }
        finish(RelayError(.unavailable, "\(bus) went away: \(reason.message)", cause: reason))
    }
}

/// It keeps itself while a call runs: a handler whose service was released still replies, and hears of a caller that
/// leaves.
extension ServiceCore: QueueServer {
    func serve(_ call: IncomingCall, _ work: QueuedWork) async { await calls.serve(call, work) }
    func refuseStopping(_ call: IncomingCall) { calls.refuseStopping(call) }
}

extension BusConnection {
    /// Gives a name up. Returns when the bus has answered: all that it routed here by the name has come before that.
    /// False if it has not.
    fileprivate func releaseName(_ name: String) async -> Bool {
        var body = WireWriter()
        do {
            try body.string(name)
            _ = try await call(.toBus("ReleaseName", Signature("s"), body: body.bytes), timeout: timing.answer)
        } catch {
            // The bus is gone, and the name with it; or its answer was lost.
            return false
        }
        // What the answer came behind has been dispatched; who its callers are is known behind this.
        await roundTrip()
        return true
    }
    /// Asks the bus to start a service. If it cannot, there is nobody else to ask.
    fileprivate func requestStart(of name: String) {
        guard let start = try? MethodCall.start(of: name) else { return }
        send(start) { _ in }
    }
    /// Returns when the bus has answered, if only by an error.
    fileprivate func roundTrip() async { _ = try? await call(.toBus("GetId"), timeout: timing.answer) }
}
