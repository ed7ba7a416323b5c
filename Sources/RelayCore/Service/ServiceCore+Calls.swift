/// Calls: which object and interface one is for, and who may.
extension ServiceCore {
    /// How many peers' credentials are remembered.
    private static let rememberedPeers = 4_096
    private static let longestMessage = 2_048

    func methodCall(_ call: IncomingCall) {
        guard let connection = state.onLoop.connection else { return }
        // Every connection is a peer, whatever the path.
        if call.interface == StandardInterfaces.peer.name { return peer(call, connection) }
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
            guard let interface, let command = interface.commands[call.member] else { return unknown(call, connection) }
            run(command, call, connection)
        default:
            fail(call, ErrorNames.unknownInterface, "\(call.path) has no interface \(call.interface ?? "")", connection)
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

    func run(_ command: AnyServedCommand, _ call: IncomingCall, _ connection: BusConnection) {
        guard hasSignature(command.signature, call, connection) else { return }
        run(call, connection) { await $0.answer(command, call, connection) }
    }
    /// Runs what answers a call, after the peer's earlier calls; or refuses it.
    func run(
        _ call: IncomingCall, _ connection: BusConnection, _ job: @escaping @Sendable (ServiceCore) async -> Void
    ) {
        let admission = queues.add(call.sender, cost: call.body.count, isAwaited: call.wantsReply) { [weak self] in
            if let self { await job(self) }
        } refuse: { [weak self] in
            self?.refuseStopping(call, connection)
        }
        switch admission {
        case .admitted: break
        case .full:
            let text =
                "\(call.sender) has \(CommandQueues.limitPerPeer) calls or \(CommandQueues.costPerPeer) bytes waiting, or all "
                + "have \(CommandQueues.limit) or \(CommandQueues.cost)"
            refuse(call, .limitsExceeded, text, connection)
        case .closed: refuseStopping(call, connection)
        }
    }
    private func refuseStopping(_ call: IncomingCall, _ connection: BusConnection) {
        fail(call, ErrorNames.name(for: .unavailable), "\(name) is stopping", connection)
    }
    func answer(_ command: AnyServedCommand, _ call: IncomingCall, _ connection: BusConnection) async {
        let credentials: PeerCredentials = await withCheckedContinuation { continuation in
            loop.execute { [self] in
                self.credentials(of: call.sender, connection) { continuation.resume(returning: $0) }
            }
        }
        if let refusal = refusal(of: credentials, command.requirement, command.name, call) {
            return refuse(call, .notPermitted, refusal, connection)
        }
        let peer = Peer(uniqueName: call.sender, userID: credentials.userID)
        let result = await command.answer(call.body, CommandContext(peer: peer))
        for interface in interfaces { interface.lane.announce(beforeReplyTo: call.sender) }
        switch result {
        case .reply(let body): connection.reply(to: call, command.replySignature, body: body)
        case .error(let name, let message): fail(call, name, message, connection)
        }
    }
    /// Why a peer may not; nil if it may.
    func refusal(
        of credentials: PeerCredentials, _ requirement: PeerRequirement, _ what: String, _ call: IncomingCall
    ) -> String? {
        if requirement.isMet(by: credentials, accounts: accounts) { return nil }
        let who = credentials.userID.map { "user \($0)" } ?? "an unknown user"
        return "\(what) is for \(requirement), \(call.sender) is \(who)"
    }
    /// Asked of the bus once for each peer. What cannot be learnt is unknown, and meets no requirement.
    ///
    /// On the loop's thread. The completions for one peer come in the order of asking: an `Attach` is answered before a call
    /// that came behind it runs, and so before that call's events.
    func credentials(
        of peer: String, _ connection: BusConnection, completion: @escaping @Sendable (PeerCredentials) -> Void
    ) {
        if let known = state.onLoop.credentials[peer] { return completion(known) }
        state.onLoop.waiting[peer, default: []].append(completion)
        if state.onLoop.waiting[peer]?.count != 1 { return }
        do throws(RelayError) {
            connection.send(try PeerCredentials.request(for: peer)) { [weak self] result in
                self?.learnt(of: peer, try? PeerCredentials(result.get()))
            }
        } catch {
            learnt(of: peer, nil)
        }
    }
    func learnt(of peer: String, _ credentials: PeerCredentials?) {
        if let credentials {
            if state.onLoop.credentials.count >= Self.rememberedPeers { state.onLoop.credentials = [:] }
            state.onLoop.credentials[peer] = credentials
        }
        for completion in state.onLoop.waiting.removeValue(forKey: peer) ?? [] {
            completion(credentials ?? PeerCredentials(userID: nil))
        }
    }
    /// Refuses a call, and reports it.
    func refuse(_ call: IncomingCall, _ code: RelayError.Code, _ message: String, _ connection: BusConnection) {
        if let kind: Notice.Kind = code == .limitsExceeded
            ? .limitExceeded : code == .notPermitted ? .notPermitted : nil
        {
            notices.report(kind, .warning, "\(call.member) of \(call.sender) at \(call.path) was refused: \(message)")
        }
        fail(call, ErrorNames.name(for: code), message, connection)
    }
    /// Answers with an error whose text the bus takes for certain: an answer that is refused would be none.
    func fail(_ call: IncomingCall, _ name: String, _ message: String, _ connection: BusConnection) {
        var text = String(message.unicodeScalars.prefix(Self.longestMessage).map { $0 == "\0" ? " " : Character($0) })
        if text.unicodeScalars.count < message.unicodeScalars.count { text += "…" }
        connection.fail(call, name, text)
    }
}
