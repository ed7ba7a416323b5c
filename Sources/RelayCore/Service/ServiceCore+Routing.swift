import RelayWire

/// Which component each message is for.
extension ServiceCore: SettlingHandler {
    func signal(_ message: borrowing ReceivedMessage) {
        if authority.signal(message) { return }
        guard let change = OwnerChange(message), change.newOwner == nil, change.name.hasPrefix(":") else { return }
        depart(change.name)
    }
    func methodCall(_ call: IncomingCall) {
        let command = routes.onLoop.command(for: call)
        if command == nil && !call.wantsReply && call.isQuestion { return }
        idle.note(call, isCommand: command != nil)
        census.note(call.sender)
        if connection.onLoop == nil || !replies.isHeard(call) { return }
        if let command { return calls.run(command, call) }
        // Every connection is a peer, whatever the path.
        if call.interface == StandardInterfaces.peer.name { return standard.peer(call) }
        if call.interface == Stream1.name {
            switch call.member {
            case "Received": return replies.received(call)
            // Of the whole service: also for a caller that does not know yet which objects there are.
            case "Contract": return reportContract(call)
            default: break
            }
        }
        guard let place = tree.place(at: call.path) else {
            return replies.fail(call, ErrorNames.unknownObject, absence(at: call.path))
        }
        let interface = place.interface
        switch (call.kind, interface) {
        case (.peer, _): standard.peer(call)
        case (.introspection, _): standard.introspect(call, place)
        case (.properties, let interface?) where !place.isChecked: standard.properties(call, interface)
        case (.stream, let interface?) where !place.isChecked: stream(call, interface)
        case (.other, _) where call.interface == nil || call.interface == interface?.name:
            if !documents.refusesSubmission(call, interface) { replies.unknown(call) }
        // What only the object itself has.
        case (.other, _), (_, _?):
            let text = "\(call.path) has no interface \(call.interface ?? "")"
            replies.fail(call, ErrorNames.unknownInterface, text)
        case (_, nil): replies.unknown(call)
        }
    }
    private func reportContract(_ call: IncomingCall) {
        guard replies.hasSignature("", call) else { return }
        replies.reply(to: call, contract.signature, body: contract.body)
    }
    /// Before anything of the call has run, or was counted: its caller may send it again, for the present contract.
    private func absence(at path: String) -> String {
        ContractID.isChecked(path)
            ? "\(path) is for another contract than \(name) has: that is \(contract.id); ask \(Stream1.name).Contract, and send "
                + "the call again"
            : "\(name) has no object at \(path)"
    }
    /// The methods of `Stream1` that an object has, with their arguments.
    private static let arguments = [
        "Attach": Stream1.attachSignature, "Read": Stream1.readSignature, "Replay": Stream1.readSignature,
        "OpenReplay": Stream1.openReplaySignature, "OpenRing": "", "CloseRing": "", "Barrier": "", "Schemas": "",
        "Status": "", "GetDocument": "s", "Runs": Stream1.runsSignature, "Cancel": Stream1.cancelSignature,
    ]
    private func stream(_ call: IncomingCall, _ interface: ExportedInterface) {
        guard let signature = Self.arguments[call.member] else { return replies.unknown(call) }
        guard replies.hasSignature(signature, call) else { return }
        switch call.member {
        case "Cancel": calls.cancel(call)
        // In the place of the caller's `OpenRing`, which waits for its credentials, too, or for its turn.
        case "CloseRing":
            gate.inOrder(call) { [weak self] in self?.rings.giveBack(call, interface) }
        default:
            gate.ifPermitted(call, interface) { [weak self] in
                self?.permitted(call, interface)
            }
        }
    }
    private func permitted(_ call: IncomingCall, _ interface: ExportedInterface) {
        switch call.member {
        case "Attach": attachments.attach(call, interface)
        case "Barrier": attachments.barrier(call, interface)
        case "Schemas": attachments.schemas(call, interface)
        case "Read": reads.read(call, interface)
        case "Runs": reads.runs(call, interface)
        case "Replay": reads.replay(call, interface)
        case "OpenReplay": reads.openReplay(call)
        case "OpenRing": rings.open(call, interface)
        case "GetDocument": documents.document(call, interface)
        default: status.status(call, interface)
        }
    }
    /// `OpenReplay` brings a descriptor, its socket; a command those that it declares.
    func descriptorLimit(interface: String?, member: String, signature: String) -> Int {
        if member == "OpenReplay" && signature == Stream1.openReplaySignature,
            (interface ?? Stream1.name) == Stream1.name
        {
            return 1
        }
        if !commandsTakeDescriptors { return 0 }
        let takesSome = interfaces.contains { one in
            guard (interface ?? one.name) == one.name, let command = one.commands[member] else { return false }
            return command.takesDescriptors && command.signature == signature
        }
        return takesSome ? DescriptorBag.limit : 0
    }
    /// A peer has left. All that is kept by its unique name goes with it: after the bus restarts, it may be another's.
    func depart(_ peer: String) {
        directory.depart(peer)
        attachments.depart(peer)
        calls.depart(peer)
        gate.depart(peer)
        rings.depart(peer)
        reads.depart(peer)
        ledger.depart(peer)
        replies.depart(peer)
        for stream in tree.streams { stream.depart(peer) }
        idle.lookBehind()
    }
    /// Whether everything was done that was asked for: tests wait for that.
    package var unsettled: String? {
        let peers = queues.count
        if peers > 0 { return "\(name): handlers of \(peers) peer\(peers == 1 ? "" : "s") have not returned; let them" }
        if directory.waitingCount > 0 { return "\(name): it is not known yet who its callers are" }
        if !gate.state.onLoop.queue.isEmpty { return "\(name): polkit has not said what its callers may do" }
        if permissions.state.onLoop.recheck.isRunning { return "\(name): polkit is asked again about its peers" }
        if !replies.state.onLoop.held.isEmpty { return "\(name): replies wait until their peers have read others" }
        return nil
    }
}

extension IncomingCall {
    enum Kind { case peer, introspection, properties, stream, other }
    /// What it is for; a call need not name its interface.
    var kind: Kind {
        switch (interface, member) {
        case (StandardInterfaces.peer.name, _), (nil, "Ping"), (nil, "GetMachineId"): .peer
        case (StandardInterfaces.introspectable.name, _), (nil, "Introspect"): .introspection
        case (StandardInterfaces.properties.name, _), (nil, "Get"), (nil, "GetAll"), (nil, "Set"): .properties
        case (Stream1.name, _), (nil, "Attach"), (nil, "Schemas"): .stream
        default: .other
        }
    }
    /// Whether nothing but the answer comes of it: without one it would be work for nobody, and nothing would bound how
    /// much of it a caller can order.
    fileprivate var isQuestion: Bool {
        switch kind {
        case .peer, .introspection, .properties: true
        case .stream: ["Schemas", "Contract", "Barrier", "Status", "GetDocument", "Read", "Runs"].contains(member)
        case .other: false
        }
    }
}
