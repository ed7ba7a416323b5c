import Synchronization

/// `Read`: pages of what the log keeps; and `Replay`, which writes them into a socket of the peer's.
extension ServiceCore {
    /// Bytes of names, signatures and bodies in a page.
    private static let pageLength = 256 << 10
    /// What is written into a socket: what is sure to have room there.
    private static let longestWritten = 320 << 10
    /// A message's limit, less room for its header.
    private static let longestAnswer = WireLimits.defaultMessageLength - 1_024

    func openReplay(_ call: IncomingCall, _ connection: BusConnection) {
        guard call.wantsReply else { return }
        directory.credentials(of: call.sender, bytes: 0, connection) { [weak self] result in
            guard let self else { return }
            do throws(RelayError) {
                let credentials = try result.get()
                guard let descriptor = call.descriptors.first else {
                    throw RelayError(.invalidArgument, "OpenReplay came without its socket")
                }
                let socket = try ReplaySocket(descriptor)
                // Unknown: it has left, and will not be seen to leave again.
                guard credentials.userID != nil else {
                    throw RelayError(.unavailable, "OpenReplay is for peers whose user the bus tells")
                }
                do throws(PeerLedger.Refusal) {
                    try state.onLoop.replays.add(socket, of: call.sender, ledger)
                } catch { throw RelayError(.limitsExceeded, "\(error.message); or use Read") }
                replies.reply(to: call, connection)
            } catch {
                replies.refuse(call, error.code, error.message, connection)
            }
        }
    }
    func replay(_ call: IncomingCall, _ interface: ExportedInterface, _ connection: BusConnection) {
        guard let socket = state.onLoop.replays.socket(of: call.sender) else {
            let text = "there is no socket for a replay, or it was full: OpenReplay comes first"
            return replies.fail(call, ErrorNames.name(for: .conflict), text, connection)
        }
        read(call, interface, connection, into: socket)
    }
    func read(
        _ call: IncomingCall, _ interface: ExportedInterface, _ connection: BusConnection,
        into socket: ReplaySocket? = nil
    ) {
        guard call.wantsReply else { return }
        guard let log = interface.log else {
            let text = "\(interface.name) is volatile: nothing of it can be read again"
            return replies.fail(call, ErrorNames.name(for: .notFound), text, connection)
        }
        let request = call.body.withUnsafeBytes { body in
            var reader = WireReader(body)
            return try? Stream1.readRead(&reader)
        }
        guard let request, 1...Stream1.maximumNames ~= request.names.count else {
            let text = "Read takes 1 to \(Stream1.maximumNames) names; '\(Stream1.allNames)' stands for all"
            return replies.fail(call, ErrorNames.invalidArgs, text, connection)
        }
        if let name = interface.unknown(request.names) {
            let text = "\(interface.name) has no event '\(name)'"
            return replies.fail(call, ErrorNames.name(for: .notFound), text, connection)
        }
        let wanted = LogRequest(
            interface: interface.name, names: request.names.contains(Stream1.allNames) ? nil : Set(request.names),
            after: request.after, limit: request.limit == 0 ? Int(Int32.max) : Int(request.limit),
            byteLimit: Self.pageLength)
        if let reason = replies.unread.withLock({ $0.beginReading(call.sender) }) {
            // It may be a tool that confirms nothing.
            replies.askAboutDeliveries(connection)
            return replies.refuse(call, .limitsExceeded, reason, connection)
        }
        directory.credentials(of: call.sender, bytes: call.body.count, connection) { [weak self] result in
            guard let self else { return }
            do throws(RelayError) {
                _ = try result.get()
                let charge: PeerLedger.Charge
                do throws(PeerLedger.Refusal) {
                    charge = try ledger.charge(.pages, Self.pageLength, to: call.sender)
                } catch { throw error.error }
                reads.add(1, ordering: .relaxed)
                log.storage.read(wanted) { [weak self] result in
                    // On a thread of the log's: the loop's has others to serve.
                    self?.answer(call, interface, log, result, charge, connection, socket)
                    self?.reads.subtract(1, ordering: .releasing)
                }
            } catch {
                replies.unread.withLock { $0.endReading(call.sender) }
                replies.refuse(call, error.code, error.message, connection)
            }
        }
    }
    private func answer(
        _ call: IncomingCall, _ interface: ExportedInterface, _ log: ExportedLog, _ result: Result<LogPage, RelayError>,
        _ charge: PeerLedger.Charge, _ connection: BusConnection, _ socket: ReplaySocket?
    ) {
        do throws(RelayError) {
            let page = try result.get()
            var body = pageMemory.withLock { $0.take() } ?? WireWriter(capacity: Self.pageLength + Self.pageLength / 4)
            try Stream1.write(page, signatures: log.signatures, into: &body)
            // A row that is larger than any event: put there by hand.
            let count = body.count
            if count > Self.longestAnswer {
                throw RelayError(.tooLarge, "a page of \(count) bytes, up to \(page.through)")
            }
            if socket != nil, count > Self.longestWritten {
                throw RelayError(.tooLarge, "a page of \(count) bytes, with a large event: use Read")
            }
            do throws(PeerLedger.Refusal) { try charge.change(to: count) } catch { throw error.error }
            // Before it leaves: the peer may attach with what it read as soon as it has it. Not what lies beyond all
            // events, as it can when `after` does.
            interface.stream.handOut(through: min(page.through, page.head))
            guard let socket else { return deliver(call, Stream1.pageSignature, body.bytes, charge, connection) }
            if body.withUnsafeBytes({ socket.write($0) }) {
                keepMemory(of: body)
                var numbers = WireWriter()
                numbers.uint32(UInt32(count))
                return deliver(call, Stream1.replaySignature, numbers.bytes, charge, connection)
            }
            loop.execute { [self] in
                replies.unread.withLock { $0.endReading(call.sender) }
                state.onLoop.replays.remove(socket, of: call.sender)
                let text = "the socket for the replay has no room: use Read, or give another one"
                replies.fail(call, ErrorNames.name(for: .conflict), text, connection)
            }
        } catch {
            replies.unread.withLock { $0.endReading(call.sender) }
            switch error.code {
            case .limitsExceeded: replies.refuse(call, error.code, error.message, connection)
            case .tooLarge: replies.fail(call, ErrorNames.name(for: error.code), error.message, connection)
            default: failReading(call, of: interface.name, error, as: error.code, connection)
            }
        }
    }
    /// The log gave no answer: the peer gets the kind of the failure, and the administrator all of it, with its path.
    func failReading(
        _ call: IncomingCall, of interface: String, _ error: RelayError, as code: RelayError.Code,
        _ connection: BusConnection
    ) {
        let text = "the journal could not be read for \(interface)"
        notices.report(
            .readFailed, .warning, "\(text): \(error.message)",
            of: Notice.Subject(interface: interface, peer: call.sender, code: code))
        replies.fail(call, ErrorNames.name(for: code), "\(text): \(error.clauseForPeers)", connection)
    }
    /// For the next page: a reader that goes on asks at once.
    private func keepMemory(of body: consuming WireWriter) {
        body.removeAll()
        let memory = body
        pageMemory.withLock { $0 = memory }
    }
    /// Answers with a page, which counts until its peer has read it. On the loop's thread: this one yields to all
    /// others, and must not be what they wait for with the connection in its hands.
    private func deliver(
        _ call: IncomingCall, _ signature: String, _ body: [UInt8], _ charge: PeerLedger.Charge,
        _ connection: BusConnection
    ) {
        loop.execute { [self] in
            replies.unread.withLock { $0.endReading(call.sender) }
            // Always one: the text is ours.
            guard let signature = try? Signature(signature) else { return }
            try? replies.deliver(to: call, charge, connection) {
                connection.reply(to: call, signature, body: body, serial: $0)
            }
        }
    }
}
