import Synchronization

/// `Stream1`: how relays join, and what they have to know to read the events.
extension ServiceCore {
    /// `OpenReplay` brings a descriptor, its socket; a command those that it declares.
    func descriptorLimit(interface: String?, member: String, signature: String) -> Int {
        let isStream = (interface ?? Stream1.name) == Stream1.name
        if isStream && member == "OpenReplay" && signature == Stream1.openReplaySignature { return 1 }
        let takesSome = interfaces.contains { one in
            guard (interface ?? one.name) == one.name, let command = one.commands[member] else { return false }
            return command.takesDescriptors && command.signature == signature
        }
        return takesSome ? DescriptorBag.limit : 0
    }
    func stream(_ call: IncomingCall, _ interface: ExportedInterface, _ connection: BusConnection) {
        switch call.member {
        case "Attach":
            guard replies.hasSignature(Stream1.attachSignature, call, connection) else { return }
            ifPermitted(call, interface, connection) { $0.attach(call, interface, connection) }
        case "Read":
            guard replies.hasSignature(Stream1.readSignature, call, connection) else { return }
            ifPermitted(call, interface, connection) { $0.reads.read(call, interface, connection) }
        case "OpenReplay":
            guard replies.hasSignature(Stream1.openReplaySignature, call, connection) else { return }
            ifPermitted(call, interface, connection) { $0.reads.openReplay(call, connection) }
        case "Replay":
            guard replies.hasSignature(Stream1.readSignature, call, connection) else { return }
            ifPermitted(call, interface, connection) { $0.reads.replay(call, interface, connection) }
        case "OpenRing":
            guard replies.hasSignature("", call, connection) else { return }
            ifPermitted(call, interface, connection) { $0.rings.open(call, interface, connection) }
        case "CloseRing":
            guard replies.hasSignature("", call, connection) else { return }
            // In the place of the caller's `OpenRing`, which waits for its credentials, too, or for its turn.
            gate.inOrder(call, connection) { [weak self] in self?.rings.giveBack(call, interface, connection) }
        case "Barrier":
            guard replies.hasSignature("", call, connection) else { return }
            ifPermitted(call, interface, connection) { $0.barrier(call, interface, connection) }
        case "Cancel":
            guard replies.hasSignature(Stream1.cancelSignature, call, connection) else { return }
            let serial = call.body.withUnsafeBytes { body in
                var reader = WireReader(body)
                return try? reader.uint32()
            }
            // Of the caller's own calls only; whether there is one is nobody's business.
            if let serial {
                gate.cancel(serial, of: call.sender, connection)
                running.cancel(serial, of: call.sender)
            }
            replies.reply(to: call, connection)
        case "GetDocument":
            guard replies.hasSignature("s", call, connection) else { return }
            ifPermitted(call, interface, connection) { $0.document(call, interface, connection) }
        case "Schemas":
            guard replies.hasSignature("", call, connection) else { return }
            ifPermitted(call, interface, connection) { $0.schemas(call, interface, connection) }
        case "Status":
            guard replies.hasSignature("", call, connection) else { return }
            ifPermitted(call, interface, connection) { core in
                // In the queue of the peer's commands, which bounds how much it can ask for.
                core.runForUser(call, connection) { await $0.status(call, interface, connection) }
            }
        default: replies.unknown(call, connection)
        }
    }
    private func schemas(_ call: IncomingCall, _ interface: ExportedInterface, _ connection: BusConnection) {
        var body = WireWriter()
        do throws(RelayError) {
            try Stream1.write(interface.schemas, into: &body)
            replies.reply(to: call, connection, try Signature(Stream1.schemasSignature), body: body.bytes)
        } catch {
            replies.fail(call, ErrorNames.name(for: error.code), error.message, connection)
        }
    }
    private func attach(_ call: IncomingCall, _ interface: ExportedInterface, _ connection: BusConnection) {
        let request = call.body.withUnsafeBytes { body in
            var reader = WireReader(body)
            return try? Stream1.readAttach(&reader)
        }
        guard let request, request.names.count <= Stream1.maximumNames else {
            return replies.fail(
                call, ErrorNames.invalidArgs, "Attach takes up to \(Stream1.maximumNames) names", connection)
        }
        if let name = interface.unknown(request.names) {
            return replies.fail(
                call, ErrorNames.name(for: .notFound), "\(interface.name) has no event '\(name)'", connection)
        }
        let names = interface.kept(request.names)
        rings.settlePage(of: call.sender)
        state.onLoop.features[call.sender] = request.options.features
        let question = interface.stream.attach(call.sender, request, names: names) { answer in
            self.answer(call, answer, connection)
        }
        // A run of long ago.
        guard let question, let log = interface.log else { return }
        reads.find(RunLookUps.Entry(call: call, interface: interface.name, question: question), log, connection) {
            common in
            interface.stream.attach(common, names: names) { [self] in answer(call, $0, connection) }
        }
    }
    private func answer(_ call: IncomingCall, _ answer: Attachment, _ connection: BusConnection) {
        var body = WireWriter()
        // Names and numbers of ours: nothing here can be refused.
        guard (try? Stream1.write(answer, into: &body)) != nil,
            let signature = try? Signature(Stream1.attachmentSignature)
        else { return }
        replies.reply(to: call, connection, signature, body: body.bytes)
    }
    /// Reports how far the stream has come, behind everything that this counts.
    private func barrier(_ call: IncomingCall, _ interface: ExportedInterface, _ connection: BusConnection) {
        interface.stream.withHead { head in
            var body = WireWriter()
            // Names and numbers of ours: nothing here can be refused.
            guard (try? Stream1.write(head, into: &body)) != nil,
                let signature = try? Signature(Stream1.headSignature)
            else { return }
            replies.reply(to: call, connection, signature, body: body.bytes)
        }
    }
    private func status(_ call: IncomingCall, _ interface: ExportedInterface, _ connection: BusConnection) async {
        let (sequence, oldest) = interface.stream.extent
        var status: [(String, DBusValue)] = [
            ("Version", .string(RelayVersion.current)), ("Epoch", .uint64(interface.stream.epoch)),
            ("Durability", .string(interface.durability)), ("Head", .uint64(sequence)), ("Oldest", .uint64(oldest)),
        ]
        status += interface.stream.outletStatus.map { ($0.name, $0.value) }
        status.append(("Subscribers", Self.value(interface.stream.subscribers)))
        status.append(("Figures", StatusFigure.value(of: StatusFigure.figures(of: interface.stream.metrics))))
        status.append(("ServiceFigures", StatusFigure.value(of: figures(connection))))
        do {
            if let log = interface.log {
                for (name, value) in try await log.storage.figures(of: interface.name) {
                    // As D-Bus writes names. The log's head may be ahead of what has left, which is what counts here.
                    let name = name.prefix(1).uppercased() + name.dropFirst()
                    if !status.contains(where: { $0.0 == name }) { status.append((name, .uint64(value))) }
                }
            }
            // A list of many subscribers is long: not faster than it is read.
            guard await replies.hasRoom(for: call, bytes: Self.listed, connection) else {
                return replies.fail(
                    call, ErrorNames.name(for: .limitsExceeded), "the replies before this one are unread", connection)
            }
            let entries = status.map { DBusValue.Entry(key: .string($0.0), value: .variant($0.1)) }
            replies.reply(to: call, connection, [.dictionary(.dictionary(.string, .variant), entries)])
        } catch {
            let code = (error as? RelayError)?.code ?? .internalFailure
            replies.fail(
                call, ErrorNames.name(for: code), "the journal could not tell of \(interface.name)", connection)
        }
    }
    /// How long a list a message has room for.
    private static let listed = 512 << 10

    private static func value(_ subscribers: [PublishedStream.Subscriber]) -> DBusValue {
        var (values, size): ([DBusValue], Int) = ([], 0)
        for subscriber in subscribers {
            size += subscriber.names.reduce(64) { $0 + $1.utf8.count + 12 }
            if size > listed { break }
            values.append(
                .structure([
                    .string(subscriber.peer), .array(.string, subscriber.names.map { .string($0) }),
                    .string(subscriber.transport), .uint64(subscriber.sequence),
                ]))
        }
        return .array(.structure([.string, .array(.string), .string, .uint64]), values)
    }
}
