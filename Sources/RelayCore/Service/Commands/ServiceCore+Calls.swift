import Synchronization

/// Calls: which object and interface each is for, and whether its caller may make it.
extension ServiceCore {
    func methodCall(_ call: IncomingCall) {
        if !call.wantsReply && isQuestion(call) { return }
        noteUse(call)
        noteCaller(call.sender)
        guard let connection = connection.onLoop, replies.isHeard(call, connection) else { return }
        // Every connection is a peer, whatever the path.
        if call.interface == StandardInterfaces.peer.name { return peer(call, connection) }
        if call.interface == Stream1.name && call.member == "Received" { return replies.received(call, connection) }
        guard tree.exists(call.path) else {
            return replies.fail(call, ErrorNames.unknownObject, "\(name) has no object at \(call.path)", connection)
        }
        let interface = tree.interface(at: call.path)
        switch (call.interface, call.member) {
        case (nil, "Ping"), (nil, "GetMachineId"): peer(call, connection)
        case (StandardInterfaces.introspectable.name, _), (nil, "Introspect"): introspect(call, connection)
        case (StandardInterfaces.properties.name, _), (nil, "Get"), (nil, "GetAll"), (nil, "Set"):
            guard let interface else { return replies.unknown(call, connection) }
            properties(call, interface, connection)
        case (Stream1.name, _), (nil, "Attach"), (nil, "Schemas"):
            guard let interface else { return replies.unknown(call, connection) }
            stream(call, interface, connection)
        case (nil, _), (interface?.name, _):
            guard let interface, let command = interface.commands[call.member] else {
                if refusesSubmission(call, interface, connection) { return }
                return replies.unknown(call, connection)
            }
            run(command, call, connection)
        default:
            replies.fail(
                call, ErrorNames.unknownInterface, "\(call.path) has no interface \(call.interface ?? "")", connection)
        }
    }
    /// Whether nothing but the answer comes of a call: without one it would be work for nobody, and nothing would bound
    /// how much of it a caller can order.
    private func isQuestion(_ call: IncomingCall) -> Bool {
        switch (call.interface, call.member) {
        case (StandardInterfaces.peer.name, _), (StandardInterfaces.introspectable.name, _),
            (StandardInterfaces.properties.name, _):
            true
        case (nil, "Ping"), (nil, "GetMachineId"), (nil, "Introspect"), (nil, "Get"), (nil, "GetAll"), (nil, "Set"),
            (nil, "Schemas"):
            true
        case (Stream1.name, "Schemas"), (Stream1.name, "Barrier"), (Stream1.name, "Status"),
            (Stream1.name, "GetDocument"), (Stream1.name, "Read"):
            true
        default: false
        }
    }
    func run(_ command: AnyExportedCommand, _ call: IncomingCall, _ connection: BusConnection) {
        if call.signature != command.signature,
            let difference = SchemaDifference.text(of: call.signature, from: command.arguments)
        {
            let text = "\(command.name) takes \(SchemaDifference.text(command.arguments)); \(difference)"
            answered.withLock { $0.unreadable += 1 }
            return replies.fail(call, ErrorNames.invalidArgs, text, connection)
        }
        let hold: PeerLedger.Charge?
        do throws(PeerLedger.Refusal) {
            let count = call.transferred.count
            hold = count == 0 ? nil : try ledger.charge(.callDescriptors, count, to: call.sender)
        } catch { return replies.refuse(call, .limitsExceeded, error.message, connection) }
        gate.admit(
            call, command.requirement, command.name, isCommand: true, holding: hold, connection
        ) { [weak self] credentials in
            guard let core = self else { return }
            let peer = Peer(uniqueName: call.sender, userID: credentials?.userID)
            if command.isCancellable { core.running.admit(call) }
            let isAdmitted = core.run(call, connection, isCommand: true) {
                await $0.answer(command, call, peer, connection)
                withExtendedLifetime(hold) {}
            }
            if command.isCancellable && !isAdmitted { core.running.remove(call) }
        }
    }
    func ifPermitted(
        _ call: IncomingCall, _ interface: ExportedInterface, _ connection: BusConnection,
        _ body: @escaping @Sendable (ServiceCore) -> Void
    ) {
        gate.ifPermitted(call, interface, connection) { [weak self] in if let self { body(self) } }
    }
    /// Runs what answers a call, after the peer's earlier calls; or refuses it, and returns false.
    @discardableResult func run(
        _ call: IncomingCall, _ connection: BusConnection, isCommand: Bool = false,
        _ job: @escaping @Sendable (ServiceCore) async -> Void
    ) -> Bool {
        let admission = queues.add(
            call.sender, cost: call.body.count, isAwaited: call.wantsReply, isCommand: isCommand
        ) { [weak self] in
            if let self { await job(self) }
        } refuse: { [weak self] in
            self?.refuseStopping(call, connection)
        }
        switch admission {
        case .admitted: return true
        case .full(let reason): replies.refuse(call, .limitsExceeded, reason, connection)
        case .closed: refuseStopping(call, connection)
        }
        return false
    }
    /// The same for a call that anybody may make: it counts for its caller's user, who is looked up for that.
    func runForUser(
        _ call: IncomingCall, _ connection: BusConnection, _ job: @escaping @Sendable (ServiceCore) async -> Void
    ) {
        directory.credentials(of: call.sender, bytes: call.body.count, connection) { [weak self] result in
            guard let self else { return }
            // Not known: the caller has left, or the bus is slow. All such calls count as one user's.
            if case .failure(let error) = result, error.code != .unavailable {
                return replies.refuse(call, error.code, error.message, connection)
            }
            run(call, connection, job)
        }
    }
    /// Whether it came while the service ended, and its interface is volatile: what its handler publishes would be lost.
    private func isTooLate(_ call: IncomingCall) -> Bool {
        guard hasEndedStreams.load(ordering: .acquiring) else { return false }
        return interfaces.contains { $0.stream.path == call.path && $0.log == nil }
    }
    private func refuseStopping(_ call: IncomingCall, _ connection: BusConnection) {
        replies.fail(call, ErrorNames.name(for: .unavailable), "\(name) is stopping", connection)
    }
    func answer(_ command: AnyExportedCommand, _ call: IncomingCall, _ peer: Peer, _ connection: BusConnection) async {
        if isTooLate(call) { return refuseStopping(call, connection) }
        if command.returnsDescriptors, let (code, reason) = await room.refusal(of: call, connection) {
            if command.isCancellable { running.remove(call) }
            return replies.refuse(call, code, reason, connection)
        }
        var context = CommandContext(peer: peer)
        if command.takesDescriptors { context.descriptors = call.transferred }
        if command.reportsProgress && call.wantsReply { context.outlet = ProgressOutlet(call, connection, replies) }
        let begun = MonotonicClock.now
        let result: AnyExportedCommand.Answer
        if command.isCancellable {
            result = await running.run(call) { [context] in await command.answer(call.body, context) }
        } else {
            result = await command.answer(call.body, context)
        }
        context.outlet?.finish()
        answered.withLock { $0.count(result, after: MonotonicClock.now &- begun) }
        let (body, descriptors): ([UInt8], [ReceivedDescriptor])
        switch result {
        case .reply(let reply, let sent): (body, descriptors) = (reply, sent)
        case .error(let name, let message):
            replies.prepareReply(to: call.sender)
            return replies.fail(call, name, message, connection)
        case .failed(let code, let message, let cause):
            notices.report(
                .commandFailed, .warning,
                "\(call.member) of \(call.sender) failed in the service: \(RelayError.kinds(of: cause))",
                of: replies.subject(call, code), cause: cause)
            replies.prepareReply(to: call.sender)
            return replies.fail(call, ErrorNames.name(for: code), message, connection)
        case .unreadable(let message):
            replies.prepareReply(to: call.sender)
            return replies.fail(call, ErrorNames.name(for: .invalidArgument), message, connection)
        }
        let isAdmitted = await replies.hasRoom(for: call, bytes: body.count, connection)
        if isAdmitted && !descriptors.isEmpty {
            return await room.reply(to: call, connection, command, body: body, descriptors)
        }
        replies.prepareReply(to: call.sender)
        if isAdmitted { return replies.reply(to: call, connection, command.replySignature, body: body) }
        let text =
            "\(command.name) has run; its reply of \(body.count) bytes was not sent, because the replies before it are unread"
        replies.note(.limitsExceeded, "\(call.sender): \(text)", of: call, .tooLarge)
        replies.fail(call, ErrorNames.name(for: .tooLarge), text, connection)
    }
}
