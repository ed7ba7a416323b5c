import Synchronization

/// Calls: which object and interface each is for, and whether its caller may make it.
extension ServiceCore {
    private static let longestMessage = 2_048

    func methodCall(_ call: IncomingCall) {
        if !call.wantsReply && isQuestion(call) { return }
        noteUse(call)
        noteCaller(call.sender)
        guard let connection = connection.onLoop, isHeard(call, connection) else { return }
        // Every connection is a peer, whatever the path.
        if call.interface == StandardInterfaces.peer.name { return peer(call, connection) }
        if call.interface == Stream1.name && call.member == "Received" { return received(call, connection) }
        guard tree.exists(call.path) else {
            return fail(call, ErrorNames.unknownObject, "\(name) has no object at \(call.path)", connection)
        }
        let interface = tree.interface(at: call.path)
        switch (call.interface, call.member) {
        case (nil, "Ping"), (nil, "GetMachineId"): peer(call, connection)
        case (StandardInterfaces.introspectable.name, _), (nil, "Introspect"): introspect(call, connection)
        case (StandardInterfaces.properties.name, _), (nil, "Get"), (nil, "GetAll"), (nil, "Set"):
            guard let interface else { return unknown(call, connection) }
            properties(call, interface, connection)
        case (Stream1.name, _), (nil, "Attach"), (nil, "Schemas"):
            guard let interface else { return unknown(call, connection) }
            stream(call, interface, connection)
        case (nil, _), (interface?.name, _):
            guard let interface, let command = interface.commands[call.member] else {
                if refusesSubmission(call, interface, connection) { return }
                return unknown(call, connection)
            }
            run(command, call, connection)
        default:
            fail(call, ErrorNames.unknownInterface, "\(call.path) has no interface \(call.interface ?? "")", connection)
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
    func unknown(_ call: IncomingCall, _ connection: BusConnection) {
        let interface = call.interface.map { "\($0)." } ?? ""
        fail(call, ErrorNames.unknownMethod, "\(call.path) has no method \(interface)\(call.member)", connection)
    }
    /// Whether the arguments are of the right types; answers if not.
    func hasSignature(_ expected: String, _ call: IncomingCall, _ connection: BusConnection) -> Bool {
        if call.signature == expected { return true }
        let text = "\(call.member) takes '\(expected)', not '\(call.signature)'"
        fail(call, ErrorNames.invalidArgs, text, connection)
        return false
    }

    func run(_ command: AnyExportedCommand, _ call: IncomingCall, _ connection: BusConnection) {
        if call.signature != command.signature,
            let difference = SchemaDifference.text(of: call.signature, from: command.arguments)
        {
            let text = "\(command.name) takes \(SchemaDifference.text(command.arguments)); \(difference)"
            answered.withLock { $0.unreadable += 1 }
            return fail(call, ErrorNames.invalidArgs, text, connection)
        }
        let hold: PeerLedger.Charge?
        do throws(PeerLedger.Refusal) {
            let count = call.transferred.count
            hold = count == 0 ? nil : try ledger.charge(.callDescriptors, count, to: call.sender)
        } catch { return refuse(call, .limitsExceeded, error.message, connection) }
        admit(
            call, command.requirement, command.name, isCommand: true, holding: hold, connection
        ) { core, credentials in
            let peer = Peer(uniqueName: call.sender, userID: credentials?.userID)
            if command.isCancellable { core.running.admit(call) }
            let isAdmitted = core.run(call, connection, isCommand: true) {
                await $0.answer(command, call, peer, connection)
                withExtendedLifetime(hold) {}
            }
            if command.isCancellable && !isAdmitted { core.running.remove(call) }
        }
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
        case .full(let reason): refuse(call, .limitsExceeded, reason, connection)
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
                return refuse(call, error.code, error.message, connection)
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
        fail(call, ErrorNames.name(for: .unavailable), "\(name) is stopping", connection)
    }
    func answer(_ command: AnyExportedCommand, _ call: IncomingCall, _ peer: Peer, _ connection: BusConnection) async {
        if isTooLate(call) { return refuseStopping(call, connection) }
        if command.returnsDescriptors, let (code, reason) = await descriptorRefusal(of: call, connection) {
            if command.isCancellable { running.remove(call) }
            return refuse(call, code, reason, connection)
        }
        var context = CommandContext(peer: peer)
        if command.takesDescriptors { context.descriptors = call.transferred }
        if command.reportsProgress && call.wantsReply { context.outlet = ProgressOutlet(call, connection, self) }
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
            prepareReply(to: call.sender)
            return fail(call, name, message, connection)
        case .failed(let code, let message, let cause):
            notices.report(
                .commandFailed, .warning,
                "\(call.member) of \(call.sender) failed in the service: \(RelayError.kinds(of: cause))",
                of: subject(call, code), cause: cause)
            prepareReply(to: call.sender)
            return fail(call, ErrorNames.name(for: code), message, connection)
        case .unreadable(let message):
            prepareReply(to: call.sender)
            return fail(call, ErrorNames.name(for: .invalidArgument), message, connection)
        }
        let isAdmitted = await hasRoom(for: call, bytes: body.count, connection)
        if isAdmitted && !descriptors.isEmpty {
            return await reply(to: call, connection, command, body: body, descriptors)
        }
        prepareReply(to: call.sender)
        if isAdmitted { return reply(to: call, connection, command.replySignature, body: body) }
        let text =
            "\(command.name) has run; its reply of \(body.count) bytes was not sent, because the replies before it are unread"
        note(.limitsExceeded, of: call)
        notices.report(.limitsExceeded, .warning, "\(call.sender): \(text)", of: subject(call, .tooLarge))
        fail(call, ErrorNames.name(for: .tooLarge), text, connection)
    }
    func prepareReply(to peer: String) {
        for interface in interfaces { interface.stream.prepareReply(to: peer) }
    }
    /// Refuses a call, and reports it.
    func refuse(_ call: IncomingCall, _ code: RelayError.Code, _ message: String, _ connection: BusConnection) {
        let kinds: [RelayError.Code: Notice.Kind] = [.limitsExceeded: .limitsExceeded, .notPermitted: .notPermitted]
        if let kind = kinds[code] {
            note(kind, of: call)
            notices.report(
                kind, .warning, "\(call.member) of \(call.sender) at \(call.path) was refused: \(message)",
                of: subject(call, code))
        }
        fail(call, ErrorNames.name(for: code), message, connection)
    }
    private func note(_ kind: Notice.Kind, of call: IncomingCall) {
        interface(of: call)?.stream.state.withLock { $0.refusals.count(kind) }
    }
    private func interface(of call: IncomingCall) -> ExportedInterface? {
        interfaces.first { $0.stream.path == call.path }
    }
    func subject(_ call: IncomingCall, _ code: RelayError.Code) -> Notice.Subject {
        Notice.Subject(interface: interface(of: call)?.name, peer: call.sender, code: code)
    }
    /// Answers with an error whose text the bus takes for certain: an answer that is refused would be none.
    func fail(_ call: IncomingCall, _ name: String, _ message: String, _ connection: BusConnection) {
        var text = String(message.unicodeScalars.prefix(Self.longestMessage).map { $0 == "\0" ? " " : Character($0) })
        if text.unicodeScalars.count < message.unicodeScalars.count { text += "…" }
        let bytes = name.utf8.count + text.utf8.count
        guard call.wantsReply, call.interface == Stream1.name, Stream1.confirmed.contains(call.member) else {
            connection.fail(call, name, text)
            return count(call, bytes, connection)
        }
        // Of such a refusal its caller reports that it has read it: so what it never got is no longer counted.
        try? deliver(to: call, nil, bytes: bytes, connection) { connection.fail(call, name, text, serial: $0) }
    }
}
