import Synchronization

/// The service's part that lives on the loop's thread: its life with its name.
final class ServiceCore: Sendable {
    struct State {
        var idleness = Idleness()
        var census = Census()
    }
    private enum End {
        case running
        case ended(RelayError?)
        case awaited(CheckedContinuation<RelayError?, Never>)
    }
    let name: String
    let bus: Bus
    let tree: ObjectTree
    let interfaces: [ExportedInterface]
    var streams: [PublishedStream] { tree.streams }
    let loop: BusLoop
    let notices: NoticeReporter
    let ledger = PeerLedger()
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
    let state: LoopBound<State>
    private let end = Mutex(End.running)
    private let hasLogFailed = Atomic<Bool>(false)
    let activities = ActivityCount()
    /// It ends because nobody used it.
    let hasIdled = Atomic<Bool>(false)

    init(
        _ name: String, _ bus: Bus, _ interfaces: [ExportedInterface], _ loop: BusLoop, _ notices: NoticeReporter,
        _ timing: ServiceTiming
    ) {
        (self.timing, accounts) = (timing, AccountCache(of: SystemAccounts(), timing: timing.accounts))
        (self.name, self.bus, self.loop, self.notices) = (name, bus, loop, notices)
        (tree, self.interfaces) = (ObjectTree(interfaces), interfaces)
        queues = CommandQueues(ledger)
        connection = LoopBound(nil, on: loop)
        state = LoopBound(State(), on: loop)
        directory = PeerDirectory(
            ledger, loop, notices, timing,
            readsUnits: interfaces.contains { $0.requirements.contains(where: \.needsUnit) })
        replies = ReplySender(tree, directory, ledger, loop, notices, timing)
        room = DescriptorRoom(name, connection, replies, ledger, loop, notices, timing)
        rings = RingHandout(interfaces, directory, replies, room, ledger, loop, notices, timing)
        reads = LogReads(directory, replies, ledger, loop, notices)
        authority = PolkitAuthority(connection, loop, timing)
        permissions = PolkitPermissions(
            interfaces, connection, authority, accounts, loop, notices, timing
        ) { [connection, reads, rings] peer, interface, text in
            reads.depart(peer)
            if let connection = connection.onLoop { rings.withdraw(peer, interface, .notPermitted, text, connection) }
        }
        gate = CallGate(name, directory, replies, authority, permissions, accounts, ledger, loop, notices)
        calls = CommandCalls(name, tree, queues, gate, directory, replies, room, ledger, loop, notices)
        documents = DocumentAnswers(calls, replies)
        standard = StandardAnswers(tree, gate, documents, replies)
        status = StatusAnswers(calls, queues, replies, notices)
        attachments = Attachments(replies, rings, reads, loop)
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

    // MARK: Life

    /// Connects and takes the name. Throws `Conflict` when somebody else has it.
    func start() async throws {
        let connection = try await BusConnection.connect(to: bus, on: loop, handler: self, timing: timing.bus)
        do {
            loop.execute { [self] in self.connection.onLoop = connection }
            try await addRules(connection)
            try await checkUnits(connection)
            let isOwn = await isOwn(connection)
            // Connected before the name is ours: nothing that is published from then on is left out.
            let backlog = bus.linked == nil ? BusBacklog(connection, notices, timing) : nil
            for stream in streams { stream.connect(connection, isOwn: isOwn, backlog) }
            try await takeName(connection)
            for stream in streams { stream.announce() }
        } catch {
            for stream in streams { stream.disconnect() }
            connection.close()
            throw error
        }
    }
    /// Throws `Unavailable` on a bus that does not report what a requirement needs: nobody could ever meet it.
    private func checkUnits(_ connection: BusConnection) async throws {
        let all = interfaces.flatMap { one in
            [(one.name, one.requirement)] + one.commands.values.map { ("\(one.name).\($0.name)", $0.requirement) }
        }
        guard let (what, requirement) = all.first(where: { $0.1.needsUnit }) else { return }
        let own = try await connection.call(PeerCredentials.request(for: connection.uniqueName))
        if !own.descriptors.isEmpty { return }
        var program = "\(bus)"
        if let answer = try? await connection.call(PeerCredentials.request(for: "org.freedesktop.DBus")),
            let process = try? PeerCredentials(answer).processID
        {
            program += " (\(SystemProcessFiles.program(of: process) ?? "unknown"), process \(process))"
        }
        throw RelayError(
            .unavailable,
            "\(what) requires \(requirement), and \(program) cannot say which process a peer is: "
                + "\(PeerCredentials.noProcess); or require a user or a group")
    }
    /// Whether the bus runs as our own user, as a session's does, and so admits no other user unless that user allows
    /// it. It does not matter how its address was given. If the bus's user cannot be found out, the answer is no.
    private func isOwn(_ connection: BusConnection) async -> Bool {
        if case .system = bus.kind { return false }
        if case .systemAddress = bus.kind { return false }
        var reason = "it did not say"
        // The whole run rests on the answer, and one may be lost.
        for _ in 1...3 {
            do {
                let request = try PeerCredentials.request(for: "org.freedesktop.DBus")
                let answer = try await connection.call(request, timeout: .seconds(10))
                if let user = try PeerCredentials(answer).userID { return user == accounts.ownUserID }
            } catch {
                reason = (error as? RelayError)?.message ?? "\(error)"
            }
        }
        for interface in interfaces where interface.requirement.admitsSameUser && !interface.requirement.isAnyone {
            notices.report(
                .lookUpFailed, .warning,
                "the user of \(bus) is not known (\(reason)): in this run, signals of \(interface.name) go only to peers "
                    + "that attach, as every relay does; start the service again for other subscribers",
                of: Notice.Subject(interface: interface.name))
        }
        return false
    }
    private func takeName(_ connection: BusConnection) async throws {
        var body = WireWriter()
        try body.string(name)
        body.uint32(4)  // DBUS_NAME_FLAG_DO_NOT_QUEUE: there is one service of a name, or an error.
        let answer = try await connection.call(.toBus("RequestName", Signature("su"), body: body.bytes))
        if try answer.read("u", { try $0.uint32() }) == 1 { return }  // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER
        throw RelayError(
            .conflict,
            "\(name) has an owner on \(bus) already\(await owner(connection)): stop that one, or use another name or bus"
        )
    }
    /// Who has the name, for a message.
    private func owner(_ connection: BusConnection) async -> String {
        var body = WireWriter()
        do {
            try body.string(name)
            let request = MethodCall.toBus("GetConnectionUnixProcessID", try Signature("s"), body: body.bytes)
            let id = try await connection.call(request).read("u") { try $0.uint32() }
            return ", process \(id)"
        } catch {
            return ""
        }
    }
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
    /// and the bus starts the next run for later calls.
    func stop(patience: Duration) async {
        loop.execute { [self] in
            replies.stop()
            room.stop()
            if let connection = self.connection.onLoop { gate.stop(connection) }
        }
        let deadline = MonotonicClock.deadline(after: patience)
        let connection = await withCheckedContinuation { continuation in
            loop.execute { [self] in continuation.resume(returning: self.connection.onLoop) }
        }
        let isReleased: Bool
        if hasIdled.load(ordering: .acquiring) {
            isReleased = await connection?.releaseName(name) ?? false
            await settle(until: deadline)
            await queues.close(patience: Self.rest(until: deadline), grace: timing.grace)
            endStreams()
        } else {
            // What comes from here on waits until `End` is out.
            await queues.close(patience: patience, grace: timing.grace, holding: true)
            let isQuiet = queues.count == 0
            endStreams()
            // What was published before goes out before, however much it is.
            _ = await connection?.drainOutgoing(patience: timing.drain)
            isReleased = await connection?.releaseName(name) ?? false
            queues.goOn()
            // A handler that does not heed its cancellation is not waited for twice.
            if isQuiet {
                await settle(until: max(deadline, MonotonicClock.deadline(after: timing.grace)))
                await queues.close(patience: Self.rest(until: deadline), grace: timing.grace)
            } else {
                queues.abandon()
            }
        }
        guard let connection else { return }
        let isOut = await connection.drainOutgoing(patience: timing.drain)
        // The bus has taken all replies when it answers.
        if isOut, isReleased { await connection.roundTrip() }
        connection.close()
        await notices.finish()
    }
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
        for stream in streams { stream.disconnect() }
        finish(RelayError(.unavailable, "\(bus) went away: \(reason.message)", cause: reason))
    }
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
    /// Returns when the bus has answered, if only by an error.
    fileprivate func roundTrip() async { _ = try? await call(.toBus("GetId"), timeout: timing.answer) }
}
