import CDBus
import Synchronization

/// The service's part that lives on the loop's thread: the name, and who calls what.
final class ServiceCore: BusHandler {
    private struct State {
        var connection: BusConnection?
        var credentials: [String: PeerCredentials] = [:]
        /// Who waits for the bus to tell a peer's.
        var waiting: [String: [@Sendable (PeerCredentials) -> Void]] = [:]
    }
    private enum End {
        case running
        case ended(RelayError?)
        case awaited(CheckedContinuation<RelayError?, Never>)
    }
    private let name: String
    private let bus: Bus
    private let tree: ObjectTree
    private let lanes: [EventLane]
    private let loop: BusLoop
    private let queues = CommandQueues()
    private let state: LoopBound<State>
    private let end = Mutex(End.running)
    /// How many peers' credentials are remembered.
    private static let rememberedPeers = 4_096

    init(_ name: String, _ bus: Bus, _ interfaces: [ServedInterface], _ loop: BusLoop) {
        (self.name, self.bus, self.loop) = (name, bus, loop)
        (tree, lanes) = (ObjectTree(interfaces), interfaces.map(\.lane))
        state = LoopBound(State(), on: loop)
    }
    deinit { loop.stop() }

    // MARK: Life

    /// Connects and takes the name. Throws `Conflict` when somebody else has it.
    func start() async throws {
        let connection = try await BusConnection.connect(to: bus, on: loop, handler: self)
        do {
            try await withCheckedThrowingContinuation { (ready: CheckedContinuation<Void, any Error>) in
                loop.execute { [self] in
                    state.onLoop.connection = connection
                    connection.addMatch(.departures) { ready.resume(with: $0.map { _ in () }) }
                }
            }
            // Connected before the name is ours: nothing that is published from then on is left out.
            for lane in lanes { lane.connect(connection) }
            try await takeName(connection)
        } catch {
            for lane in lanes { lane.connect(nil) }
            connection.close()
            throw error
        }
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
    private func finish(_ reason: RelayError?) {
        let waiter = end.withLock { end -> CheckedContinuation<RelayError?, Never>? in
            defer { if case .ended = end {} else { end = .ended(reason) } }
            if case .awaited(let waiter) = end { return waiter }
            return nil
        }
        waiter?.resume(returning: reason)
    }
    /// Takes no more calls, finishes what runs, says the last word, releases the name.
    func stop() async {
        await queues.close()
        for lane in lanes { lane.end() }
        let connection = await withCheckedContinuation { continuation in
            loop.execute { [self] in continuation.resume(returning: state.onLoop.connection) }
        }
        guard let connection else { return }
        // What was published before goes out before, however much it is.
        _ = await connection.drainOutgoing(patience: .seconds(5))
        var body = WireWriter()
        do {
            try body.string(name)
            // Its answer comes when the bus has taken all that was sent before.
            _ = try await connection.call(.toBus("ReleaseName", Signature("s"), body: body.bytes), timeout: .seconds(5))
        } catch {
            // The bus is gone, and the name with it.
        }
        connection.close()
    }
    func disconnected(_ reason: RelayError) {
        state.onLoop.connection = nil
        for lane in lanes { lane.connect(nil) }
        finish(RelayError(.unavailable, "\(bus) went away: \(reason.message)", cause: reason))
    }

    // MARK: Signals

    func signal(_ message: borrowing ReceivedMessage) {
        guard message.hasSender("org.freedesktop.DBus"), message.hasMember("NameOwnerChanged"),
            message.hasSignature("sss")
        else { return }
        let names = message.withBody { body -> [String]? in
            var reader = WireReader(body)
            return try? [reader.string(), reader.string(), reader.string()]
        }
        guard let names, names[2].isEmpty, names[0].hasPrefix(":") else { return }
        // What is kept by a unique name goes with it: after the bus restarts, it may be another's.
        state.onLoop.credentials[names[0]] = nil
        queues.depart(names[0])
        for lane in lanes { lane.depart(names[0]) }
    }

    // MARK: Calls

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
    private func unknown(_ call: IncomingCall, _ connection: BusConnection) {
        let interface = call.interface.map { "\($0)." } ?? ""
        fail(call, ErrorNames.unknownMethod, "\(call.path) has no method \(interface)\(call.member)", connection)
    }
    /// Whether the arguments are of the right types; answers if not.
    private func hasSignature(_ expected: String, _ call: IncomingCall, _ connection: BusConnection) -> Bool {
        if call.signature == expected { return true }
        let text = "\(call.member) takes '\(expected)', not '\(call.signature)'"
        fail(call, ErrorNames.invalidArgs, text, connection)
        return false
    }

    private func run(_ command: AnyServedCommand, _ call: IncomingCall, _ connection: BusConnection) {
        guard hasSignature(command.signature, call, connection) else { return }
        let admission = queues.add(call.sender, isAwaited: call.wantsReply) { [weak self] in
            await self?.answer(command, call, connection)
        }
        switch admission {
        case .admitted: break
        case .full:
            let text =
                "\(call.sender) has \(CommandQueues.limitPerPeer) calls waiting, or all have \(CommandQueues.limit)"
            fail(call, ErrorNames.name(for: .limitsExceeded), text, connection)
        case .closed: fail(call, ErrorNames.name(for: .unavailable), "\(name) is stopping", connection)
        }
    }
    private func answer(_ command: AnyServedCommand, _ call: IncomingCall, _ connection: BusConnection) async {
        let credentials: PeerCredentials = await withCheckedContinuation { continuation in
            loop.execute { [self] in
                self.credentials(of: call.sender, connection) { continuation.resume(returning: $0) }
            }
        }
        if let refusal = refusal(of: credentials, command.requirement, command.name, call) {
            return fail(call, ErrorNames.name(for: .notPermitted), refusal, connection)
        }
        let peer = Peer(uniqueName: call.sender, userID: credentials.userID)
        switch await command.answer(call.body, CommandContext(peer: peer)) {
        case .reply(let body): connection.reply(to: call, command.replySignature, body: body)
        case .error(let name, let message): fail(call, name, message, connection)
        }
    }
    /// Why a peer may not; nil if it may.
    private func refusal(
        of credentials: PeerCredentials, _ requirement: PeerRequirement, _ what: String, _ call: IncomingCall
    ) -> String? {
        if requirement.isMet(by: credentials, accounts: SystemAccounts()) { return nil }
        let who = credentials.userID.map { "user \($0)" } ?? "an unknown user"
        return "\(what) is for \(requirement), \(call.sender) is \(who)"
    }
    /// Asked of the bus once for each peer. What cannot be learnt is unknown, and meets no requirement.
    ///
    /// On the loop's thread. The completions for one peer come in the order of asking: an `Attach` is answered before a call
    /// that came behind it runs, and so before that call's events.
    private func credentials(
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
    private func learnt(of peer: String, _ credentials: PeerCredentials?) {
        if let credentials {
            if state.onLoop.credentials.count >= Self.rememberedPeers { state.onLoop.credentials = [:] }
            state.onLoop.credentials[peer] = credentials
        }
        for completion in state.onLoop.waiting.removeValue(forKey: peer) ?? [] {
            completion(credentials ?? PeerCredentials(userID: nil))
        }
    }
    /// Answers with an error whose text the bus takes for certain: an answer that is refused would be none.
    private func fail(_ call: IncomingCall, _ name: String, _ message: String, _ connection: BusConnection) {
        var text = String(message.unicodeScalars.prefix(Self.longestMessage).map { $0 == "\0" ? " " : Character($0) })
        if text.unicodeScalars.count < message.unicodeScalars.count { text += "…" }
        connection.fail(call, name, text)
    }
    private static let longestMessage = 2_048

    // MARK: Stream1

    private func stream(_ call: IncomingCall, _ interface: ServedInterface, _ connection: BusConnection) {
        switch call.member {
        case "Attach":
            guard hasSignature(Stream1.attachSignature, call, connection) else { return }
            if interface.lane.isRestricted {
                credentials(of: call.sender, connection) { [weak self] credentials in
                    guard let self else { return }
                    if let refusal = refusal(of: credentials, interface.requirement, interface.name, call) {
                        return fail(call, ErrorNames.name(for: .notPermitted), refusal, connection)
                    }
                    attach(call, interface, connection)
                }
            } else {
                attach(call, interface, connection)
            }
        case "Schemas":
            guard hasSignature("", call, connection) else { return }
            var body = WireWriter()
            do throws(RelayError) {
                try Stream1.write(interface.schemas, into: &body)
                connection.reply(to: call, try Signature(Stream1.schemasSignature), body: body.bytes)
            } catch {
                fail(call, ErrorNames.name(for: error.code), error.message, connection)
            }
        default: unknown(call, connection)
        }
    }
    private func attach(_ call: IncomingCall, _ interface: ServedInterface, _ connection: BusConnection) {
        let request = call.body.withUnsafeBytes { body in
            var reader = WireReader(body)
            return try? Stream1.readAttach(&reader)
        }
        guard let request, request.names.count <= Stream1.maximumNames else {
            return fail(call, ErrorNames.invalidArgs, "Attach takes up to \(Stream1.maximumNames) names", connection)
        }
        if let name = request.names.first(where: { $0 != Stream1.allNames && !interface.lane.names.contains($0) }) {
            return fail(call, ErrorNames.name(for: .notFound), "\(interface.name) has no event '\(name)'", connection)
        }
        interface.lane.attach(call.sender, epoch: request.epoch, after: request.after, names: request.names) { answer in
            var body = WireWriter()
            // Names and numbers of ours: nothing here can be refused.
            guard (try? Stream1.write(answer, into: &body)) != nil,
                let signature = try? Signature(Stream1.attachmentSignature)
            else { return }
            connection.reply(to: call, signature, body: body.bytes)
        }
    }

    // MARK: Standard interfaces

    private func introspect(_ call: IncomingCall, _ connection: BusConnection) {
        guard call.member == "Introspect" else { return unknown(call, connection) }
        guard hasSignature("", call, connection) else { return }
        answer(call, [.string(tree.introspection(of: call.path))], connection)
    }
    private func peer(_ call: IncomingCall, _ connection: BusConnection) {
        switch call.member {
        case "Ping":
            guard hasSignature("", call, connection) else { return }
            connection.reply(to: call)
        case "GetMachineId":
            guard hasSignature("", call, connection) else { return }
            // libdbus knows where it stands; unlike its older sister, this one does not abort without it.
            guard let id = dbus_try_get_local_machine_id(nil) else {
                return fail(call, ErrorNames.name(for: .notFound), "this machine has no id", connection)
            }
            defer { dbus_free(id) }
            answer(call, [.string(String(cString: id))], connection)
        default: unknown(call, connection)
        }
    }
    private func answer(_ call: IncomingCall, _ values: [DBusValue], _ connection: BusConnection) {
        do throws(RelayError) {
            let signature = try DBusValue.signature(of: values)
            var body = WireWriter()
            try DBusValue.encode(values, into: &body)
            connection.reply(to: call, signature, body: body.bytes)
        } catch {
            fail(call, ErrorNames.name(for: error.code), error.message, connection)
        }
    }
    private func properties(_ call: IncomingCall, _ interface: ServedInterface, _ connection: BusConnection) {
        let expected = ["Get": "ss", "GetAll": "s", "Set": "ssv"]
        guard let signature = expected[call.member] else { return unknown(call, connection) }
        guard hasSignature(signature, call, connection) else { return }
        let arguments: [DBusValue]
        do throws(RelayError) {
            arguments = try DBusValue.decode(signature: try Signature(signature), body: call.body)
        } catch {
            return fail(call, ErrorNames.invalidArgs, error.message, connection)
        }
        guard case .string(let asked)? = arguments.first else { return }
        let all = asked == Stream1.name || asked.isEmpty ? values(of: interface) : []
        let isKnown =
            asked.isEmpty || [interface.name, Stream1.name].contains(asked)
            || ObjectTree.common.contains { $0.name == asked }
        guard isKnown else {
            return fail(call, ErrorNames.unknownInterface, "\(call.path) has no interface '\(asked)'", connection)
        }
        if call.member == "GetAll" {
            let entries = all.map { DBusValue.Entry(key: .string($0.name), value: .variant($0.value)) }
            return answer(call, [.dictionary(.dictionary(.string, .variant), entries)], connection)
        }
        guard case .string(let name) = arguments[1], let property = all.first(where: { $0.name == name }) else {
            return fail(call, ErrorNames.unknownProperty, "'\(asked)' has no such property", connection)
        }
        if call.member == "Set" {
            return fail(call, ErrorNames.propertyReadOnly, "\(name) cannot be set", connection)
        }
        answer(call, [.variant(property.value)], connection)
    }
    private func values(of interface: ServedInterface) -> [(name: String, value: DBusValue)] {
        [
            ("Epoch", .uint64(interface.lane.epoch)), ("Durability", .string(interface.durability)),
            ("Sequence", .uint64(interface.lane.sequence)),
        ]
    }
}
